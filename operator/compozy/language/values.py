"""JSON values as the expression languages see them: their names, equality and text.

Values are shared, never copied: a rendered result may hold the very lists and objects of the scope it was
rendered over, so everybody treats JSON values as immutable.
"""

from __future__ import annotations

import json
from typing import TypeAlias

from compozy.language.errors import RenderError

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"
"""Any JSON value, as `json.loads` builds it."""

MAX_DEPTH = 100
"""How deep a value may nest before we refuse to walk it; keeps every recursion far from Python's own limit."""


def is_number(value: Json) -> bool:
    """Tell whether a value is a JSON number; `True` and `False` are not, though Python says so."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def too_deep() -> RenderError:
    """Build the error for a value that nests deeper than `MAX_DEPTH`."""
    return RenderError(f"the value nests deeper than {MAX_DEPTH} levels; flatten it", code="value_too_deep")


_PLAIN_NUMBERS = 1e21
"""Below this, a float without a fraction is written as a whole number."""


def json_equal(left: Json, right: Json, depth: int = 0) -> bool:
    """Compare as JSON: numbers by value (1 equals 1.0), never across types (1, "1" and true all differ).

    Raises `RenderError` with code `value_too_deep`.
    """
    if depth > MAX_DEPTH:
        raise too_deep()
    if isinstance(left, dict):
        return (
            isinstance(right, dict)
            and left.keys() == right.keys()
            and all(json_equal(value, right[key], depth + 1) for key, value in left.items())
        )
    if isinstance(left, list):
        return (
            isinstance(right, list)
            and len(left) == len(right)
            and all(json_equal(one, other, depth + 1) for one, other in zip(left, right, strict=True))
        )
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(right, dict | list):
        return False
    return left == right


def dump_json(value: Json, *, pretty: bool = False) -> str:
    """Write a value as JSON text with sorted keys, compact or indented by two spaces.

    Keys are sorted because the order does not survive storage in Kubernetes: the same value must give the
    same text before and after a restart. Raises `RenderError` for a value too deep or a number too long to
    print.
    """
    if isinstance(value, float) and value.is_integer() and abs(value) < _PLAIN_NUMBERS:
        value = int(value)  # storage does not keep the difference between 3.0 and 3 either
    try:
        return json.dumps(
            value,
            ensure_ascii=False,
            sort_keys=True,
            indent=2 if pretty else None,
            separators=None if pretty else (",", ":"),
        )
    except RecursionError:
        raise too_deep() from None
    except ValueError as error:
        raise RenderError(f"the value cannot be written as JSON: {error}", code="value_unprintable") from error
