"""What is wrong with a value, said to the person who wrote it: where, and what to write instead.

A message never repeats the value: it may be a secret, and it is stored where others read it.
"""

import json
from collections.abc import Callable, Iterator
from typing import Any

from jsonschema import ValidationError
from jsonschema.exceptions import best_match

from compozy.language.shapes.bounds import Pointer

_SHOWN = 10
"""Allowed values a message lists before it stops."""

_TYPES = {
    "array": "a list",
    "boolean": "true or false",
    "integer": "an integer",
    "null": "null",
    "number": "a number",
    "object": "an object",
    "string": "text",
}

_FORMATS = {
    "date": "a date such as 2026-01-31",
    "date-time": "a time such as 2026-01-31T12:00:00Z",
    "duration": "a duration such as P3D or PT90M",
    "email": "an e-mail address",
    "hostname": "a host name",
    "ipv4": "an IPv4 address",
    "ipv6": "an IPv6 address",
    "json-pointer": "a JSON pointer such as /a/0",
    "regex": "a regular expression as RE2 understands them",
    "time": "a time of day such as 12:00:00Z",
    "uri": "a URI such as https://example.com/",
    "uri-reference": "a URI or a part of one such as /path?query",
    "uuid": "a UUID",
}


def faults_of(error: ValidationError) -> Iterator[tuple[Pointer, str]]:
    """Yield the places that `error` is about and what each must be; a missing property is its own place."""
    pointer = tuple(error.absolute_path)
    wanted: Any = error.validator_value
    value: Any = error.instance
    match error.validator:
        case "required":
            yield from (((*pointer, name), "is required") for name in wanted if name not in value)
        case "dependentRequired":
            for name in (name for name in wanted if name in value):
                missing = (other for other in wanted[name] if other not in value)
                yield from (((*pointer, other), f"is required with `{name}`") for other in missing)
        case None:  # the schema `false`: additionalProperties, for one
            yield pointer, _unwanted(pointer)
        case "propertyNames":
            message = next(iter(faults_of(error.context[0])))[1]
            yield pointer, f"has a name that {message}"
        case "anyOf" | "oneOf":
            yield from _of_alternatives(error, pointer)
        case _:
            yield pointer, _text(error)


def _of_alternatives(error: ValidationError, pointer: Pointer) -> Iterator[tuple[Pointer, str]]:
    branches: Any = error.validator_value
    if all(isinstance(branch, dict) and "const" in branch for branch in branches):
        yield pointer, _one_of([branch["const"] for branch in branches])
    elif not error.context:
        yield pointer, "fits more than one of the alternatives"
    else:
        closest = best_match([error])
        if closest is None or closest is error or closest.validator in ("anyOf", "oneOf"):
            yield pointer, "fits none of the alternatives"
        else:
            yield from faults_of(closest)


def _unwanted(pointer: Pointer) -> str:
    if not pointer:
        return "must not be there"
    return "is one too many" if isinstance(pointer[-1], int) else "is not a known field"


def _text(error: ValidationError) -> str:
    describe = _TEXTS.get(str(error.validator))
    return describe(error.validator_value) if describe else f"does not satisfy `{error.validator}`"


def _one_of(values: list[Any]) -> str:
    shown = [json.dumps(value, ensure_ascii=False)[:100] for value in values[:_SHOWN]]
    more = len(values) - len(shown)
    return f"must be one of {', '.join(shown)}" + (f" and {more} more" if more else "")


def _type(wanted: str | list[str]) -> str:
    names = [wanted] if isinstance(wanted, str) else wanted
    return "must be " + " or ".join(_TYPES[name] for name in names)


def _count(unit: str, bound: str, kind: str = "") -> Callable[[int], str]:
    return lambda number: f"must have {bound} {number:.0f} {unit}" + ("" if number == 1 else "s") + kind


_CONTAINED = " of the kind it must contain"

_TEXTS: dict[str, Callable[[Any], str]] = {
    "const": lambda value: f"must be {json.dumps(value, ensure_ascii=False)[:100]}",
    "contains": lambda _: "has no item of the kind it must contain",
    "enum": _one_of,
    "exclusiveMaximum": lambda bound: f"must be less than {bound}",
    "exclusiveMinimum": lambda bound: f"must be more than {bound}",
    "format": lambda name: f"must be {_FORMATS.get(name, name)}",
    "items": lambda _: "has too many items",
    "maxContains": _count("item", "at most", _CONTAINED),
    "maxItems": _count("item", "at most"),
    "maxLength": _count("character", "at most"),
    "maxProperties": _count("field", "at most"),
    "maximum": lambda bound: f"must be at most {bound}",
    "minContains": _count("item", "at least", _CONTAINED),
    "minItems": _count("item", "at least"),
    "minLength": _count("character", "at least"),
    "minProperties": _count("field", "at least"),
    "minimum": lambda bound: f"must be at least {bound}",
    "multipleOf": lambda step: f"must be a multiple of {step}",
    "not": lambda _: "is one of the values that are excluded",
    "pattern": lambda pattern: f"must match the pattern {pattern[:200]}",
    "type": _type,
    "uniqueItems": lambda _: "must not hold the same item twice",
}
