"""JSON Schema 2020-12: whether a schema is usable, whether a value conforms, and the graphs' short form.

Schemas are held to strict bounds, refer to nothing outside themselves and are judged in bounded time, because
one person writes the schema, another the value, and the operator that everybody shares holds the one to the
other.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from compozy.language.problems import PlanInvalid, Problem
from compozy.language.shapes.bounds import MAX_FAULTS, dotted, json_faults
from compozy.language.shapes.plain import surely_conforms
from compozy.language.shapes.subschemas import is_keyword

if TYPE_CHECKING:
    from compozy.language.shapes.shape import Shape

PRIMITIVES = ("string", "number", "integer", "boolean")
"""The types that one field of a form can take."""


class SchemaInvalid(PlanInvalid):
    """A value was to be held to a schema that cannot be used."""


def check_schema(schema: Any, path: str) -> list[Problem]:
    """Return what keeps `schema` from being used, with places below `path`; empty when it is fine.

    Codes: `schema_invalid`, `schema_too_large`, `schema_shorthand_ambiguous`, `schema_dialect_unsupported`,
    `schema_pattern_unsupported`, `schema_remote_reference`, `schema_reference_unresolved`,
    `schema_reference_unsupported`, `schema_reference_circular`.
    """
    from compozy.language.shapes.check import schema_problems

    return schema_problems(schema, path)


def field_errors(schema: Mapping[str, Any], value: Any) -> dict[str, str]:
    """Return what is wrong with `value`: dotted path to message, the root being `payload`.

    Empty when it conforms. A missing property is reported at its own path. A boolean is no integer, NaN is no
    number, formats are checked, and no message repeats the value. At most 100 entries. Raises `SchemaInvalid`
    for a schema that cannot be used.
    """
    faults = json_faults(value)
    if faults:
        return {dotted(pointer): message for pointer, message in faults.items()}
    if surely_conforms(schema, value):
        return {}
    from compozy.language.shapes.messages import faults_of
    from compozy.language.shapes.shape import TooCostlyError

    found: dict[str, str] = {}
    try:
        for error in shape_of(schema).errors(value):
            for pointer, message in faults_of(error):
                found.setdefault(dotted(pointer), message)
    except TooCostlyError as error:
        return {"payload": str(error)}
    return dict(list(found.items())[:MAX_FAULTS])


def shape_of(schema: Mapping[str, Any]) -> Shape:
    """Return `schema` ready to judge values, from a cache. Raises `SchemaInvalid`."""
    import json

    problems = json_faults(schema)
    if problems:
        raise SchemaInvalid(check_schema(schema, ""))
    return _shape(json.dumps(schema))


@lru_cache(maxsize=256)
def _shape(text: str) -> Shape:
    import json

    from compozy.language.shapes.shape import Shape

    schema = json.loads(text)
    if problems := check_schema(schema, ""):
        raise SchemaInvalid(problems)
    return Shape(schema)


def normalize_schema(raw: Any) -> dict[str, Any]:
    """Return a JSON Schema for what an author of a graph wrote under `expect` or `produces`.

    A map with any key that is no keyword of JSON Schema is the short form, `{release_url: string}`: an object
    whose fields are all required. Inside it an object may be in the short form again; its fields are not
    required. A full schema is returned as it is, so normalizing twice changes nothing.
    """
    if not isinstance(raw, Mapping):
        message = "must be a JSON Schema, or a map from the names of fields to their types"
        raise SchemaInvalid([Problem("", "schema_invalid", message)])
    if _is_full(raw):
        return dict(raw)
    properties = {name: _short_field(value) for name, value in raw.items()}
    return {"type": "object", "properties": properties, "required": list(properties)}


def _is_full(schema: Mapping[Any, Any]) -> bool:
    return all(isinstance(key, str) and is_keyword(key) for key in schema)


def _short_field(value: Any) -> Any:
    if isinstance(value, str):
        return {"type": value}
    if isinstance(value, Mapping) and not _is_full(value):
        return {"type": "object", "properties": {name: _short_field(child) for name, child in value.items()}}
    return value


def with_defaults(schema: Mapping[str, Any], value: Mapping[str, Any]) -> dict[str, Any]:
    """Return `value` with the `default` of each absent top-level property filled in."""
    properties = schema.get("properties")
    declared = properties.items() if isinstance(properties, Mapping) else ()
    defaults = {
        name: copy.deepcopy(field["default"])
        for name, field in declared
        if isinstance(field, Mapping) and "default" in field and name not in value
    }
    return {**value, **defaults}


def flat_object_problems(schema: Any, path: str) -> list[Problem]:
    """Return where `schema` is no flat object of primitives or enums, as the ask-steps page demands.

    The page demands it for every host. A missing `type` means `object`. Codes: those of `check_schema`,
    `ask_schema_not_object`, `ask_schema_no_properties`, `ask_schema_not_primitive`.
    """
    if problems := check_schema(schema, path):
        return problems
    if schema.get("type", "object") != "object":
        return [Problem(f"{path}.type", "ask_schema_not_object", "must be `object`: an answer is a flat object")]
    properties = schema.get("properties")
    if not properties:
        message = "must declare at least one property: each is a field that a person fills in"
        return [Problem(f"{path}.properties", "ask_schema_no_properties", message)]
    faults = {name: _field_fault(field) for name, field in properties.items()}
    return [
        Problem(f"{path}.properties.{name}", "ask_schema_not_primitive", fault)
        for name, fault in faults.items()
        if fault is not None
    ]


def _is_titled_enum(declared: Mapping[str, Any]) -> bool:
    """Whether this is an enum in its other spelling, alternatives of `const` with a `title`, as forms write it."""
    options = declared.get("oneOf", declared.get("anyOf"))
    return (
        isinstance(options, list)
        and bool(options)
        and all(
            isinstance(option, Mapping) and not isinstance(option.get("const", []), list | dict)
            for option in options
        )
    )


def _field_fault(field: Any) -> str | None:
    declared = field if isinstance(field, Mapping) else {}
    if "enum" in declared:
        nested = any(isinstance(option, list | dict) for option in declared["enum"])
        return (
            "`enum` must list text, numbers, booleans or null: an answer holds no nested data" if nested else None
        )
    if declared.get("type") in PRIMITIVES or _is_titled_enum(declared):
        return None
    return f"must have an `enum` or a `type` of {', '.join(PRIMITIVES)}: a person fills it in as one field"
