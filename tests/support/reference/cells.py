"""What becomes of every node and lane."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

from compozy.engine.events import (
    CallFailed,
    CallFinished,
    Event,
    RequestAnswered,
    RequestCanceled,
    RequestUnanswered,
)
from support.reference.scope import Scope
from support.reference.strategies import is_met
from support.reference.structure import Structure
from support.reference.terms import NEVER, Cell, Decision, Expression, Lane, Place, UndecidedError, lets_on


class Cells(Structure):
    """The cells of a run after some events. Each is worked out from them alone."""

    def __init__(self, graph: Mapping[str, Any], inputs: Mapping[str, Any], events: Sequence[Event]) -> None:
        super().__init__(graph)
        self.inputs = inputs
        self.events = list(enumerate(events, start=1))
        for name in ("start", "cell", "lanes", "lane", "lane_begin", "decision"):
            # Only so that it does not take for ever: nothing in here changes.
            setattr(self, name, cache(getattr(self, name)))

    # When a node starts.

    def start(self, node: str, place: Place) -> tuple[str, float]:
        """Whether a node runs, is skipped, or is still open; and when that is decided.

        A node with a forbidden edge is skipped at once. Else it is decided when every node that it comes after has
        ended: it runs where one edge is live or there is none, else it is skipped.
        """
        begin = self.lane_begin(place)
        edges = [self.edge(source, node, place) for source in self.sources(node)]
        forbidden = [at for says, at in edges if says == "forbidden"]
        if forbidden and begin < NEVER:
            return "skip", max(begin, min(forbidden))
        awaited = [self.cell(source, place[: len(self.around(source))]) for source in self.awaited(node)]
        decided = max([begin, *(at for _, at in edges), *(cell.ended for cell in awaited if lets_on(cell))])
        if decided == NEVER or not all(lets_on(cell) for cell in awaited):
            return "open", NEVER
        return ("run" if not edges or any(says == "live" for says, _ in edges) else "skip"), decided

    def edge(self, source: str, target: str, place: Place) -> tuple[str, float]:
        """What an edge says, and since when. The edges from a fan-out into its own lanes are live."""
        if source in self.around(target):
            return "live", self.lane_begin(place)
        cell = self.cell(source, place[: len(self.around(source))])
        if not lets_on(cell):
            return "undecided", NEVER
        return self.says(source, cell, target), cell.ended

    def says(self, source: str, cell: Cell, target: str) -> str:
        """What the edge from a node that has ended says."""
        node = self.nodes[source]
        if cell.status == "Skipped":
            return "dead"
        if cell.diverted:
            # A way taken for want of an answer or after a failure forbids all others, also where they join.
            return "live" if cell.route == target else "forbidden"
        if cell.route is not None:
            return "live" if cell.route == target else "dead"
        if node["kind"] == "route" or (node["kind"] == "branch" and cell.output == {"taken": False}):
            # A route without a way could not be decided, and that was let pass.
            return "dead"
        # What is there for want of a result is skipped where there is one, unless it is the only way on (page).
        others = {node.get("error_route"), node.get("expires_route")}
        if target in others and any(other not in others for other in self.targets(source)):
            return "dead"
        return "live"

    # What a node comes to.

    def cell(self, node: str, place: Place) -> Cell:
        """What becomes of a node, were its lane to go on for ever."""
        says, at = self.start(node, place)
        if says == "open":
            return Cell()
        if says == "skip":
            return Cell(at, at, "Skipped")
        kind = getattr(self, "_" + self.nodes[node]["kind"].replace("-", "_"))
        try:
            return self._absorbed(node, kind(node, place, at))
        except UndecidedError as error:
            return self._absorbed(node, Cell(at, at, "Failed", reason=str(error)))

    def _absorbed(self, node: str, cell: Cell) -> Cell:
        """`on_error`: a failure leaves a null output, and leads along `route` or on to all."""
        route, allow_fail = self.nodes[node].get("error_route"), self.nodes[node].get("allow_fail")
        if cell.status != "Failed" or not (route or allow_fail):
            return cell
        return replace(cell, status="Succeeded", output=None, route=route, diverted=route is not None)

    def _first(self, node: str, place: Place, at: float, kinds: tuple[type, ...]) -> tuple[float, Any]:
        """The first event for a node after it has begun, and its number."""
        path = self.path(node, place)
        found = ((n, e) for n, e in self.events if n > at and isinstance(e, kinds) and e.node == path)
        return next(found, (NEVER, None))

    def _ask(self, node: str, place: Place, at: float) -> Cell:
        """An answer is the output. Without one: `expires.route`, then the default, then a failure (page)."""
        number, event = self._first(node, place, at, (RequestAnswered, RequestUnanswered, RequestCanceled))
        route, default = self.nodes[node].get("expires_route"), self.nodes[node].get("default")
        match event:
            case None:
                return Cell(at)
            case RequestAnswered():
                return Cell(at, number, "Succeeded", event.payload)
            case RequestCanceled():
                return Cell(at, number, "Canceled", reason="request_canceled")
        if route is not None:
            return Cell(at, number, "Succeeded", None, route, diverted=True)
        if default is not None:
            return Cell(at, number, "Succeeded", default)
        reason = "declined" if event.reason == "declined" else "unavailable"
        return Cell(at, number, "Failed", reason=f"request_{reason}")

    def _tool(self, node: str, place: Place, at: float) -> Cell:
        """The result of the call, or its failure."""
        number, event = self._first(node, place, at, (CallFinished, CallFailed))
        match event:
            case None:
                return Cell(at)
            case CallFinished():
                return Cell(at, number, "Succeeded", event.output)
        return Cell(at, number, "Failed", reason=event.reason)

    def _transform(self, node: str, place: Place, at: float) -> Cell:
        values, failure = self.nodes[node]["values"], "action_materialization_failed"
        output = {key: self.value(value, node, place, failure) for key, value in values.items()}
        return Cell(at, at, "Succeeded", output)

    def _route(self, node: str, place: Place, at: float) -> Cell:
        """The first condition that holds; an error never chooses the default."""
        for condition, target in self.nodes[node]["routes"]:
            if self.value(condition, node, place):
                output = {"to": target, "cause": "matched_when", "matched_when": condition.text}
                return Cell(at, at, "Succeeded", output, target)
        target = self.nodes[node]["default"]
        return Cell(at, at, "Succeeded", {"to": target, "cause": "default"}, target)

    def _branch(self, node: str, place: Place, at: float) -> Cell:
        try:
            taken = self.value(self.nodes[node]["condition"], node, place)
        except UndecidedError as error:
            if not self.nodes[node]["exits"]:
                raise
            return Cell(at, at, "Stopped", reason=str(error), phase="Succeeded")
        return Cell(at, at, "Succeeded", {"taken": taken})

    def _fan_out(self, node: str, place: Place, at: float) -> Cell:
        """Ends when it is decided. Without a collect it is itself what fails where its strategy is not met."""
        if len(self._kept(node, place)) > self.nodes[node]["max_fan_out"]:
            return Cell(at, at, "Stopped", reason="fan_out_bound_exceeded", phase="Failed")
        lanes, decision = self.lanes(node, place), self.decision(node, place)
        if decision.at == NEVER:
            return Cell(at)
        if not decision.met and not any(other.get("of") == node for other in self.nodes.values()):
            return Cell(at, decision.at, "Failed", reason="fan_out_failed")
        return Cell(at, decision.at, "Succeeded", {"count": len(lanes), "indexes": list(lanes)})

    def _collect(self, node: str, place: Place, at: float) -> Cell:
        """The coverage; of a race the value of the lane that has won; a failure where the strategy is not met."""
        fan_out = self.nodes[node]["of"]
        total, decision = len(self.lanes(fan_out, place)), self.decision(fan_out, place)
        if not decision.met:
            return Cell(at, at, "Failed", reason="fan_out_failed")
        if self.nodes[fan_out]["strategy"][0] == "race" and total:
            return Cell(at, at, "Succeeded", self._won(node, (*place, (fan_out, decision.winner))))
        coverage = {
            "total": total,
            "succeeded": decision.succeeded,
            "failed": decision.failed,
            "canceled": total - decision.succeeded - decision.failed,
            "coverage_rate": round(decision.succeeded / total, 2) if total else 0,
            "partial": decision.partial,
        }
        return Cell(at, at, "Succeeded", coverage)

    def _won(self, collect: str, lane: Place) -> Any:
        """The output of the first direct dependency of the collect, in the order of the edges, that succeeded."""
        joined = [
            source for source, target in self.edges if target == collect and source in self.body(lane[-1][0])
        ]
        cells = [self.cell(source, lane) for source in joined]
        return next((cell.output for cell in cells if cell.status == "Succeeded"), None)

    # Lanes.

    def _kept(self, fan_out: str, place: Place) -> list[tuple[int, Any]]:
        """The elements that the filter keeps, each with its index in the collection."""
        node = self.nodes[fan_out]
        collection = self.value(node["collection"], fan_out, place, "action_materialization_failed")
        if not isinstance(collection, list):
            raise UndecidedError("collection_not_a_list")
        keep = node["filter"]
        return [
            (index, item)
            for index, item in enumerate(collection)
            if keep is None or self.value(keep, fan_out, place, item=item, index=index)
        ]

    def lanes(self, fan_out: str, place: Place) -> dict[int, Any]:
        """`item` of each lane, by the source index of its first element. A batch of more than one is a list."""
        if self.start(fan_out, place)[0] != "run":
            return {}
        kept, size = self._kept(fan_out, place), self.nodes[fan_out]["batch_size"]
        if len(kept) > self.nodes[fan_out]["max_fan_out"]:
            return {}
        batches = [kept[first : first + size] for first in range(0, len(kept), size)]
        return {batch[0][0]: batch[0][1] if size == 1 else [item for _, item in batch] for batch in batches}

    def lane_begin(self, place: Place) -> float:
        """When a lane opens: in order, and as soon as fewer than `max_parallel` of those before it are open.

        A lane that waits for a person holds its slot. What stands in no lane begins with the run.
        """
        if not place:
            return 0
        (fan_out, index), outer = place[-1], place[:-1]
        order, slots = list(self.lanes(fan_out, outer)), self.nodes[fan_out]["max_parallel"]
        position = order.index(index)
        if position < slots:
            return self.start(fan_out, outer)[1]
        return sorted(self.lane((*outer, (fan_out, before))).ended for before in order[:position])[
            position - slots
        ]

    def lane(self, place: Place) -> Lane:
        """A lane fails with the first of its nodes, and has succeeded when all of them have ended."""
        cells = [self.cell(node, place) for node in self.body(place[-1][0])]
        failed = [cell.ended for cell in cells if cell.status in ("Failed", "Canceled")]
        if failed:
            return Lane(min(failed), succeeded=False)
        return Lane(max(cell.ended if lets_on(cell) else NEVER for cell in cells), succeeded=True)

    def decision(self, fan_out: str, place: Place) -> Decision:
        """The first moment at which what has become of the lanes is enough for the strategy."""
        lanes = {index: self.lane((*place, (fan_out, index))) for index in self.lanes(fan_out, place)}
        if not lanes:
            return Decision(self.start(fan_out, place)[1], True, False, 0, 0, None)
        for at in sorted({lane.ended for lane in lanes.values()} - {NEVER}):
            won = [index for index, lane in lanes.items() if lane.ended <= at and lane.succeeded]
            lost = [index for index, lane in lanes.items() if lane.ended <= at and not lane.succeeded]
            met = is_met(self.nodes[fan_out]["strategy"], len(lanes), len(won), len(lost))
            if met is not None:
                partial = met and self.nodes[fan_out]["strategy"][0] == "best_effort" and len(won) < len(lanes)
                return Decision(at, met, partial, len(won), len(lost), won[0] if won else None)
        return Decision(NEVER, False, False, 0, 0, None)

    def within_lane(self, cell: Cell, place: Place) -> Cell:
        """What becomes of a cell that is open when its lane fails, or when the fan-out is decided without it.

        What is under way is canceled; what has not begun never does, and has no cell.
        """
        (fan_out, _), outer = place[-1], place[:-1]
        lane, decided = self.lane(place), self.decision(fan_out, outer).at
        if lane.ended <= decided:
            over, has_begun = lane.ended, cell.begun <= lane.ended
        else:
            over, has_begun = decided, cell.begun < decided
        if over == NEVER or (has_begun and cell.ended <= over):
            return cell
        return replace(cell, ended=over, status="Canceled", output=None, route=None) if has_begun else Cell()

    def seen(self, node: str, place: Place) -> Cell:
        """What has become of a cell, with regard to all lanes around it."""
        cell = self.cell(node, place)
        for depth in range(len(place), 0, -1):
            cell = self.within_lane(cell, place[:depth])
        return cell

    # Expressions.

    def value(self, expression: Any, node: str, place: Place, failure: str = "", **bound: Any) -> Any:
        """The value of an expression at a node; anything else stands for itself."""
        if not isinstance(expression, Expression):
            return expression
        try:
            return expression.value(Scope(self, self.around(node), place, bound))
        except (TypeError, KeyError, IndexError):
            raise UndecidedError(failure or "predicate_evaluation_failed") from None
