"""The graph dialect: nodes joined by edges, compiled in an order in which dependencies come first."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from typing import Any, Literal

from compozy.language.compiled import CompiledPlan, Node, NodeSpec, block_of
from compozy.language.graph.ask import compile_ask
from compozy.language.graph.edges import Edges, read_edges
from compozy.language.graph.fields import Fields
from compozy.language.graph.inputs import inputs_schema
from compozy.language.graph.route import compile_route
from compozy.language.graph.transform import compile_transform
from compozy.language.keys import read_keys, type_name
from compozy.language.problems import Problem

_ID = re.compile(r"[a-z][a-z0-9_]{0,62}", re.ASCII)
_COMMON = ("id", "class", "kind")


@dataclass(frozen=True, slots=True)
class Kind:
    """What the grammar knows of one kind of node."""

    node_class: str
    keys: tuple[str, ...]
    """Keys of the node beside `id`, `class` and `kind`."""
    compile: Callable[[Mapping[str, Any], Fields], NodeSpec | None]


KINDS: Mapping[str, Kind] = {
    "ask": Kind("control", ("params",), compile_ask),
    "route": Kind("control", ("routes", "default"), compile_route),
    "transform": Kind("action", ("params",), compile_transform),
}


@dataclass(frozen=True, slots=True)
class GraphDialect:
    """Inputs as `inputs`, results as `nodes.<id>.output` and `nodes.<id>.status`."""

    name: Literal["graph"] = "graph"

    asks_in_turn: bool = False

    def scope(self, inputs: Mapping[str, Any], generation: int) -> dict[str, Any]:
        """Everything that templates and conditions may name."""
        return {"inputs": inputs, "nodes": {}, "generation": generation}

    def record(self, scope: dict[str, Any], node: str, status: str, output: Any) -> None:
        """The output of a path that was not taken reads as null."""
        scope["nodes"][node] = {"status": status.lower(), "output": output}

    def copied(self, scope: dict[str, Any]) -> dict[str, Any]:
        """The results are in a mapping of their own."""
        return {**scope, "nodes": dict(scope["nodes"])}


def compile_graph(values: Mapping[str, Any], problems: list[Problem]) -> CompiledPlan | None:
    """Compile `graph`, reporting every problem found."""
    graph = read_keys(values["graph"], "graph", ("nodes", "edges"), problems, required=("nodes",))
    raw = _raw_nodes(graph.get("nodes"), problems)
    edges = read_edges(graph.get("edges"), set(raw), problems)
    order = _order(raw, edges, problems)
    schema = values.get("input_schema") or inputs_schema(values.get("inputs"), problems)
    nodes: dict[str, Node] = {}
    for node_id in order:
        path, data = raw[node_id]
        fields = Fields(node_id, path, edges, schema, problems)
        spec = _spec(data, fields)
        if spec is not None:
            nodes[node_id] = Node(node_id, spec, path, edges.into(node_id))
    output = None
    if values.get("output") is not None:
        output = Fields("", "output", edges, schema, problems).value(values["output"], "")
    if problems:
        return None
    return CompiledPlan(
        dialect=GraphDialect(),
        block=block_of(nodes),
        input_schema=schema,
        output=output,
    )


def _raw_nodes(nodes: Any, problems: list[Problem]) -> dict[str, tuple[str, Mapping[str, Any]]]:
    if not isinstance(nodes, list) or not nodes:
        if nodes is not None:
            problems.append(Problem("graph.nodes", "invalid_type", "must be a list with at least one node"))
        return {}
    found: dict[str, tuple[str, Mapping[str, Any]]] = {}
    for index, data in enumerate(nodes):
        path = f"graph.nodes[{index}]"
        if not isinstance(data, Mapping):
            problems.append(Problem(path, "invalid_type", f"must be an object, not {type_name(data)}"))
            continue
        node_id = data.get("id")
        if not isinstance(node_id, str) or not _ID.fullmatch(node_id):
            message = (
                "a node needs an `id`: a lower-case letter, then up to 62 of lower-case letters, digits and `_`"
            )
            problems.append(Problem(f"{path}.id", "node_id_invalid", message))
        elif node_id in found:
            message = f"the id `{node_id}` is used twice; ids are unique"
            problems.append(Problem(f"{path}.id", "duplicate_node_id", message))
        else:
            found[node_id] = (path, data)
    return found


def _order(raw: Mapping[str, Any], edges: Edges, problems: list[Problem]) -> list[str]:
    """Ids with dependencies first; as authored where the graph leaves it open."""
    sorter = TopologicalSorter({node_id: edges.into(node_id) for node_id in raw})
    try:
        return list(sorter.static_order())
    except CycleError as error:
        ring = " → ".join(reversed(error.args[1]))
        problems.append(Problem("graph.edges", "cycle", f"the edges run in a circle: {ring}; remove one"))
        return list(raw)


def _spec(data: Mapping[str, Any], fields: Fields) -> NodeSpec | None:
    name = data.get("kind")
    kind = KINDS.get(name) if isinstance(name, str) else None
    if kind is None:
        known = ", ".join(sorted(KINDS))
        message = f"`kind` is required: {known}" if name is None else f"there is no kind `{name}`; known: {known}"
        fields.report("kind", "kind_unknown", message)
        return None
    if data.get("class") != kind.node_class:
        fields.report(
            "class", "class_mismatch", f"the class of `{name}` is fixed: write `class: {kind.node_class}`"
        )
    values = read_keys(data, fields.path, (*_COMMON, *kind.keys), fields.problems)
    return kind.compile(values, fields)
