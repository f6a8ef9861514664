"""The formats that are checked, not merely noted.

A format that is not listed here says something about a value without restricting it, as JSON Schema has it:
those of other alphabets than ASCII (`idn-email`, `iri`, …), and `uri-template`. A leap second is no time:
nothing that reads one afterwards would take it.
"""

import re
from collections.abc import Callable
from datetime import date, datetime
from ipaddress import IPv4Address, IPv6Address
from urllib.parse import urlsplit

from jsonschema import FormatChecker

from compozy.language.shapes.patterns import pattern_fault

_MAX_DURATION = 64
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
_TIME = re.compile(r"\d{2}:\d{2}:\d{2}(\.\d{1,9})?([Zz]|[+-]\d{2}:\d{2})", re.ASCII)
_EMAIL = re.compile(r"[^\s@<>()\[\]\\,;:\"]{1,64}@[A-Za-z0-9-]{1,63}(\.[A-Za-z0-9-]{1,63})*")
_HOST_LABEL = re.compile(r"(?!-)[A-Za-z0-9-]{1,63}(?<!-)")
_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[!#$%&'()*+,./0-9:;=?@A-Z\[\]_a-z~-]+")
_URI_REFERENCE = re.compile(r"[!#$%&'()*+,./0-9:;=?@A-Z\[\]_a-z~-]*")
_DURATION = re.compile(
    r"P(?=[0-9T])([0-9]+W|([0-9]+Y)?([0-9]+M)?([0-9]+D)?(T(?=[0-9])([0-9]+H)?([0-9]+M)?([0-9]+S)?)?)", re.ASCII
)
_JSON_POINTER = re.compile(r"(/([^/~]|~[01])*)*")
_BAD_ESCAPE = re.compile(r"%(?![0-9A-Fa-f]{2})")
_UUID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")


def _is_date(text: str) -> bool:
    return _DATE.fullmatch(text) is not None and date.fromisoformat(text) is not None


def _is_time(text: str) -> bool:
    if _TIME.fullmatch(text) is None:
        return False
    whole_seconds = re.sub(r"\.\d+", "", text).upper()
    return datetime.fromisoformat(f"2000-01-01T{whole_seconds}") is not None


def _is_date_time(text: str) -> bool:
    return text[10:11] in ("T", "t") and _is_date(text[:10]) and _is_time(text[11:])


def _is_email(text: str) -> bool:
    return len(text) <= 254 and _EMAIL.fullmatch(text) is not None


def _is_hostname(text: str) -> bool:
    return 0 < len(text) <= 253 and all(_HOST_LABEL.fullmatch(label) for label in text.split("."))


def _is_ipv4(text: str) -> bool:
    return IPv4Address(text) is not None


def _is_ipv6(text: str) -> bool:
    return "%" not in text and IPv6Address(text) is not None


def _is_regex(text: str) -> bool:
    return pattern_fault(text) is None


def _is_uri(text: str) -> bool:
    return _URI.fullmatch(text) is not None and _is_uri_reference(text)


def _is_uri_reference(text: str) -> bool:
    plain = _URI_REFERENCE.fullmatch(text) is not None and _BAD_ESCAPE.search(text) is None
    return plain and text.count("#") <= 1 and (urlsplit(text).port or 0) >= 0


def _is_duration(text: str) -> bool:
    return len(text) <= _MAX_DURATION and _DURATION.fullmatch(text) is not None


def _is_json_pointer(text: str) -> bool:
    return _JSON_POINTER.fullmatch(text) is not None


def _is_uuid(text: str) -> bool:
    return _UUID.fullmatch(text) is not None


FORMATS: dict[str, Callable[[str], bool]] = {
    "date": _is_date,
    "date-time": _is_date_time,
    "duration": _is_duration,
    "email": _is_email,
    "hostname": _is_hostname,
    "ipv4": _is_ipv4,
    "ipv6": _is_ipv6,
    "json-pointer": _is_json_pointer,
    "regex": _is_regex,
    "time": _is_time,
    "uri": _is_uri,
    "uri-reference": _is_uri_reference,
    "uuid": _is_uuid,
}
"""Each returns False or raises ValueError for text that does not conform."""


def _of_text(conforms: Callable[[str], bool]) -> Callable[[object], bool]:
    """A format says nothing about a value that is not text."""
    return lambda value: not isinstance(value, str) or conforms(value)


def format_checker() -> FormatChecker:
    """Return a checker of the formats above. It belongs to the caller: nothing global changes."""
    checker = FormatChecker(formats=())
    for name, conforms in FORMATS.items():
        checker.checks(name, raises=ValueError)(_of_text(conforms))
    return checker
