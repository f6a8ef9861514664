"""Fan-outs: lanes are begun, ended and counted, and the strategy decides when it is enough."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from compozy.engine.frames import FanOut, Frame
from compozy.engine.kinds.fan_out import record_key, unmet, within
from compozy.engine.outcomes import LanesOpened, Succeeded
from compozy.engine.state import Cell
from compozy.engine.strategies import Count, Settlement, coverage, settle
from compozy.language.compiled import CollectSpec, FanOutSpec, Node, Table

if TYPE_CHECKING:
    from compozy.engine.blocks import Blocks
    from compozy.engine.turn import Turn

LOST = "strategy_canceled"
"""Reason of what is canceled because the strategy has been decided without it."""


class FanOuts:
    """The fan-outs that are under way."""

    def __init__(self, turn: "Turn", blocks: "Blocks") -> None:
        self._turn = turn
        self._blocks = blocks

    def open(self, frame: Frame, node: Node, outcome: LanesOpened) -> None:
        """Begin the lanes of a fan-out."""
        path, spec = frame.path_of(node.id), outcome.spec
        fan_out = FanOut(path, frame.path, node.id, spec, outcome.lanes)
        self._blocks.containers[path] = fan_out
        self._go_on(fan_out)

    def _go_on(self, fan_out: FanOut) -> None:
        """Settle, where what is known is enough; else begin as many lanes as may be open."""
        while True:
            settlement = settle(fan_out.spec.strategy, self._count(fan_out))
            if settlement is not None:
                self._settled(fan_out, settlement)
                return
            if fan_out.following == len(fan_out.lanes) or len(fan_out.active) >= fan_out.spec.max_parallel:
                return
            index, item = fan_out.lanes[fan_out.following]
            fan_out.following += 1
            cell = self._turn.cells.get(fan_out.lane_path(index))
            if cell is not None and cell.is_final:
                self._take(fan_out, cell)
            else:
                fan_out.active = fan_out.active.insert(index)
                self._begin_lane(fan_out, index, item)

    def _begin_lane(self, fan_out: FanOut, index: int, item: Any) -> None:
        owner = self._blocks.frames[fan_out.frame]
        scope = within(owner.scope, fan_out.spec, index, item)
        path = fan_out.lane_path(index)
        self._blocks.begin(
            Frame(path, fan_out.spec.body, owner.plan, scope, None, fan_out.path, index, owner.plans)
        )

    @staticmethod
    def _count(fan_out: FanOut) -> Count:
        return Count(len(fan_out.lanes), fan_out.succeeded, fan_out.failed)

    def _take(self, fan_out: FanOut, cell: Cell) -> None:
        if cell.status == "Succeeded":
            fan_out.succeeded += 1
        else:
            fan_out.failed += 1

    def complete(self, fan_out: FanOut, frame: Frame) -> None:
        """Every node of a lane has ended."""
        self._end_lane(fan_out, frame, Cell("Succeeded", completed_at=self._turn.now))

    def fail(self, fan_out: FanOut, frame: Frame, node: Node, reason: str, message: str) -> None:
        """A node of a lane has failed: the lane has, and what else is under way in it is canceled."""
        told = f"item {frame.lane} node {node.id} ({node.spec.kind}): {message}"
        self._blocks.cancel(frame, "lane_failed")
        self._end_lane(fan_out, frame, Cell("Failed", None, reason, told, None, self._turn.now))

    def _end_lane(self, fan_out: FanOut, frame: Frame, cell: Cell) -> None:
        index = frame.lane or 0
        self._turn.put(frame.path, cell)
        self._blocks.frames.discard(frame.path)
        fan_out.active = fan_out.active.discard(index)
        self._turn.changed.add(fan_out.path)
        self._take(fan_out, cell)
        self._go_on(fan_out)

    def give_up(self, fan_out: FanOut, reason: str) -> None:
        """Cancel the lanes that are under way; no other begins. What became of them all is kept on the cell."""
        for index in sorted(fan_out.active):
            lane = self._blocks.frames[fan_out.lane_path(index)]
            self._blocks.cancel(lane, reason)
            self._turn.put(lane.path, Cell("Canceled", None, reason, None, None, self._turn.now))
        self._blocks.containers.discard(fan_out.path)
        cell = self._turn.cells[fan_out.path]
        self._turn.put(fan_out.path, replace(cell, lanes=self._count(fan_out)))

    def _settled(self, fan_out: FanOut, settlement: Settlement) -> None:
        self.give_up(fan_out, LOST)
        indexes = [index for index, _ in fan_out.lanes]
        frame = self._blocks.frames[fan_out.frame]
        node = frame.block.nodes[fan_out.node]
        dependents = (frame.block.nodes[name] for name in frame.block.dependents[node.id])
        joined = any(isinstance(dependent.spec, CollectSpec) for dependent in dependents)
        if settlement.met or joined:
            self._turn.take(frame, node, Succeeded({"count": len(indexes), "indexes": indexes}))
        else:
            self._turn.take(frame, node, unmet(self._record(fan_out.path, fan_out.spec, indexes)))

    def _record(self, path: str, spec: FanOutSpec, indexes: list[int]) -> dict[str, Any]:
        """What became of the lanes of a fan-out that is decided: it follows from how each of them ended."""
        lanes = {index: cell for index in indexes if (cell := self._turn.cells.get(f"{path}.{index}")) is not None}
        won = [index for index, cell in lanes.items() if cell.status == "Succeeded"]
        failed = [cell for cell in lanes.values() if cell.status == "Failed"]
        count = Count(len(indexes), len(won), len(failed))
        settlement = settle(spec.strategy, count) or Settlement(met=False)
        raced = spec.strategy.kind == "race" and bool(won)
        return {
            **coverage(count, settlement),
            "met": settlement.met,
            "failure": failed[0].message if failed else None,
            "won": raced,
            "value": self._value(f"{path}.{won[0]}", spec) if raced else None,
        }

    def _begun(self, path: str, cell: Cell) -> list[int]:
        """The source indexes of the lanes that have begun, of a fan-out that has failed."""
        if cell.lanes is None:
            return []
        suffixes = (found.removeprefix(f"{path}.") for found in self._turn.cells if found.startswith(f"{path}."))
        return sorted(int(suffix) for suffix in suffixes if suffix.isdecimal())

    def _value(self, lane: str, spec: FanOutSpec) -> Any:
        """What the lane that won has found."""
        for node_id in spec.results:
            cell = self._turn.cells.get(f"{lane}/{node_id}")
            if cell is not None and cell.status == "Succeeded":
                return cell.output
        return None

    def recorded(self, frame: Frame, node: Node, spec: FanOutSpec, cell: Cell) -> Table:
        """The scope that also knows of a fan-out's body: of each node the output in item 0, and all of them.

        What became of the lanes is there too, for the collect alone.
        """
        path, record, scope = frame.path_of(node.id), frame.plan.dialect.record, frame.scope
        indexes = cell.output["indexes"] if cell.output is not None else self._begun(path, cell)
        told = self._record(path, spec, indexes)
        if cell.output is None and cell.lanes is not None:
            # Its failure was let pass. That does not make a join of what it has not done.
            told |= {**coverage(cell.lanes, Settlement(met=False)), "met": False, "won": False}
        scope = scope.insert(record_key(node.id), told)
        for body_id in spec.body.nodes:
            items: list[dict[str, Any]] = []
            for index in indexes:
                found = self._turn.cells.get(f"{path}.{index}/{body_id}")
                status, output = (found.status, found.output) if found is not None else ("Canceled", None)
                items.append({"index": index, "status": status.lower(), "output": output})
            first = next((item for item in items[:1] if item["index"] == 0), None)
            status, output = ("skipped", None) if first is None else (first["status"], first["output"])
            scope = record(scope, body_id, status, output, items)
        return scope
