"""Numbers in a graph, with their bounds."""

from typing import Any

from compozy.language.graph.fields import Fields


def whole_number(value: Any, key: str, fields: Fields, least: int, most: int, code: str = "invalid_value") -> int:
    """A whole number within bounds; the lower bound where it is none, with a problem recorded."""
    if isinstance(value, int) and not isinstance(value, bool) and least <= value <= most:
        return value
    fields.report(key, code, f"must be a whole number from {least} to {most}")
    return least
