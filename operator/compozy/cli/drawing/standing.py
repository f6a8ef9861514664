"""Puts a run into the picture of its plan: where each shape stands, which ways were taken, who is waited for."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from compozy.cli.drawing.cells import Cells, Lanes, cells_of
from compozy.cli.drawing.model import Drawing, Group, Shape
from compozy.cli.drawing.taken import mark_links
from compozy.cli.output.text import clean, cut
from compozy.cli.output.times import age, seconds_only, until
from compozy.cli.states import ENDED, HANDLED, SETTLED, lane_counts, word_of
from compozy.cli.whom import whom

MOST_WAITING = 3
"""As many questions are told at one shape."""

_URGENCY = ("Waiting", "Running", "Ready", "Failed", HANDLED, "Succeeded", "Canceled", "Skipped", "Pending")
"""Of lanes in several states, the first of these is shown."""
_MESSAGE = 80


def put_run(
    drawing: Drawing,
    phase: str,
    nodes: Mapping[str, Mapping[str, Any]],
    open_requests: Sequence[Mapping[str, Any]],
    now: datetime,
) -> None:
    """Marks where everything stands. `nodes` are those of the run's status, complete."""
    drawing.is_run = True
    has_ended = phase in ENDED
    cells = cells_of(drawing, nodes, open_requests)
    for shape in drawing.shapes.values():
        told = cells.of(shape.id)
        shape.items = {".".join(map(str, lanes)): one["status"] for lanes, one in sorted(told.items()) if lanes}
        shape.is_handled = _status(told) == "Succeeded" and HANDLED in map(word_of, told.values())
        shape.status = _status(told) or ("Skipped" if has_ended and shape.group is None else "Pending")
    for shape in drawing.shapes.values():
        if shape.group is not None and not cells.of(shape.id):
            shape.status = _inherited(drawing, drawing.groups[shape.group], cells, has_ended)
        shape.told = list(_lines(shape, cells, now))
        shape.facts = _facts(shape, cells)
    for group in drawing.groups.values():
        _count_lanes(drawing, group, cells)
    mark_links(drawing, cells, has_ended=has_ended)


def _status(told: Mapping[Lanes, Mapping[str, Any]]) -> str | None:
    found = {one["status"] for one in told.values()}
    return next((status for status in _URGENCY if status in found), None)


def _inherited(drawing: Drawing, group: Group, cells: Cells, has_ended: bool) -> str:
    """The state of what is in a body of which the run tells nothing: what a body finds is not kept for ever."""
    owner = drawing.shapes[group.owner]
    if owner.status == "Skipped" or (owner.kind == "fan-out" and owner.status in SETTLED):
        return "Skipped"
    if owner.status == "Succeeded":
        outputs = [told.get("output") for told in cells.of(owner.id).values()]
        chosen = [output["branch"] for output in outputs if isinstance(output, Mapping) and "branch" in output]
        untaken = outputs == [[]] or (owner.kind == "decide" and group.label not in (chosen or [group.label]))
        return "Skipped" if untaken else "Succeeded"
    return "Skipped" if has_ended and owner.status == "Pending" else "Pending"


def _lines(shape: Shape, cells: Cells, now: datetime) -> Iterator[str]:
    told = cells.of(shape.id)
    if len(told) > 1:
        yield _counted(map(word_of, told.values()))
    elif told:
        yield from _cell_lines(next(iter(told.values())), now)
    waiting = cells.waiting.get(shape.id, [])
    for lanes, request in waiting[:MOST_WAITING]:
        item = f"item {lanes[-1]}: " if lanes else ""
        since = age(request["metadata"].get("creationTimestamp"), now)
        yield f"{item}waits for {whom(request['spec'])} since {since}"
    if len(waiting) > MOST_WAITING:
        yield f"and {len(waiting) - MOST_WAITING} more"


def _cell_lines(told: Mapping[str, Any], now: datetime) -> Iterator[str]:
    word = word_of(told)
    if word == HANDLED:
        yield word
    if word in ("Failed", "Canceled", HANDLED):
        yield cut(clean(": ".join(str(told[key]) for key in ("reason", "message") if told.get(key))), _MESSAGE)
    if (told.get("attempt") or 1) > 1:
        yield f"attempt {told['attempt']}"
    if told.get("until") and told["status"] not in SETTLED:
        yield f"until {seconds_only(told['until'])} ({until(told['until'], now)})"
    if told.get("run"):
        yield f"run: {clean(told['run'])}"


def _facts(shape: Shape, cells: Cells) -> dict[str, Any]:
    """What programs are told: of a shape in many lanes only what holds of all."""
    told = cells.of(shape.id)
    facts: dict[str, Any] = {}
    if len(told) == 1:
        (one,) = told.values()
        facts = {key: one[key] for key in ("reason", "message", "attempt", "until", "run") if one.get(key)}
    lanes = _lane_totals(shape.id, cells)
    if lanes:
        facts["lanes"] = lanes
    if shape.id in cells.waiting:
        facts["waiting"] = [
            {
                "request": request["metadata"]["name"],
                "item": at[-1] if at else None,
                "for": whom(request["spec"]),
                "since": request["metadata"].get("creationTimestamp"),
                "expires": request["spec"].get("expiresAt"),
            }
            for at, request in cells.waiting[shape.id]
        ]
    return facts


def _lane_totals(shape: str, cells: Cells) -> dict[str, int]:
    """The lanes of a fan-out, over all lanes that it is itself in."""
    total: Counter[str] = Counter()
    for told in cells.of(shape).values():
        total.update(told.get("lanes") or {})
    return dict(total)


def _count_lanes(drawing: Drawing, group: Group, cells: Cells) -> None:
    """How the lanes stand, in the title of a fan-out's frame."""
    lanes = _lane_totals(group.owner, cells)
    if not lanes:
        return
    depth = len(next(iter(cells.of(group.owner)))) + 1
    waiting = {
        at[:depth]
        for shape in drawing.shapes.values()
        if _is_within(drawing, shape.group, group.id)
        for at, told in cells.of(shape.id).items()
        if told["status"] == "Waiting"
    }
    group.told = lane_counts(lanes, len(waiting))


def _is_within(drawing: Drawing, inner: str | None, outer: str) -> bool:
    while inner is not None and inner != outer:
        inner = drawing.groups[inner].parent
    return inner == outer


def _counted(states: Iterator[str]) -> str:
    """`950 succeeded, 30 waiting`: the most frequent state first."""
    ordered = sorted(Counter(states).items(), key=lambda pair: (-pair[1], _URGENCY.index(pair[0])))
    return ", ".join(f"{count} {state.lower()}" for state, count in ordered)
