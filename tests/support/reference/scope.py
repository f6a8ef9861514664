"""What expressions see."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from support.reference.terms import NEVER, Cell, Place

if TYPE_CHECKING:
    from support.reference.cells import Cells


class Scope:
    """What an expression sees."""

    def __init__(self, world: Cells, around: tuple[str, ...], place: Place, bound: Mapping[str, Any]) -> None:
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
            cell = world.within_lane(world.cell(node, inner), inner)
            status = "canceled" if cell.begun == NEVER else cell.status.lower()
            found.append({"index": index, "status": status, "output": cell.output})
        return found

    def _shares_lane(self, node: str) -> bool:
        around = self._world.around(node)
        return self._around[: len(around)] == around

    def _cell(self, node: str) -> Cell:
        return self._world.cell(node, self._place[: len(self._world.around(node))])
