"""The order in which an author wrote the fields of a form, kept through storage.

People are asked field by field in that order. The API server sorts the keys of what it stores and lists alone
keep theirs, so whatever reads a plan's text writes the order down beside the properties.
"""

import copy
from collections.abc import Callable, Mapping
from typing import Any, Final

from compozy.language.schema import normalize_schema
from compozy.language.shapes.subschemas import is_keyword, walk

ORDER: Final = "x-compozy-order"
"""Annotation of an object schema: its properties in the order in which the author wrote them."""


def properties_in_order(schema: Mapping[str, Any]) -> list[str]:
    """The properties of an object schema in the order in which its author wrote them, as far as that is known.

    An author may write anything as the annotation: what names no property is passed over.
    """
    properties, order = schema.get("properties", {}), schema.get(ORDER)
    listed = order if isinstance(order, list) else []
    known = (name for name in listed if isinstance(name, str) and name in properties)
    return list(dict.fromkeys((*known, *properties)))


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
    if "graph" in spec:
        ordered["graph"] = _graph(spec["graph"])
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


def _graph(graph: Any) -> Any:
    """The nodes and edges of a plan, or of the body of a sub-loop."""
    if not isinstance(graph, Mapping) or not isinstance(graph.get("nodes"), list):
        return graph
    return {**graph, "nodes": [_node(node) for node in graph["nodes"]]}


def _node(node: Any) -> Any:
    """A node: people answer by what an ask expects, and by what an action that they review gives out."""
    if not isinstance(node, Mapping):
        return node
    kind, changed = node.get("kind"), dict(node)
    if kind == "sub-loop" and "body" in node:
        changed["body"] = _graph(node["body"])
    if "review" in node and "produces" in node:
        changed["produces"] = _answer(node["produces"])
    forms = ("expect",) if kind == "ask" else ("output_schema", "outputSchema") if kind == "run-agent" else ()
    if isinstance(node.get("params"), Mapping) and (kind == "ask" or "review" in node):
        params = node["params"].items()
        changed["params"] = {key: _answer(value) if key in forms else value for key, value in params}
    return changed


def _answer(value: Any) -> Any:
    """A schema of a graph. The short form has no place for an order: where there is one, it is written out."""
    if not isinstance(value, Mapping) or all(is_keyword(str(key)) for key in value):
        return _schema(value)
    full = with_order(normalize_schema(value))
    return full if any(ORDER in part for _, part in walk(full)) else value


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
