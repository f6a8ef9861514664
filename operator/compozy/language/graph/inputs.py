"""The declared `inputs` of a graph plan, as a JSON Schema."""

from collections.abc import Mapping
from typing import Any, Final

from compozy.language.annotations import ENTITY_KIND, ENTITY_KINDS
from compozy.language.keys import read_keys, type_name
from compozy.language.problems import Problem
from compozy.language.schema import SchemaInvalid, field_errors

_KEYS: Final = ("type", "required", "description", "default", "enum", "ref")

REFERENCES: Final = tuple(kind for kind in ENTITY_KINDS if kind != "agent")
"""What an input of type `ref` can name; for agents there is a type of their own."""

_RUNTIME: Final[Mapping[str, Any]] = {
    "type": "object",
    "properties": {
        **{key: {"type": "string"} for key in ("provider", "model", "reasoning")},
        "speed": {"type": "string", "enum": ["normal", "fast"]},
    },
    "additionalProperties": False,
}

TYPES: Final[Mapping[str, Mapping[str, Any]]] = {
    "string": {"type": "string"},
    "number": {"type": "number"},
    "boolean": {"type": "boolean"},
    "file": {"type": "string"},
    "agent": {"type": "string", ENTITY_KIND: "agent"},
    "ref": {"type": "string"},
    "runtime": _RUNTIME,
}
"""By type of an input: its JSON Schema. A file is a path; `ref` says beside the type what it names."""


def inputs_schema(inputs: Any, problems: list[Problem]) -> Mapping[str, Any] | None:
    """The schema of declared inputs: no others are allowed. None where nothing is declared.

    Codes: `input_type_invalid`, `input_ref_invalid`, `input_enum_invalid`, `input_default_invalid`.
    """
    if inputs is None:
        return None
    if not isinstance(inputs, Mapping):
        problems.append(Problem("inputs", "invalid_type", "must be an object of inputs by name"))
        return None
    properties: dict[str, Any] = {}
    required: list[str] = []
    for name, declared in inputs.items():
        values = read_keys(declared, f"inputs.{name}", _KEYS, problems, required=("type",))
        properties[str(name)] = _property(values, f"inputs.{name}", problems)
        if values.get("required") is True:
            required.append(str(name))
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def _property(values: Mapping[str, Any], path: str, problems: list[Problem]) -> dict[str, Any]:
    """The schema of one input."""
    schema = {**_base(values, path, problems), **_reference(values, path, problems)}
    for key, kind in (("required", bool), ("description", str)):
        if key in values and not isinstance(values[key], kind):
            message = f"must be {'true or false' if kind is bool else 'text'}, not {type_name(values[key])}"
            problems.append(Problem(f"{path}.{key}", "invalid_type", message))
    if isinstance(values.get("description"), str):
        schema["description"] = values["description"]
    if "enum" in values:
        schema.update(_enum(values["enum"], schema, path, problems))
    if "default" in values:
        for message in _faults(schema, values["default"]):
            text = f"the default does not fit the input: {message}"
            problems.append(Problem(f"{path}.default", "input_default_invalid", text))
        schema["default"] = values["default"]
    return schema


def _base(values: Mapping[str, Any], path: str, problems: list[Problem]) -> Mapping[str, Any]:
    kind = values.get("type")
    if isinstance(kind, str) and kind in TYPES:
        return TYPES[kind]
    if "type" in values:
        problems.append(Problem(f"{path}.type", "input_type_invalid", f"must be one of {', '.join(TYPES)}"))
    return {}


def _reference(values: Mapping[str, Any], path: str, problems: list[Problem]) -> Mapping[str, Any]:
    """What an input of type `ref` names."""
    if values.get("type") != "ref":
        if "ref" in values:
            problems.append(Problem(f"{path}.ref", "input_ref_invalid", "`ref` belongs to `type: ref`"))
        return {}
    if "ref" not in values:
        message = "`type: ref` needs `ref: {kind}`: what the input names"
        problems.append(Problem(f"{path}.ref", "input_ref_invalid", message))
        return {}
    kind = read_keys(values["ref"], f"{path}.ref", ("kind",), problems).get("kind")
    if kind not in REFERENCES:
        message = f"must be one of {', '.join(REFERENCES)}"
        problems.append(Problem(f"{path}.ref.kind", "input_ref_invalid", message))
        return {}
    return {ENTITY_KIND: kind}


def _enum(members: Any, schema: Mapping[str, Any], path: str, problems: list[Problem]) -> Mapping[str, Any]:
    """The values that are allowed, where they can be."""
    if not isinstance(members, list) or not members:
        message = "must be a list of at least one value"
        problems.append(Problem(f"{path}.enum", "input_enum_invalid", message))
        return {}
    faulty = [index for index, member in enumerate(members) if _faults(schema, member)]
    for index in faulty:
        message = "does not fit the type of the input"
        problems.append(Problem(f"{path}.enum[{index}]", "input_enum_invalid", message))
    return {} if faulty else {"enum": members}


def _faults(schema: Mapping[str, Any], value: Any) -> list[str]:
    try:
        return list(field_errors(schema, value).values())
    except SchemaInvalid:
        return []  # what is wrong with the schema has been said
