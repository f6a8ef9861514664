"""Conditions of the graph dialect: CEL expressions that yield a boolean.

Standard CEL over the variables of a run. Bounds, because conditions of many authors run inside one operator:

- the text is at most `MAX_LENGTH` characters; the library refuses deep nesting (32) and stops an evaluation after
  10,000 iterations;
- macros may feed or contain one another `MAX_LOOPS` deep, and `+` may join texts or lists `MAX_JOINS` times, so
  that results cannot double again and again;
- what is evaluated over is measured first: data read inside a macro counts once for every iteration it may be
  read in, and more than `MAX_COST` is refused.

Only the data that a condition names is handed to the library, so a big output elsewhere costs nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, NoReturn

from cel_expr_python import cel

from compozy.language.errors import ConditionError, ConditionSyntaxError, RenderError
from compozy.language.graph.cel_analysis import Analysis, analyze
from compozy.language.graph.cel_data import UNREADABLE, ImportedData, import_data
from compozy.language.graph.cel_syntax import read_checked
from compozy.language.graph.lookup import follow
from compozy.language.graph.reference import Reference
from compozy.language.values import Json

MAX_LENGTH: Final = 2048
"""The longest condition, in characters."""

MAX_COST: Final = 20_000_000
"""How much one evaluation may read, repetitions counted; about half a second of work."""

MAX_REPEATED_JOIN_SIZE: Final = 64 * 1024
"""How many values and characters a condition may read when a macro joins texts or lists."""

MAX_ITERATIONS: Final = 10_000
"""The iterations after which the library stops an evaluation."""

MAPS: Final = ("inputs", "nodes", "trigger", "event", "previous", "best", "progress")
"""The variables that are objects."""

_ERROR: Final = re.compile(r"ERROR: <input>:(-?\d+):(-?\d+): (.*)")
_UNDECLARED: Final = re.compile(r"undeclared reference to '([^']+)'")
_SHOWN_SOURCE: Final = 80
_LOST_PATHS: Final = ("NOT_FOUND: Key not found", "INVALID_ARGUMENT: Applying SELECT", "UNKNOWN: No value with")
"""How the library's messages begin when a path leads nowhere."""


@dataclass(frozen=True, slots=True)
class Condition:
    """A compiled condition; make one with `compile_condition`."""

    source: str
    _program: Any
    _analysis: Analysis
    _sources: tuple[tuple[str, ...], ...]

    def references(self) -> tuple[Reference, ...]:
        """Return every path known to be read from the scope, with its place in the text."""
        return tuple(Reference(read.path, read.offset, read.tests) for read in self._analysis.reads)

    def paths(self) -> tuple[tuple[str, ...], ...]:
        """Return the paths of `references`, each once."""
        return tuple(dict.fromkeys(read.path for read in self._analysis.reads))

    def test(self, scope: Mapping[str, Json]) -> bool:
        """Tell whether the condition holds.

        Raises `ConditionError` when it cannot be evaluated: a key that is missing, a step into null, types
        that do not go together, too much data, a result that is not a boolean.
        """
        data = self._checked_data(scope)
        try:
            result = self._program.eval(data=data.values)
        except (RuntimeError, TypeError, ValueError) as error:
            self._fail(str(error))
        kind = result.type().name()
        if kind == "ERROR":
            self._fail(self._explanation(scope, str(result.value())))
        value = result.value()
        if not isinstance(value, bool):
            self._fail(f"the result is of type {kind.lower()}, not a boolean; compare it with something")
        return value

    def _checked_data(self, scope: Mapping[str, Json]) -> ImportedData:
        try:
            data = import_data(scope, self._sources)
        except ValueError as error:
            self._fail(str(error))
        cost = data.cost(self._analysis.reads, MAX_ITERATIONS)
        if cost > MAX_COST:
            self._fail(f"too much data is read inside a macro: cost {cost}, limit {MAX_COST}; compare less of it")
        size = data.count + data.characters
        if self._analysis.joins_repeatedly and size > MAX_REPEATED_JOIN_SIZE:
            limit = f"cost {size}, limit {MAX_REPEATED_JOIN_SIZE}"
            self._fail(f"too much data for an addition inside a macro: {limit}; compare less of it")
        return data

    def _explanation(self, scope: Mapping[str, Json], message: str) -> str:
        """Say which path leads nowhere, where that is the problem; the library names only its last key."""
        if message.startswith(_LOST_PATHS):
            for read in self._analysis.reads:
                root, *names = read.path
                if root not in scope:
                    return f"{root} has no value here"
                try:
                    follow(scope[root], names[:-1] if read.tests else names, root)
                except RenderError as error:
                    return error.message
        return message

    def _fail(self, message: str) -> NoReturn:
        shown = self.source if len(self.source) <= _SHOWN_SOURCE else f"{self.source[:_SHOWN_SOURCE]}…"
        raise ConditionError(f"condition {shown}: {message}")


def compile_condition(text: str, aliases: Iterable[str] = ()) -> Condition:
    """Compile a condition; `aliases` are further variables of any type, such as those a fan-out binds.

    Raises `ConditionSyntaxError` with the position: code `condition_invalid` for what cannot be parsed, is
    not declared or is too complex, `condition_not_bool` for an expression that can never be a boolean.
    """
    unreadable = UNREADABLE.search(text)
    if unreadable:
        raise ConditionSyntaxError("a character here is not text", text, unreadable.start())
    if not text.strip():
        raise ConditionSyntaxError("the condition is empty; write a CEL expression", text, 0)
    if len(text) > MAX_LENGTH:
        raise ConditionSyntaxError(f"the condition is longer than {MAX_LENGTH} characters", text, MAX_LENGTH)
    names = tuple(sorted(set(aliases)))
    try:
        program = _environment(names).compile(text)
    except RuntimeError as error:
        raise syntax_error(text, str(error), names) from error
    refuse_result(program, text)
    analysis = analyze(read_checked(program.serialize()), _variables(names), text)
    return Condition(text, program, analysis, analysis.sources())


def refuse_result(program: Any, text: str) -> None:
    """Refuse an expression that can never be a boolean. Raises ConditionSyntaxError, `condition_not_bool`."""
    kind = program.return_type().name()
    if kind not in ("BOOL", "DYN"):
        message = f"the condition is of type {kind.lower()}, not a boolean; compare it with something"
        raise ConditionSyntaxError(message, text, 0, code="condition_not_bool")


@lru_cache(maxsize=256)
def _environment(aliases: tuple[str, ...]) -> Any:
    return environment(aliases, {})


@lru_cache(maxsize=256)
def _variables(aliases: tuple[str, ...]) -> frozenset[str]:
    return frozenset({*MAPS, "item", "index", "generation", *aliases})


def environment(aliases: Iterable[str], more: Mapping[str, Any]) -> Any:
    """What the library knows of the variables of a run; `more` are further ones with their types."""
    objects = cel.Type.Map(cel.Type.STRING, cel.Type.DYN)
    variables = dict.fromkeys(aliases, cel.Type.DYN)
    variables |= dict.fromkeys(MAPS, objects)
    variables |= {"item": cel.Type.DYN, "index": cel.Type.INT, "generation": cel.Type.INT}
    return cel.NewEnv(variables={**variables, **more})


def syntax_error(text: str, message: str, aliases: tuple[str, ...]) -> ConditionSyntaxError:
    """Turn the library's message, which lists errors with their lines and columns, into one error of ours."""
    errors = _ERROR.findall(message)
    if not errors:
        return ConditionSyntaxError(message.partition(" [")[0], text, 0)
    line, column, first = errors[0]
    lines = text.split("\n")
    offset = sum(len(before) + 1 for before in lines[: max(int(line), 1) - 1]) + max(int(column), 1) - 1
    first = first.partition(" (in container")[0]
    undeclared = _UNDECLARED.fullmatch(first)
    if undeclared:
        # The library points at the last dot of a path or at the parenthesis of a call.
        start = text.rfind(undeclared[1], 0, offset + len(undeclared[1]))
        offset = start if start >= 0 else offset
        first = f"{undeclared[1]} is not declared; the variables are {', '.join(sorted(_variables(aliases)))}"
    more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
    return ConditionSyntaxError(first + more, text, offset)
