"""`len`, `index` and `slice`: reaching into lists, objects and text.

Text counts in bytes of UTF-8, as in Go.
"""

from __future__ import annotations

from collections.abc import Sequence

from compozy.language.errors import TemplateCallError
from compozy.language.keys import type_name
from compozy.language.values import Json


def length(value: Json) -> int:
    """Count bytes of text, elements of a list or members of an object; raises `TemplateCallError`."""
    if isinstance(value, str):
        return len(_bytes(value))
    if isinstance(value, list | dict):
        return len(value)
    raise TemplateCallError(f"len: {type_name(value)} has no length")


def _bytes(text: str) -> bytes:
    """Return text as Go holds it; its lengths and indexes count bytes of UTF-8."""
    return text.encode("utf-8", errors="replace")


def index(arguments: Sequence[Json]) -> Json:
    """Follow the keys after the first argument into it; an object without the key gives null, as in Go.

    Raises `TemplateCallError` for a position out of range and for what cannot be indexed.
    """
    value, *keys = arguments
    for key in keys:
        value = _element(value, key)
    return value


def _element(value: Json, key: Json) -> Json:
    if isinstance(value, dict):
        if not isinstance(key, str):
            raise TemplateCallError(f"index: an object is indexed by text, not by {type_name(key)}")
        return value.get(key)
    if isinstance(value, list):
        return value[_position("index", key, len(value) - 1)]
    if isinstance(value, str):
        encoded = _bytes(value)
        return encoded[_position("index", key, len(encoded) - 1)]
    raise TemplateCallError(f"index: {type_name(value)} cannot be indexed")


def _position(function: str, key: Json, largest: int) -> int:
    whole = isinstance(key, int) and not isinstance(key, bool)
    if not whole and not (isinstance(key, float) and key.is_integer()):
        raise TemplateCallError(f"{function}: a position is a whole number, not {type_name(key)}")
    if not isinstance(key, int | float) or not 0 <= key <= largest:
        raise TemplateCallError(f"{function}: position {key} is out of range; the last is {largest}")
    return int(key)


def cut(arguments: Sequence[Json]) -> Json:
    """Return a part of a text or a list, from the second argument up to before the third.

    Raises `TemplateCallError` for positions out of range and for what cannot be cut.
    """
    value, *bounds = arguments
    if isinstance(value, str):
        encoded = _bytes(value)
        start, end = _bounds(bounds, len(encoded))
        return encoded[start:end].decode("utf-8", errors="replace")
    if isinstance(value, list):
        start, end = _bounds(bounds, len(value))
        return value[start:end]
    raise TemplateCallError(f"slice: {type_name(value)} cannot be sliced")


def _bounds(bounds: Sequence[Json], length: int) -> tuple[int, int]:
    positions = [_position("slice", bound, length) for bound in bounds]
    start, end = (*positions, *(0, length)[len(positions) :])
    if start > end:
        raise TemplateCallError(f"slice: the start {start} is after the end {end}")
    return start, end
