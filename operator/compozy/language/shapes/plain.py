"""The schemas that nearly every question has, and the values that surely conform to them.

Loading the library that judges takes longer than everything else that the plugin does with an answer. So what is
plain to see is seen first; whatever is not goes to the library, which alone says what is wrong with a value.
"""

import json
from collections.abc import Callable, Mapping
from typing import Any

from compozy.language.shapes.bounds import json_faults

_MAX_DEPTH = 8
"""Levels of nesting that are looked at; what is deeper is not plain."""

_MAX_LENGTH = 16 * 1024
"""Longest schema that is looked at, in characters as JSON: far below what any question may have."""


def surely_conforms(schema: Any, value: Any) -> bool:
    """Return True only where `schema` is usable and `value` conforms to it; False says nothing.

    `value` must be free of the faults of `compozy.language.shapes.bounds.json_faults`. No value that surely
    conforms names an entity: a schema that says so is not plain.
    """
    return _is_plain(schema, value, 0) and len(json.dumps(schema)) <= _MAX_LENGTH and not json_faults(schema)


def _is_plain(schema: Any, value: Any, depth: int) -> bool:
    if depth > _MAX_DEPTH or not isinstance(schema, dict) or "type" not in schema:
        return False
    rules = (_RULES.get(keyword) for keyword in schema)
    return all(rule is not None and rule(schema, value, depth) for rule in rules)


def _type(schema: Mapping[str, Any], value: Any, _depth: int) -> bool:
    wanted = schema["type"]
    return isinstance(wanted, str) and type(value) in _TYPES.get(wanted, ())


def _properties(schema: Mapping[str, Any], value: Any, depth: int) -> bool:
    declared = schema["properties"]
    if not isinstance(declared, dict) or not isinstance(value, dict):
        return False
    # A field that is not given has no value to show that its schema is usable.
    return declared.keys() <= value.keys() and all(
        _is_plain(field, value[name], depth + 1) for name, field in declared.items()
    )


def _required(schema: Mapping[str, Any], value: Any, _depth: int) -> bool:
    names = schema["required"]
    if not isinstance(names, list) or not isinstance(value, dict):
        return False
    return _are_distinct_texts(names) and all(name in value for name in names)


def _enum(schema: Mapping[str, Any], value: Any, _depth: int) -> bool:
    options = schema["enum"]
    return isinstance(options, list) and _are_distinct_texts(options) and type(value) is str and value in options


def _additional(schema: Mapping[str, Any], value: Any, _depth: int) -> bool:
    declared = schema.get("properties", {})
    return schema["additionalProperties"] is True or (
        schema["additionalProperties"] is False
        and isinstance(declared, dict)
        and isinstance(value, dict)
        and value.keys() <= declared.keys()
    )


def _is_text(keyword: str) -> Callable[[Mapping[str, Any], Any, int], bool]:
    # The name of a type may be meant as one: `title: string` is an ambiguous short form.
    return lambda schema, _value, _depth: type(schema[keyword]) is str and schema[keyword] not in _TYPES


def _are_distinct_texts(texts: list[Any]) -> bool:
    return all(type(text) is str for text in texts) and len(set(texts)) == len(texts)


_TYPES: Mapping[str, tuple[type, ...]] = {
    "object": (dict,),
    "string": (str,),
    "boolean": (bool,),
    "integer": (int,),
    "number": (int, float),
    "null": (type(None),),
}
"""Types of Python by exactly which a value is surely of a type of JSON: True is an `int` to `isinstance` alone."""

_RULES: Mapping[str, Callable[[Mapping[str, Any], Any, int], bool]] = {
    "type": _type,
    "properties": _properties,
    "required": _required,
    "enum": _enum,
    "additionalProperties": _additional,
    "title": _is_text("title"),
    "description": _is_text("description"),
}
