"""What one turn of the engine has shown: places that were reached, and what they came to."""

from collections.abc import Hashable

from compozy.engine.advance import Advance
from compozy.engine.effects import Call, OpenRequest
from compozy.engine.state import FINAL_STATUSES
from compozy.language.compiled import CompiledPlan
from compozy.plantest.exploring.labels import label_of
from compozy.plantest.exploring.tracer import Tracer

UNFIT = "output_invalid"
"""Reason of a node whose output is not what it declares."""


def tell(plan: CompiledPlan, result: Advance, tracer: Tracer) -> None:
    """Let the tracer know what the engine did where nothing is rendered, such as joins."""
    is_graph = plan.dialect.name == "graph"
    for path in sorted(result.changed):
        cell = result.state.cells.get(path)
        if cell is None or cell.status == "Skipped":
            continue
        label = label_of(plan, path)
        tracer.reach(label)
        if is_graph and cell.status in FINAL_STATUSES:
            tracer.events.append((label, cell.status))
        if cell.reason == UNFIT and label in tracer.computed:
            tracer.failed(tracer.places[label], "produces", UNFIT, cell.message or "")


def sight_of(plan: CompiledPlan, result: Advance, tracer: Tracer) -> Hashable:
    """What an answer has led to at once: the same for answers that open the same way."""
    cells = [(path, result.state.cells.get(path)) for path in sorted(result.changed)]
    ended = tuple(
        (label_of(plan, path), cell.status, cell.route, cell.output is None)
        for path, cell in cells
        if cell is not None
    )
    opened = tuple(
        label_of(plan, effect.node) for effect in result.effects if isinstance(effect, Call | OpenRequest)
    )
    return tuple(tracer.events), ended, opened, result.state.phase
