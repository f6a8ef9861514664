"""The exact parameters of an action that a person decides over: their digest, and the shape of a replacement."""

import hashlib
from collections.abc import Mapping
from typing import Any

from compozy.language.schema import field_errors
from compozy.language.shapes.canonical import canonical_json

_TYPES: Mapping[type, str] = {bool: "boolean", int: "number", float: "number", str: "string"}


def digest_of(parameters: Any) -> str:
    """What stands for the exact parameters: SHA-256 of their canonical JSON."""
    return f"sha256:{hashlib.sha256(canonical_json(parameters).encode()).hexdigest()}"


def strict_schema(value: Any) -> dict[str, Any]:
    """The shape of a value, as JSON Schema: every key is required and no others are allowed.

    Elements of a list are held to the shape of the first, unless others do not have it: what is proposed must be
    good enough itself. The rule for what a person may put in place of parameters that have no declared schema.
    """
    if isinstance(value, Mapping):
        return {
            "type": "object",
            "properties": {key: strict_schema(item) for key, item in value.items()},
            "required": list(value),
            "additionalProperties": False,
        }
    if isinstance(value, list):
        items = strict_schema(value[0]) if value else {}
        alike = all(not field_errors(items, other) for other in value[1:])
        return {"type": "array", "items": items} if items and alike else {"type": "array"}
    name = _TYPES.get(type(value))
    return {"type": name} if name is not None else {}
