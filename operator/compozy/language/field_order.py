"""The order in which an author wrote the fields of a form, kept through storage.

People are asked field by field in that order. The API server sorts the keys of what it stores and lists alone
keep theirs, so whatever reads a plan's text writes the order down beside the properties.
"""

import copy
from collections.abc import Callable, Mapping
from typing import Any, Final

from compozy.language.shapes.subschemas import walk

ORDER: Final = "x-compozy-order"
"""Annotation of an object schema: its properties in the order in which the author wrote them."""


def with_order(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The schema with the order of properties written down wherever sorting would lose it."""
    ordered = copy.deepcopy(dict(schema))
    for _, part in walk(ordered):
        properties = part.get("properties")
        if isinstance(part, dict) and isinstance(properties, Mapping) and list(properties) != sorted(properties):
            part.setdefault(ORDER, list(properties))
    return ordered


def with_order_in_plan(spec: Mapping[str, Any]) -> dict[str, Any]:
    """A plan's spec with the order written down in every schema that becomes a form, and nowhere else."""
    ordered = {key: _schema(value) if key == "inputSchema" else value for key, value in spec.items()}
    if "steps" in spec:
        ordered["steps"] = _steps(spec["steps"])
    graph = spec.get("graph")
    if isinstance(graph, Mapping) and isinstance(graph.get("nodes"), list):
        ordered["graph"] = {**graph, "nodes": [_node(node) for node in graph["nodes"]]}
    return ordered


def _steps(steps: Any) -> Any:
    """A list of steps, or the one call of a body."""
    return [_step(step) for step in steps] if isinstance(steps, list) else _step(steps)


def _step(step: Any) -> Any:
    if not isinstance(step, Mapping) or not isinstance(step.get("input"), Mapping):
        return step
    change = _INSIDE.get(str(step.get("tool_name", step.get("toolName"))), {})
    values = step["input"].items()
    return {**step, "input": {key: change[key](value) if key in change else value for key, value in values}}


def _node(node: Any) -> Any:
    if not isinstance(node, Mapping) or node.get("kind") != "ask" or not isinstance(node.get("params"), Mapping):
        return node
    params = node["params"]
    return {**node, "params": {**params, "expect": _schema(params["expect"])}} if "expect" in params else node


def _schema(value: Any) -> Any:
    return with_order(value) if isinstance(value, Mapping) else value


_SCHEMAS = {"output_schema": _schema, "outputSchema": _schema}
_BODIES = {"then": _steps, "else": _steps, "do": _steps}
_INSIDE: Final[Mapping[str, Mapping[str, Callable[[Any], Any]]]] = {
    "ask": _SCHEMAS,
    "agent": _SCHEMAS,
    "decide": _BODIES,
    "map": _BODIES,
    "reduce": _BODIES,
}
"""By tool: the keys of its input that are schemas, or hold steps. Everything else is the author's data."""
