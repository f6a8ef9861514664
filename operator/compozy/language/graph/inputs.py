"""The declared `inputs` of a graph plan, as a JSON Schema."""

from collections.abc import Mapping
from typing import Any

from compozy.language.keys import read_keys
from compozy.language.problems import Problem

_KEYS = ("type", "required", "description", "default", "enum")
_TYPES: Mapping[str, Mapping[str, Any]] = {
    "string": {"type": "string"},
    "number": {"type": "number"},
    "boolean": {"type": "boolean"},
    "agent": {"type": "string", "x-compozy-kind": "agent"},
}


def inputs_schema(inputs: Any, problems: list[Problem]) -> Mapping[str, Any] | None:
    """The schema of declared inputs: no others are allowed. None where nothing is declared."""
    if inputs is None:
        return None
    if not isinstance(inputs, Mapping):
        problems.append(Problem("inputs", "invalid_type", "must be an object of inputs by name"))
        return None
    properties: dict[str, Any] = {}
    required: list[str] = []
    for name, declared in inputs.items():
        path = f"inputs.{name}"
        values = read_keys(declared, path, _KEYS, problems, required=("type",))
        if "type" in values and values["type"] not in _TYPES:
            message = f"must be one of {', '.join(_TYPES)}"
            problems.append(Problem(f"{path}.type", "input_type_invalid", message))
        base = _TYPES.get(str(values.get("type")), {})
        kept = {key: values[key] for key in ("description", "default", "enum") if key in values}
        properties[name] = {**base, **kept}
        if values.get("required") is True:
            required.append(name)
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
