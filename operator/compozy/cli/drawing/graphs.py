"""The picture of a plan in the graph dialect: nodes, edges and what is inside of nodes."""

from collections.abc import Mapping
from typing import Any

from compozy.cli.drawing.lanes import fan_out_bodies
from compozy.cli.drawing.model import Drawing, Group, Link, LinkKind, Shape, field_of, form_of, list_of, text_of
from compozy.cli.drawing.ways import Way, ways_of

_DEEPEST = 20
"""Bodies in bodies beyond this are left out."""


def draw_block(drawing: Drawing, block: Any, prefix: str, group: str | None, depth: int = 0) -> list[str]:
    """Adds a graph or the body of a sub-loop; returns the ids of the nodes that nothing of it comes before."""
    nodes: dict[str, Mapping[str, Any]] = {}
    for node in list_of(field_of(block, "nodes")):
        node_id = text_of(field_of(node, "id"))
        if node_id and node_id not in nodes:
            nodes[node_id] = node
            drawing.add(_shape(node, node_id, prefix, group))
    edges = _edges(block, nodes)
    _link(drawing, nodes, edges, prefix)
    _frame_lanes(drawing, nodes, edges, prefix)
    if depth < _DEEPEST:
        for node_id, node in nodes.items():
            _draw_inside(drawing, node, f"{prefix}{node_id}", depth)
    later = {target for _, target in edges}
    return [f"{prefix}{node_id}" for node_id in nodes if node_id not in later]


def _shape(node: Mapping[str, Any], node_id: str, prefix: str, group: str | None) -> Shape:
    kind = text_of(node.get("kind")) or "?"
    form = "source" if node.get("class") == "source" else form_of(kind)
    reviewed = node.get("review") is not None
    notes = [note for note in _notes(kind, node) if note]
    return Shape(f"{prefix}{node_id}", node_id, kind, "person" if reviewed else form, group, notes, reviewed)


def _notes(kind: str, node: Mapping[str, Any]) -> list[str]:
    params, review = node.get("params"), node.get("review")
    match kind:
        case "ask":
            return [text_of(field_of(params, "prompt"))]
        case "branch":
            return [text_of(node.get("condition"))]
        case "wait":
            pause, moment = text_of(field_of(params, "for")), text_of(field_of(params, "until"))
            return [f"for {pause}" if pause else f"until {moment}" if moment else ""]
        case "input":
            return [text_of(field_of(node, "input_ref"))]
        case "run-loop":
            return [text_of(field_of(params, "loop"))]
        case "run-agent":
            return [text_of(field_of(params, "agent"))]
    return [text_of(field_of(review, "prompt"))]


def _edges(block: Any, nodes: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The edges between nodes that are there, each once."""
    pairs = ((text_of(field_of(edge, "from")), text_of(field_of(edge, "to"))) for edge in _raw_edges(block))
    return list(dict.fromkeys(pair for pair in pairs if pair[0] in nodes and pair[1] in nodes))


def _raw_edges(block: Any) -> list[Any]:
    return list_of(field_of(block, "edges"))


def _link(
    drawing: Drawing, nodes: Mapping[str, Mapping[str, Any]], edges: list[tuple[str, str]], prefix: str
) -> None:
    targets: dict[str, list[str]] = {}
    for source, target in edges:
        targets.setdefault(source, []).append(target)
    for source, ends in targets.items():
        for target in ends:
            way = _way(nodes[source], target, ends)
            kind: LinkKind = "exception" if way.is_exception else "flow"
            drawing.links.append(Link(f"{prefix}{source}", f"{prefix}{target}", way.label, kind))


def _way(node: Mapping[str, Any], target: str, targets: list[str]) -> Way:
    """What leads along an edge. A way for exceptions is the usual one too where it is the only one."""
    ways = ways_of(node)
    way = ways.get(target, Way("true" if node.get("kind") == "branch" else ""))
    usual = any(not ways.get(other, Way("")).is_exception for other in targets)
    return way if usual or not way.is_exception else Way(f"also {way.label}")


def _frame_lanes(
    drawing: Drawing, nodes: Mapping[str, Mapping[str, Any]], edges: list[tuple[str, str]], prefix: str
) -> None:
    """Puts what a fan-out does in each lane into a frame; of nested ones, the innermost holds a node."""
    bodies = fan_out_bodies({node_id: text_of(node.get("kind")) for node_id, node in nodes.items()}, edges)
    for fan_out, body in sorted(bodies.items(), key=lambda pair: -len(pair[1])):
        if not body:
            continue
        path = f"{prefix}{fan_out}"
        over = text_of(nodes[fan_out].get("collection")) or "a collection"
        drawing.groups[path] = Group(path, f"for each of {over}", path, "", drawing.shapes[path].group, "lane")
        for node_id in body:
            drawing.shapes[f"{prefix}{node_id}"].group = path


def _draw_inside(drawing: Drawing, node: Mapping[str, Any], path: str, depth: int) -> None:
    if node.get("kind") == "sub-loop":
        stop = text_of(field_of(node.get("contract"), "stop_when"))
        title = f"again until {stop}" if stop else "inside"
        drawing.groups[path] = Group(path, title, path, "", drawing.shapes[path].group, "turn" if stop else "")
        roots = draw_block(drawing, node.get("body"), f"{path}/", path, depth + 1)
        drawing.links += [Link(path, root, "", "body") for root in roots]
    elif node.get("kind") == "gate":
        _draw_criteria(drawing, node, path)


def _draw_criteria(drawing: Drawing, gate: Mapping[str, Any], path: str) -> None:
    for criterion in list_of(gate.get("criteria")):
        name, kind = text_of(field_of(criterion, "id")), text_of(field_of(criterion, "type"))
        if not name:
            continue
        drawing.groups.setdefault(path, Group(path, "criteria", path, parent=drawing.shapes[path].group))
        notes = [text_of(field_of(criterion, key)) for key in ("prompt", "rubric", "check", "tool")]
        drawing.add(Shape(f"{path}/{name}", name, kind or "?", form_of(kind), path, list(filter(None, notes))[:1]))
        drawing.links.append(Link(path, f"{path}/{name}", "", "body"))
