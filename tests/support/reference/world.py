"""The whole run: how it ends, what is open, and what a status shows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from compozy.engine.events import RunCanceled
from support.reference.cells import Cells
from support.reference.terms import NEVER, Cell, End, Place, Shown, UndecidedError


class World(Cells):
    """All that is so after some events."""

    def places(self, around: Sequence[str], place: Place = ()) -> Iterator[Place]:
        """All the lanes that there are of some fan-outs inside one another."""
        if not around:
            yield place
            return
        try:
            indexes = list(self.lanes(around[0], place))
        except UndecidedError:
            return
        for index in indexes:
            yield from self.places(around[1:], (*place, (around[0], index)))

    def all_cells(self) -> dict[str, tuple[str, Cell]]:
        """Every cell by its path, with its node."""
        return {
            self.path(node, place): (node, self.seen(node, place))
            for node in self.nodes
            for place in self.places(self.around(node))
        }

    def end(self) -> End:
        """When and how the run ends: with a node that nothing absorbs, or with the last one."""
        stops: list[tuple[float, str, tuple[str, str | None]]] = [
            (number, "", ("Canceled", "run_canceled"))
            for number, event in self.events
            if isinstance(event, RunCanceled)
        ]
        cells = self.all_cells()
        for path, (node, cell) in cells.items():
            if cell.status == "Stopped":
                stops.append((cell.ended, path, (str(cell.phase), cell.reason)))
            elif cell.status in ("Failed", "Canceled") and not self.around(node):
                stops.append((cell.ended, path, ("Failed", cell.reason)))
        at = min((at for at, _, _ in stops), default=NEVER)
        if at < NEVER:
            first = [stop for stop in stops if stop[0] == at]
            return End(at, {way for _, _, way in first}, {path for _, path, _ in first}, early=True)
        last = max(cell.ended for node, cell in cells.values() if not self.around(node))
        return End(last, {("Succeeded", "completed")} if last < NEVER else {("Running", None)}, set(), early=False)

    def open(self, *kinds: str) -> set[str]:
        """The paths that wait: questions, calls."""
        if self.end().at < NEVER:
            return set()
        return {
            path
            for path, (node, cell) in self.all_cells().items()
            if self.nodes[node]["kind"] in kinds and cell.begun < NEVER and cell.ended == NEVER
        }

    def expected(self) -> dict[str, list[Shown | None]]:
        """What a status may show of each cell; None where it need not have one.

        There is one possibility, but for cells that the very event touches that ends the run before its end: in
        which order a single event reaches several nodes is left open.
        """
        end, cells = self.end(), self.all_cells()
        if not end.early:
            return {path: [_shown(self.nodes[node], cell)] for path, (node, cell) in cells.items()}
        exact = {getattr(event, "node", None) for number, event in self.events if number == end.at}
        exact |= end.causes if len(end.causes) == 1 else set()
        left = Shown("Canceled" if ("Canceled", "run_canceled") in end.ways else "Skipped")
        shown = {}
        for path, (node, cell) in cells.items():
            not_begun = None if self.around(node) else left
            shown[path] = _at_the_end(_shown(self.nodes[node], cell), cell, end.at, not_begun, path in exact)
        return shown

    def lane_results(self) -> dict[str, list[Shown | None]]:
        """By the path of a lane, such as `services.3`: how it has ended by itself, where it has."""
        end, found = self.end(), {}
        fan_outs = [node for node, data in self.nodes.items() if data["kind"] == "fan-out"]
        for place in (place for node in fan_outs for place in self.places((*self.around(node), node))):
            ended, succeeded = self.lane(place)
            if ended == NEVER or ended > min(end.at, self._taken_away(place)):
                continue
            result = Shown("Succeeded" if succeeded else "Failed")
            path = self.path("", place).rstrip("/")
            found[path] = [result, None] if end.early and ended == end.at else [result]
        return found

    def _taken_away(self, place: Place) -> float:
        """When a lane is canceled at the latest: its fan-out is decided, or a lane around it is over."""
        decided = [self.decision(place[n - 1][0], place[: n - 1]).at for n in range(1, len(place) + 1)]
        return min(*decided, NEVER, *(self.lane(place[:n]).ended for n in range(1, len(place))))


def _shown(node: Mapping[str, Any], cell: Cell) -> Shown | None:
    if cell.begun == NEVER:
        return None
    if cell.ended == NEVER:
        return Shown("Waiting" if node["kind"] == "ask" else "Running")
    return Shown(cell.phase if cell.phase is not None else cell.status, cell.output, cell.route)


def _at_the_end(
    shown: Shown | None, cell: Cell, end: float, not_begun: Shown | None, exact: bool
) -> list[Shown | None]:
    """What a run that ends early makes of a cell: what is under way is canceled, what has not begun is skipped."""
    if cell.ended < end or (exact and cell.ended == end):
        return [shown]
    ways: list[Shown | None] = [Shown("Canceled")] if cell.begun <= end and cell.begun < cell.ended else []
    ways += [shown] if cell.ended == end else []
    return ways + ([not_begun] if cell.begun >= end else [])
