"""The nodes and edges of a graph, compiled: the plan's own, and the bodies of its sub-loops."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from compozy.language.compiled import NO_POLICY, Block, FanOutSpec, Node, Policy, block_of
from compozy.language.graph.edges import read_edges
from compozy.language.graph.envelope import read_policy
from compozy.language.graph.fields import Fields
from compozy.language.graph.kinds import kind_of
from compozy.language.graph.layout import lay_out
from compozy.language.graph.outline import MAX_NESTING, Outline, read_outlines
from compozy.language.graph.places import Graph, Place, Setting
from compozy.language.graph.reachability import check_reachable
from compozy.language.graph.schemas import read_schema
from compozy.language.graph.shapes import Declared
from compozy.language.keys import read_keys
from compozy.language.problems import Problem


def compile_body(
    data: Mapping[str, Any], path: str, around: Place, problems: list[Problem]
) -> tuple[Block, Graph] | None:
    """Compile the body of a sub-loop, whose nodes see what the sub-loop sees. Code: `nesting_too_deep`."""
    if around.graph.depth >= MAX_NESTING:
        message = (
            f"sub-loops stand at most {MAX_NESTING} deep inside one another; run another plan with `run-loop`"
        )
        problems.append(Problem(path, "nesting_too_deep", message))
        return None
    block, graph = compile_nodes(data, path, around.graph.setting, problems, around)
    return None if block is None else (block, graph)


def compile_nodes(
    data: Any, path: str, setting: Setting, problems: list[Problem], around: Place | None = None
) -> tuple[Block | None, Graph]:
    """Compile nodes and edges, reporting every problem found; there is no block where there is any."""
    before = len(problems)
    values = read_keys(data, path, ("nodes", "edges"), problems, required=("nodes",))
    outlines = read_outlines(values.get("nodes"), f"{path}.nodes", _taken(around), problems)
    edges = read_edges(values.get("edges"), f"{path}.edges", outlines, problems)
    layout = lay_out(outlines, edges, f"{path}.edges", problems)
    graph = Graph(layout, setting, around, depth=0 if around is None else around.graph.depth + 1)
    found = {node_id: list[Problem]() for node_id in outlines}
    policies: dict[str, Policy] = {}
    for node_id in layout.order:
        outline = outlines[node_id]
        policy = _compile(outline, Fields(node_id, outline.path, graph.at(node_id), found[node_id]), graph)
        if policy is not None:
            policies[node_id] = policy
    for problems_of_node in found.values():
        problems.extend(problems_of_node)
    if len(problems) == before and policies:
        check_reachable(outlines, graph, policies, problems)
    if len(problems) > before or not policies:
        return None, graph
    return _assemble(outlines, graph, policies), graph


def _taken(around: Place | None) -> set[str]:
    """The ids of the graphs around a body."""
    taken: set[str] = set()
    while around is not None:
        taken |= around.graph.layout.bits.keys()
        around = around.graph.around
    return taken


def _compile(outline: Outline, fields: Fields, graph: Graph) -> Policy | None:
    """Compile one node; what it does and gives out is kept in the graph. None where it cannot be right."""
    before = len(fields.problems)
    kind = kind_of(outline, fields)
    if kind is None:
        return None
    values = fields.keys(outline.data, "", kind.keys)
    if "review" in values and kind.node_class != "action":
        fields.report("review", "review_shape_invalid", "only a node of class action can be reviewed")
        del values["review"]
    if "on_parent_close" in values and outline.kind != "run-loop":
        fields.report("on_parent_close", "parent_close_invalid", "`on_parent_close` belongs to `run-loop`")
    declared = values.get("produces")
    produces = None if declared is None else read_schema(declared, "produces", fields)
    made = kind.compile(values, fields)
    if produces is not None:
        graph.outputs[outline.id] = Declared(produces)
    elif made is not None:
        graph.outputs[outline.id] = made.output
    shape = made.schema if made is not None else None
    if declared is not None and produces is None:
        shape = {"type": "object"}  # what is wrong with the declared one has been said
    policy = read_policy(values, fields, produces, shape)
    if made is None or len(fields.problems) > before:
        return None
    graph.specs[outline.id] = made.spec
    return policy


def _assemble(outlines: Mapping[str, Outline], graph: Graph, policies: Mapping[str, Policy]) -> Block:
    """The nodes as blocks: fan-outs hold those in their lanes. Going backwards, what is inside comes first."""
    layout = graph.layout
    rank = {name: position for position, name in enumerate(outlines)}
    held: dict[str, list[Node]] = {}
    for node_id in reversed(layout.order):
        joins, lanes, spec = layout.joins[node_id], layout.lanes[node_id], graph.specs[node_id]
        if isinstance(spec, FanOutSpec):
            spec = _with_body(node_id, spec, held.pop(node_id), graph, rank)
        node = Node(
            id=node_id,
            spec=spec,
            path=outlines[node_id].path,
            after=tuple(joins.after),
            outside=tuple(joins.outside),
            awaits=tuple(layout.awaits.get(node_id, ())),
            ways=graph.edges.out(node_id),
            policy=policies.get(node_id, NO_POLICY),
        )
        held.setdefault(lanes[-1] if lanes else "", []).append(node)
    return _block(held[""])


def _with_body(
    node_id: str, spec: FanOutSpec, nodes: list[Node], graph: Graph, rank: Mapping[str, int]
) -> FanOutSpec:
    """A fan-out with its body, and the nodes whose outputs are those of a lane; `rank` is the author's order."""
    body, collect = _block(nodes), graph.layout.collects.get(node_id)
    last = sorted((name for name in body.nodes if not body.dependents[name]), key=rank.__getitem__)
    joined = [] if collect is None else graph.layout.joins[collect].body
    return replace(spec, body=body, results=tuple(joined or last))


def _block(nodes: list[Node]) -> Block:
    return block_of({node.id: node for node in reversed(nodes)})
