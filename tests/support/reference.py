"""A second, naive reading of the graph dialect, to hold the engine against.

It knows no turns, queues or states. What has happened is a list of events, numbered from 1, and every cell is a
plain function of that list: when it began, when it ended, and as what. Times are numbers of events (0 is the start
of the run, `NEVER` what has not happened), so "as soon as" and "first" are comparisons of numbers. Whatever it is
asked, it works out from the beginning.

A graph is a plain description, `{"nodes": {id: {...}}, "edges": [(from, to), ...]}`. Every node has a `kind` and
`within`, the fan-out in whose lanes it stands, and may have `error_route` and `allow_fail`; the rest is read where
the kind is. Conditions, collections and values are `Expression`s: the text for the plan, and what it means.

Rules marked (page) are those of the human-requests page; the others are those of the graph dialect's reference.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, NamedTuple

from compozy.engine.events import (
    CallFailed,
    CallFinished,
    Event,
    RequestAnswered,
    RequestCanceled,
    RequestUnanswered,
    RunCanceled,
)

NEVER = math.inf
Place = tuple[tuple[str, int], ...]
"""The lanes around a cell, outermost first: fan-out and source index."""


@dataclass(frozen=True)
class Expression:
    """The text of an expression, and what it means: a function of a `Scope` that raises where the text is an error."""

    text: str
    value: Callable[[Scope], Any]

    def __repr__(self) -> str:
        return f"<{self.text}>"


class UndecidedError(Exception):
    """An expression has no value; the text is the code with which its node fails."""


@dataclass(frozen=True)
class Cell:
    """What becomes of a node, in one lane or in none."""

    begun: float = NEVER
    ended: float = NEVER
    status: str = "Open"
    """How it has ended. `Stopped` is a cell that ends the whole run."""
    output: Any = None
    route: str | None = None
    reason: str | None = None
    diverted: bool = False
    """Whether `route` was taken for want of an answer or after a failure."""
    phase: str | None = None
    """Of `Stopped`: how the run ends."""


class Lane(NamedTuple):
    """What becomes of a lane by itself."""

    ended: float
    succeeded: bool


class Decision(NamedTuple):
    """When and how a fan-out is decided."""

    at: float
    met: bool
    partial: bool
    succeeded: int
    failed: int
    winner: int | None


class Shown(NamedTuple):
    """A cell as a status shows it."""

    status: str
    output: Any = None
    route: str | None = None


class End(NamedTuple):
    """When a run ends, the ways in which it may, and the nodes that end it."""

    at: float
    ways: set[tuple[str, str | None]]
    """Phase and reason. Several where one event ends the run in several places at once."""
    causes: set[str]
    """Paths."""
    early: bool
    """Whether it ends before every node has."""


class World:
    """All that is so after some events."""

    def __init__(self, graph: Mapping[str, Any], inputs: Mapping[str, Any], events: Sequence[Event]) -> None:
        self.nodes: Mapping[str, Mapping[str, Any]] = graph["nodes"]
        self.edges: Sequence[tuple[str, str]] = graph["edges"]
        self.inputs = inputs
        self.events = list(enumerate(events, start=1))
        for name in ("around", "start", "cell", "lanes", "lane", "lane_begin", "decision"):
            setattr(self, name, cache(getattr(self, name)))

    # The graph.

    def around(self, node: str) -> tuple[str, ...]:
        """The fan-outs that a node stands in, outermost first."""
        outer = self.nodes[node]["within"]
        return () if outer is None else (*self.around(outer), outer)

    def targets(self, node: str) -> list[str]:
        """The nodes that come directly after one."""
        return [target for source, target in self.edges if source == node]

    def sources(self, node: str) -> list[str]:
        """What a node comes directly after. A collect comes after its fan-out instead of what is in its lanes."""
        found = [source for source, target in self.edges if target == node]
        own = self.nodes[node].get("of")
        return found if own is None else [own, *(source for source in found if own not in self.around(source))]

    def awaited(self, node: str) -> set[str]:
        """The nodes outside that the body of a fan-out comes after: it waits for them (`awaits`)."""
        inside = [inner for inner in self.nodes if node in self.around(inner)]
        needed = {(source, inner) for inner in inside for source in self.sources(inner)}
        return {
            source
            for source, inner in needed
            if source not in self.around(inner) and node not in self.around(source)
        }

    def path(self, node: str, place: Place) -> str:
        """The path of a cell, such as `services.3/choose`."""
        return "/".join([*(f"{fan_out}.{index}" for fan_out, index in place), node])

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
        decided = max([begin, *(at for _, at in edges), *(cell.ended for cell in awaited if _lets_on(cell))])
        if decided == NEVER or not all(_lets_on(cell) for cell in awaited):
            return "open", NEVER
        return ("run" if not edges or any(says == "live" for says, _ in edges) else "skip"), decided

    def edge(self, source: str, target: str, place: Place) -> tuple[str, float]:
        """What an edge says, and since when. The edges from a fan-out into its own lanes are live."""
        if source in self.around(target):
            return "live", self.lane_begin(place)
        cell = self.cell(source, place[: len(self.around(source))])
        if not _lets_on(cell):
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
        if node["kind"] == "branch" and cell.output == {"taken": False}:
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

    def body(self, fan_out: str) -> list[str]:
        """The nodes that stand in the lanes of a fan-out, and in none further inside."""
        return [node for node, data in self.nodes.items() if data["within"] == fan_out]

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
        return Lane(max(cell.ended if _lets_on(cell) else NEVER for cell in cells), succeeded=True)

    def decision(self, fan_out: str, place: Place) -> Decision:
        """The first moment at which what has become of the lanes is enough for the strategy."""
        lanes = {index: self.lane((*place, (fan_out, index))) for index in self.lanes(fan_out, place)}
        if not lanes:
            return Decision(self.start(fan_out, place)[1], True, False, 0, 0, None)
        for at in sorted({lane.ended for lane in lanes.values()} - {NEVER}):
            won = [index for index, lane in lanes.items() if lane.ended <= at and lane.succeeded]
            lost = [index for index, lane in lanes.items() if lane.ended <= at and not lane.succeeded]
            met = _is_met(self.nodes[fan_out]["strategy"], len(lanes), len(won), len(lost))
            if met is not None:
                partial = met and self.nodes[fan_out]["strategy"][0] == "best_effort" and len(won) < len(lanes)
                return Decision(at, met, partial, len(won), len(lost), won[0] if won else None)
        return Decision(NEVER, False, False, 0, 0, None)

    def _within_lane(self, cell: Cell, place: Place) -> Cell:
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
            cell = self._within_lane(cell, place[:depth])
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

    # The whole run.

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
        end, shown = self.end(), {}
        own = {getattr(event, "node", None) for number, event in self.events if number == end.at}
        left_at_the_top = Shown("Canceled" if ("Canceled", "run_canceled") in end.ways else "Skipped")
        for path, (node, cell) in self.all_cells().items():
            if not end.early:
                shown[path] = [_shown(self.nodes[node], cell)]
                continue
            exact = path in own or (len(end.causes) == 1 and path in end.causes)
            left = (
                None
                if self.around(node)
                else Shown("Canceled" if ("Canceled", "run_canceled") in end.ways else "Skipped")
            )
            shown[path] = _at_the_end(_shown(self.nodes[node], cell), cell, end.at, left, exact)
        return shown

    def lane_results(self) -> dict[str, list[Shown | None]]:
        """By the path of a lane, such as `services.3`: how it has ended by itself, where it has."""
        end, found = self.end(), {}
        for fan_out, data in self.nodes.items():
            if data["kind"] != "fan-out":
                continue
            for outer in self.places(self.around(fan_out)):
                for place in self.places((fan_out,), outer):
                    lane = self.lane(place)
                    over = min(
                        self.decision(fan_out, outer).at, *(self._over(outer[:n]) for n in range(len(outer) + 1))
                    )
                    if lane.ended <= min(over, end.at) and lane.ended < NEVER:
                        result = Shown("Succeeded" if lane.succeeded else "Failed")
                        tie = end.early and lane.ended == end.at
                        found["/".join(f"{name}.{index}" for name, index in place)] = [result, None][: 1 + tie]
        return found

    def _over(self, place: Place) -> float:
        return NEVER if not place else min(self.lane(place).ended, self.decision(place[-1][0], place[:-1]).at)


class Scope:
    """What an expression sees."""

    def __init__(self, world: World, around: tuple[str, ...], place: Place, bound: Mapping[str, Any]) -> None:
        self._world, self._around, self._place, self._bound = world, around, place, bound
        self.inputs = world.inputs

    @property
    def item(self) -> Any:
        """The element of the lane, or all those of its batch; in a filter always the element."""
        fan_out, index = self._place[-1] if "item" not in self._bound else ("", 0)
        return self._bound["item"] if not fan_out else self._world.lanes(fan_out, self._place[:-1])[index]

    @property
    def index(self) -> int:
        """The source index of the lane, or of the element in a filter."""
        return self._bound["index"] if "index" in self._bound else self._place[-1][1]

    def status(self, node: str) -> str:
        """`nodes.<id>.status`."""
        return self._cell(node).status.lower()

    def output(self, node: str) -> Any:
        """`nodes.<id>.output`: null for what was skipped. Of a body, outside of it: that of item 0."""
        if self._shares_lane(node):
            return self._cell(node).output
        return next((item["output"] for item in self.items(node) if item["index"] == 0), None)

    def items(self, node: str) -> list[dict[str, Any]]:
        """`nodes.<id>.items`: the cells of a node of a body, in all lanes."""
        world, (*outer, fan_out) = self._world, self._world.around(node)
        place = self._place[: len(outer)]
        found = []
        for index in world.lanes(fan_out, place):
            inner = (*place, (fan_out, index))
            cell = world._within_lane(world.cell(node, inner), inner)
            status = "canceled" if cell.begun == NEVER else cell.status.lower()
            found.append({"index": index, "status": status, "output": cell.output})
        return found

    def _shares_lane(self, node: str) -> bool:
        around = self._world.around(node)
        return self._around[: len(around)] == around

    def _cell(self, node: str) -> Cell:
        return self._world.cell(node, self._place[: len(self._world.around(node))])


def _lets_on(cell: Cell) -> bool:
    """Whether others may go on after a cell: it has ended, and has not taken its lane or run with it."""
    return cell.status in ("Succeeded", "Skipped")


def _is_met(strategy: tuple[str, Any], total: int, succeeded: int, failed: int) -> bool | None:
    """Whether a strategy is met; None while that is open.

    wait_all: all have ended, and succeeded. fail_fast: the first failure decides. race: the first success decides.
    best_effort: as soon as the threshold has succeeded, or not met when all have ended below it.
    """
    kind, threshold = strategy
    is_over = succeeded + failed == total
    if kind == "best_effort":
        return True if succeeded >= _required(threshold, total) else (False if is_over else None)
    if kind == "race":
        return True if succeeded else (False if is_over else None)
    if kind == "fail_fast" and failed:
        return False
    return failed == 0 if is_over else None


def _required(threshold: Any, total: int) -> int:
    """A count, or the share in percent rounded up; by default all."""
    if isinstance(threshold, int):
        return threshold
    return total if threshold is None else math.ceil(total * int(threshold.removesuffix("%")) / 100)


def _shown(node: Mapping[str, Any], cell: Cell) -> Shown | None:
    if cell.begun == NEVER:
        return None
    if cell.ended == NEVER:
        return Shown("Waiting" if node["kind"] == "ask" else "Running")
    return Shown(cell.phase if cell.phase is not None else cell.status, cell.output, cell.route)


def _at_the_end(
    shown: Shown | None, cell: Cell, end: float, left: Shown | None, exact: bool
) -> list[Shown | None]:
    """What a run that ends early makes of a cell: what is under way is canceled, what has not begun is skipped."""
    if cell.ended < end or (exact and cell.ended == end):
        return [shown]
    ways: list[Shown | None] = [Shown("Canceled")] if cell.begun <= end and cell.begun < cell.ended else []
    ways += [shown] if cell.ended == end else []
    return ways + ([left] if cell.begun >= end else [])
