"""A picture as Graphviz source. Everything that an author wrote stands in quoted strings, escaped."""

from collections.abc import Iterator, Mapping

from compozy.cli.drawing.looks import (
    FRAME,
    Look,
    children_of,
    label_of,
    lines_of,
    look_of,
    look_of_link,
    title_of,
)
from compozy.cli.drawing.model import Drawing, Form, Link, Shape
from compozy.cli.output.text import clean

_SHAPES: Mapping[Form, str] = {
    "person": "egg",
    "choice": "diamond",
    "gate": "hexagon",
    "spread": "trapezium",
    "join": "invtrapezium",
    "time": "note",
    "nested": "component",
    "source": "parallelogram",
    "action": "box",
}
_FONT = "Helvetica,Arial,sans-serif"
_DOUBLE = 2
"""Width of the two lines around what has failed."""
_DOTTED = 2
"""Dashes of at most this length are dots."""


def to_dot(drawing: Drawing) -> str:
    """The source of a directed graph, its background transparent."""
    return "\n".join(_lines(drawing)) + "\n"


def quoted(*lines: str) -> str:
    """Lines as one string of the language. Entities such as `&lt;` would be read, so `&` is written as one."""
    parts = (line.replace("\\", "\\\\").replace('"', '\\"').replace("&", "&amp;") for line in lines)
    return '"' + "\\n".join(parts) + '"'


def _lines(drawing: Drawing) -> Iterator[str]:
    ids = {shape_id: f"n{number}" for number, shape_id in enumerate(drawing.shapes)}
    groups = {group_id: f"cluster_{number}" for number, group_id in enumerate(drawing.groups)}
    yield f"digraph {quoted(clean(drawing.title))} {{"
    yield '  graph [bgcolor="transparent", rankdir="TB", nodesep="0.4", ranksep="0.5"];'
    yield f'  node [fontname="{_FONT}", fontsize="12", margin="0.15,0.08"];'
    yield f'  edge [fontname="{_FONT}", fontsize="10", fontcolor="{FRAME}"];'
    yield from _inside(drawing, None, ids, groups, "  ")
    for link in drawing.links:
        yield f"  {ids[link.source]} -> {ids[link.target]} [{_link(link)}];"
    yield "}"


def _inside(
    drawing: Drawing, parent: str | None, ids: Mapping[str, str], groups: Mapping[str, str], indent: str
) -> Iterator[str]:
    shapes, inner = children_of(drawing, parent)
    for shape in shapes:
        yield f"{indent}{ids[shape.id]} [{_shape(shape)}];"
    for group in inner:
        yield f"{indent}subgraph {groups[group.id]} {{"
        yield f'{indent}  label={quoted(title_of(group))}; style="rounded,dashed"; color="{FRAME}";'
        yield f'{indent}  fontname="{_FONT}"; fontsize="11"; fontcolor="{FRAME}";'
        yield from _inside(drawing, group.id, ids, groups, indent + "  ")
        yield f"{indent}}}"


def _shape(shape: Shape) -> str:
    name, look = look_of(shape)
    styles = ["filled", *_styles(look)]
    failed = shape.status == "Failed"
    width, more = (_DOUBLE, ', peripheries="2"') if failed else (look.width, "")
    return (
        f'shape="{_SHAPES[shape.form]}", class="{name}", label={quoted(*lines_of(shape))}, '
        f'style="{",".join(styles)}", fillcolor="{look.fill}", color="{look.stroke}", '
        f'fontcolor="{look.text}", penwidth="{width:g}"{more}'
    )


def _link(link: Link) -> str:
    look, label = look_of_link(link), label_of(link)
    parts = [f'color="{look.stroke}"', f'penwidth="{look.width:g}"', f'style="{(_styles(look) or ["solid"])[0]}"']
    if label:
        parts.append(f"label={quoted(f' {label} ')}")
    return ", ".join(parts)


def _styles(look: Look) -> list[str]:
    if not look.dashes:
        return []
    return ["dotted" if look.dashes[0] <= _DOTTED else "dashed"]
