"""The picture of a plan, made of its `spec` as its author wrote it.

Plans that do not compile are drawn as well, as far as they can be read: the picture helps to see what is wrong.
"""

from collections.abc import Mapping
from typing import Any

from compozy.cli.drawing.graphs import draw_block
from compozy.cli.drawing.model import Drawing, Shape, list_of
from compozy.cli.drawing.steps import draw_steps, link_chain

SOLVER = "@solver"
"""Id of what writes a plan's answer, after all steps."""


def draw_plan(spec: Mapping[str, Any], title: str) -> Drawing:
    """The picture of a plan in either dialect."""
    drawing = Drawing(title)
    graph = spec.get("graph")
    if isinstance(graph, Mapping):
        draw_block(drawing, graph, "", None)
        return drawing
    ids = draw_steps(drawing, list_of(spec.get("steps")), "", None)
    if spec.get("solver") is not None:
        drawing.add(Shape(SOLVER, "answer", "solver", "action"))
        link_chain(drawing, [*ids[-1:], SOLVER])
    return drawing
