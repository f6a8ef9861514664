"""The time of nodes that have blocks of their own: it stands still while people are waited for inside of them.

What such a node waits for is counted on its container as questions open and close, so that a turn costs what it
touches. Plans in which nothing of the kind is timed pay nothing.
"""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

from compozy.engine.failing import time_is_up_at
from compozy.engine.frames import AnyContainer, Frame
from compozy.engine.state import Cell
from compozy.engine.times import parse_timestamp, timestamp
from compozy.language.compiled import Node

if TYPE_CHECKING:
    from compozy.engine.turn import Turn


class Clocks:
    """Starts and stops the time of nodes in one turn."""

    def __init__(self, turn: "Turn") -> None:
        self._turn = turn
        self.since = turn.now
        """From when on time stands still for what is found to wait now, RFC 3339."""
        self._touched: dict[str, AnyContainer] = {}
        """By path: the timed containers for which what they wait for has changed."""

    def begun(self, path: str, node: Node) -> Cell:
        """The cell of a node whose block begins. What a load knows of its time stands."""
        turn, mark = self._turn, self._turn.marks.pop(path)
        if not node.policy.is_timed:
            return Cell("Running")
        started = mark.started_at if mark is not None and mark.started_at is not None else turn.now
        if mark is not None and (mark.until is not None or mark.left is not None):
            return Cell("Running", started_at=started, until=mark.until, left=mark.left)
        return Cell("Running", started_at=started, until=time_is_up_at(node.policy, started, turn.moment))

    def opened(self, path: str) -> None:
        """A node's block has begun: as yet nobody is waited for in it."""
        container = self._turn.blocks.containers.get(path)
        if container is not None:
            self._touched[path] = container

    def waits(self, path: str, by: int) -> None:
        """At a place in the run people are waited for, or no more (`by` is 1 or -1)."""
        if self._turn.plan.has_timed_blocks:
            for container in self._around(path):
                container.waiting += by
                self._touched[container.path] = container

    def is_overdue(self, path: str) -> bool:
        """Whether the time of something around a place seems to be up."""
        cells = (self._turn.cells.get(container.path) for container in self._around(path))
        return any(cell is not None and cell.until is not None and cell.until <= self._turn.now for cell in cells)

    def _around(self, path: str) -> Iterator[AnyContainer]:
        """The containers that a place is in, from the innermost."""
        blocks = self._turn.blocks
        place = blocks.place_of(path)
        frame: Frame | None = place[0] if place is not None else None
        while frame is not None and frame.owner is not None:
            container = blocks.containers.get(frame.owner)
            if container is None:
                return
            yield container
            frame = blocks.frames.get(container.frame)

    def settle(self) -> None:
        """Stop the time of what waits for people now, and let that of what does no more go on."""
        for path, container in self._touched.items():
            cell = self._turn.cells.get(path)
            if cell is None or cell.is_final or self._turn.blocks.containers.get(path) is None:
                continue
            if container.waiting and cell.until is not None:
                left = (parse_timestamp(cell.until) - parse_timestamp(self.since)).total_seconds()
                self._turn.put(path, replace(cell, until=None, left=max(left, 0.0)))
            elif not container.waiting and cell.left is not None:
                until = timestamp(self._turn.moment + timedelta(seconds=cell.left))
                self._turn.put(path, replace(cell, until=until, left=None))
        self._touched.clear()
        self.since = self._turn.now
