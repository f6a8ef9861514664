"""Texts that conform to a schema."""

from collections.abc import Mapping, Sequence
from typing import Any

_TYPICAL = "text"
_LONGEST = 2000
"""Longer texts are not made, though a schema may demand them."""
_LONGEST_COMPARED = 200

_FORMATS = {
    "date": "2026-01-31",
    "date-time": "2026-01-31T12:00:00Z",
    "time": "12:00:00Z",
    "duration": "PT1H",
    "email": "somebody@example.com",
    "hostname": "example.com",
    "ipv4": "192.0.2.1",
    "ipv6": "2001:db8::1",
    "uri": "https://example.com/",
    "uri-reference": "/path",
    "uuid": "00000000-0000-4000-8000-000000000000",
    "regex": "a+",
    "json-pointer": "/a",
}
_COMMON = ("1.0.0", "v1.0.0", "a", "A", "abc", "1", "123", "2026-01-31", "a-b", "a_b", "a/b", "a@b.c", "A-1")
"""Texts that fit many patterns."""


def texts(schema: Mapping[str, Any], hints: Sequence[str], lengths: Sequence[float] = ()) -> list[str]:
    """A typical text, the empty one, those at the bounds, and those that a plan compares with.

    `lengths` are numbers that it compares with: it may mean the length of a text.

    Not all of them need conform.
    """
    least, most = schema.get("minLength", 0), schema.get("maxLength")
    known = _FORMATS.get(schema.get("format", ""))
    found = [known] if known is not None else []
    found += [_resized(_TYPICAL, least, most), *hints]
    if "pattern" in schema:
        found += [_resized(text, least, most) for text in _COMMON]
    found += ["", _resized("x", least, most)]
    found += ["x" * int(length + near) for length in lengths for near in (0, 1) if 0 < length <= _LONGEST_COMPARED]
    if most is not None and most <= _LONGEST:
        found.append("x" * most)
    return [text for text in found if len(text) >= least and (most is None or len(text) <= most)]


def _resized(text: str, least: int, most: int | None) -> str:
    longer = text + "x" * (min(least, _LONGEST) - len(text))
    return longer if most is None else longer[:most]
