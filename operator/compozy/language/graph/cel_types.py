"""Holding a condition to the declared types of what it reads.

To CEL everything in a run is of any type. What a schema says of a path is put in its place, as a variable of that
type, and the condition is checked once more: comparing a text with a number can then be refused when the plan is
loaded. Numbers stay of any type, for JSON does not tell 1 from 1.0 as CEL does.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final

from cel_expr_python import cel

from compozy.language.graph.condition import environment, refuse_result, syntax_error
from compozy.language.graph.reference import Reference
from compozy.language.graph.shapes import JsonType

_VARIABLES: Final[Mapping[JsonType, str]] = {"string": "_s", "boolean": "_b", "array": "_l", "object": "_o"}
"""By type: a variable that no author can name, and that is shorter than any path."""


def check_types(text: str, typed: Sequence[tuple[Reference, JsonType]], aliases: Iterable[str]) -> None:
    """Check a condition that compiles against the types of what it reads.

    Raises ConditionSyntaxError: `condition_invalid`, `condition_not_bool`.
    """
    if not typed:
        return
    replaced = text
    for reference, kind in typed:
        replaced = _replace(replaced, reference, _VARIABLES[kind])
    names = tuple(sorted(set(aliases)))
    try:
        program = _typed_environment(names).compile(replaced)
    except RuntimeError as error:
        raise syntax_error(text, str(error), names) from error
    refuse_result(program, text)


def _replace(text: str, reference: Reference, variable: str) -> str:
    """Put a variable where a path is, padded so that every other place in the text stays what it is."""
    match = _pattern(reference.path).match(text, reference.offset)
    if match is None:
        return text  # written in a way that is not worth reading, such as with escapes in a key
    return text[: match.start()] + variable.ljust(len(match[0])) + text[match.end() :]


@lru_cache(maxsize=1024)
def _pattern(path: tuple[str, ...]) -> re.Pattern[str]:
    steps = []
    for name in path[1:]:
        key = re.escape(name)
        steps.append(rf"(?:[ \t]*\.[ \t]*{key}\b|[ \t]*\[[ \t]*(?:\"{key}\"|'{key}')[ \t]*\])")
    return re.compile(re.escape(path[0]) + r"\b" + "".join(steps))


@lru_cache(maxsize=256)
def _typed_environment(aliases: tuple[str, ...]) -> Any:
    types = {
        _VARIABLES["string"]: cel.Type.STRING,
        _VARIABLES["boolean"]: cel.Type.BOOL,
        _VARIABLES["array"]: cel.Type.List(cel.Type.DYN),
        _VARIABLES["object"]: cel.Type.Map(cel.Type.STRING, cel.Type.DYN),
    }
    return environment(aliases, types)
