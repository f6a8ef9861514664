"""The functions that an author may call in a Go template.

Those of Go itself, without `call` and `js`, and `json` (also `toJson`), `join`, `default` and `shellQuote`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from operator import ge, gt, le, lt
from typing import Final

from compozy.language.budget import Budget, TextBuffer
from compozy.language.graph.template.comparisons import equal, ordering, unequal
from compozy.language.graph.template.containers import cut, index, length
from compozy.language.graph.template.formatting import write_all
from compozy.language.graph.template.text_functions import (
    escape_html,
    escape_query,
    escaping,
    write_joined,
    write_json,
    write_line,
    write_printf,
    write_shell_word,
)
from compozy.language.values import Json


@dataclass(frozen=True, slots=True)
class BuiltIn:
    """A function: how it is used, how many arguments it takes, and what it does.

    With `stops_at`, arguments are evaluated one by one up to the first of that truth, which is the result.
    """

    usage: str
    least: int
    most: int | None
    run: Callable[[Sequence[Json], Budget], Json]
    """Raises `RenderError`."""
    stops_at: bool | None = None

    def accepts(self, given: int) -> bool:
        """Tell whether the function can take so many arguments."""
        return given >= self.least and (self.most is None or given <= self.most)


def is_true(value: Json) -> bool:
    """Tell whether a value counts as true: not null, false, 0, nor an empty text, list or object."""
    return bool(value)


def _pure(usage: str, least: int, most: int | None, run: Callable[[Sequence[Json]], Json]) -> BuiltIn:
    return BuiltIn(usage, least, most, lambda arguments, _budget: run(arguments))


def _text(
    usage: str, least: int, most: int | None, write: Callable[[TextBuffer, Sequence[Json]], None]
) -> BuiltIn:
    def run(arguments: Sequence[Json], budget: Budget) -> str:
        buffer = TextBuffer(budget)
        write(buffer, arguments)
        return buffer.text()

    return BuiltIn(usage, least, most, run)


def _choice(usage: str, *, stops_at: bool) -> BuiltIn:
    """Make `and` or `or`; when no argument stops it, the result is the last."""
    return BuiltIn(usage, 1, None, lambda arguments, _budget: arguments[-1], stops_at)


def _default(arguments: Sequence[Json]) -> Json:
    fallback, value = arguments
    return value if is_true(value) else fallback


FUNCTIONS: Final[Mapping[str, BuiltIn]] = {
    "and": _choice("and .a .b", stops_at=False),
    "or": _choice("or .a .b", stops_at=True),
    "not": _pure("not .a", 1, 1, lambda arguments: not is_true(arguments[0])),
    "eq": _pure("eq .a .b", 2, None, equal),
    "ne": _pure("ne .a .b", 2, 2, unequal),
    "lt": _pure("lt .a .b", 2, 2, ordering("lt", lt)),
    "le": _pure("le .a .b", 2, 2, ordering("le", le)),
    "gt": _pure("gt .a .b", 2, 2, ordering("gt", gt)),
    "ge": _pure("ge .a .b", 2, 2, ordering("ge", ge)),
    "len": _pure("len .list", 1, 1, lambda arguments: length(arguments[0])),
    "index": _pure("index .list 0", 1, None, index),
    "slice": _pure("slice .list 0 2", 1, 3, cut),
    "default": _pure('default "fallback" .value', 2, 2, _default),
    "print": _text("print .a .b", 0, None, write_all),
    "println": _text("println .a .b", 0, None, write_line),
    "printf": _text('printf "%s: %d" .a .b', 1, None, write_printf),
    "json": _text("json .value", 1, 1, write_json),
    "toJson": _text("toJson .value", 1, 1, write_json),
    "join": _text('join ", " .list', 2, 2, write_joined),
    "shellQuote": _text("shellQuote .value", 1, 1, write_shell_word),
    "html": _text("html .value", 1, 1, escaping(escape_html)),
    "urlquery": _text("urlquery .value", 1, 1, escaping(escape_query)),
}
