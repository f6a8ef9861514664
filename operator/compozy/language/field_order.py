"""The order in which an author wrote the fields of a form, kept through storage.

People are asked field by field in that order. The API server sorts the keys of what it stores and lists alone
keep theirs, so whatever reads a plan's text writes the order down beside the properties.
"""

import copy
from collections.abc import Mapping
from typing import Any, Final

from compozy.language.shapes.subschemas import walk

ORDER: Final = "x-compozy-order"
"""Annotation of an object schema: its properties in the order in which the author wrote them."""

_SCHEMA_KEYS = frozenset({"output_schema", "outputSchema", "expect", "inputSchema"})


def with_order(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The schema with the order of properties written down wherever sorting would lose it."""
    ordered = copy.deepcopy(dict(schema))
    for _, part in walk(ordered):
        properties = part.get("properties")
        if isinstance(part, dict) and isinstance(properties, Mapping) and list(properties) != sorted(properties):
            part.setdefault(ORDER, list(properties))
    return ordered


def with_order_in_plan(value: Any) -> Any:
    """A plan's spec with the order written down in every schema that becomes a form."""
    if isinstance(value, list):
        return [with_order_in_plan(item) for item in value]
    if not isinstance(value, Mapping):
        return value
    return {
        key: with_order(item) if key in _SCHEMA_KEYS and isinstance(item, Mapping) else with_order_in_plan(item)
        for key, item in value.items()
    }
