"""Values for the unknown parts of a value that must conform to a schema."""

from collections.abc import Mapping
from typing import Any

from compozy.language.schema import field_errors
from compozy.plantest.exploring.unknown import Unknown, holds_unknown
from compozy.plantest.exploring.values import values_for


def filled(schema: Mapping[str, Any] | None, value: Any) -> Any:
    """A value in which what is unknown is something typical that conforms.

    Where the parts do not fit together the whole is something typical: nothing can be said against a value
    that nobody knows.
    """
    if schema is None:
        return value
    made = _filled(schema, value)
    if field_errors(schema, made):
        typical = values_for(schema)
        return typical[0] if typical else made
    return made


def _filled(schema: Any, value: Any) -> Any:
    if not holds_unknown(value):
        return value
    declared = schema if isinstance(schema, Mapping) else {}
    if isinstance(value, Unknown):
        typical = values_for(declared) if declared else []
        return typical[0] if typical else value
    if isinstance(value, dict):
        properties = declared.get("properties") or {}
        return {key: _filled(properties.get(key), item) for key, item in value.items()}
    return [_filled(declared.get("items"), item) for item in value]
