"""A picture for programs: its nodes and edges."""

from typing import Any

from compozy.cli.drawing.model import Drawing, Group, Link, Shape


def to_data(drawing: Drawing) -> dict[str, Any]:
    """`{nodes: [{id, kind, status, …}], edges: [{from, to, label, kind, taken}]}`.

    `status` and `taken` are null where nothing runs, and `taken` while it is open.
    """
    return {
        "nodes": [_node(shape, drawing.groups) for shape in drawing.shapes.values()],
        "edges": [_edge(link) for link in drawing.links],
    }


def _node(shape: Shape, groups: dict[str, Group]) -> dict[str, Any]:
    node: dict[str, Any] = {"id": shape.id, "kind": shape.kind, "status": shape.status}
    if shape.group is not None:
        node["within"] = groups[shape.group].owner
    if shape.is_reviewed:
        node["reviewed"] = True
    if shape.items:
        node["items"] = shape.items
    return node | shape.facts


def _edge(link: Link) -> dict[str, Any]:
    return {
        "from": link.source,
        "to": link.target,
        "label": link.label,
        "kind": link.kind,
        "taken": link.taken,
    }
