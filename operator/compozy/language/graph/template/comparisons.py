"""`eq`, `ne`, `lt`, `le`, `gt` and `ge`.

Numbers compare by value whether or not they have a fraction, because JSON does not tell 1 from 1.0.
Everything else compares within its own type, and comparing across types fails, as in Go.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from compozy.language.errors import TemplateCallError
from compozy.language.keys import type_name
from compozy.language.values import Json, is_number


def equal(arguments: Sequence[Json]) -> bool:
    """Tell whether the first argument equals any of the others; raises `TemplateCallError`."""
    first, *others = arguments
    return any(_same("eq", first, other) for other in others)


def unequal(arguments: Sequence[Json]) -> bool:
    """Tell whether two values differ; raises `TemplateCallError`."""
    one, other = arguments
    return not _same("ne", one, other)


def ordering(function: str, compare: Callable[[Any, Any], bool]) -> Callable[[Sequence[Json]], bool]:
    """Make the function that orders two numbers or two texts; it raises `TemplateCallError`."""

    def run(arguments: Sequence[Json]) -> bool:
        one, other = arguments
        both_numbers = is_number(one) and is_number(other)
        if not both_numbers and not (isinstance(one, str) and isinstance(other, str)):
            raise TemplateCallError(
                f"{function}: orders two numbers or two texts, not {type_name(one)} and {type_name(other)}"
            )
        return compare(one, other)

    return run


def _same(function: str, one: Json, other: Json) -> bool:
    if one is None or other is None:
        return one is other
    kind = _comparable_kind(function, one)
    if kind != _comparable_kind(function, other):
        raise TemplateCallError(f"{function}: {type_name(one)} and {type_name(other)} cannot be compared")
    return one == other


def _comparable_kind(function: str, value: Json) -> str:
    if isinstance(value, list | dict):
        raise TemplateCallError(f"{function}: {type_name(value)} cannot be compared; compare its json")
    return "number" if is_number(value) else type_name(value)
