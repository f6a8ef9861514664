"""What templates and conditions may name at one place of a plan, and what is declared of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from compozy.language.graph.edges import Edges
from compozy.language.graph.layout import Layout
from compozy.language.graph.nesting import Lanes
from compozy.language.graph.shapes import LIST, NOTHING, NUMBER, TEXT, Absent, Members, Shape, nullable
from compozy.language.problems import Problem

if TYPE_CHECKING:
    from compozy.language.compiled import Block, NodeSpec

EMPTY_ROOTS: Final = ("trigger", "event", "previous", "best", "progress")
"""Roots of the published language that hold nothing here."""

ROOTS: Final = frozenset({"inputs", "nodes", "generation", *EMPTY_ROOTS})
"""What templates and conditions may name everywhere."""

LANE_ROOTS: Final = ("item", "index")
"""What they may name in the lanes of a fan-out, and in its filter."""

_FIXED: Final[Mapping[str, Shape]] = {"generation": NUMBER, **dict.fromkeys(EMPTY_ROOTS, NOTHING)}


class UnresolvedError(Exception):
    """A path that leads nowhere."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


@dataclass(frozen=True, slots=True)
class Setting:
    """What holds for a whole plan."""

    inputs: Shape
    """The object of inputs; None where none are declared."""
    lane_names: frozenset[str]
    """Every further name that any fan-out gives to `item` or `index`."""
    max_parallel: int
    """How many lanes are open at a time where a fan-out does not say."""
    compile_body: Callable[[Mapping[str, Any], str, Place, list[Problem]], tuple[Block, Graph] | None]
    """Compiles the nodes and edges of a sub-loop."""


@dataclass(slots=True)
class Graph:
    """A graph while it is compiled: what its nodes are known to give out grows with them."""

    layout: Layout
    setting: Setting
    around: Place | None = None
    """Of the body of a sub-loop: where that stands."""
    outputs: dict[str, Shape] = field(default_factory=dict)
    """By node: what is declared of its output."""
    specs: dict[str, NodeSpec] = field(default_factory=dict)
    """By node: what it does."""
    bound: dict[str, Mapping[str, Shape]] = field(default_factory=dict)
    """By fan-out: what it binds in its lanes."""
    depth: int = 0
    """In how many sub-loops it stands."""

    @property
    def edges(self) -> Edges:
        """Its edges."""
        return self.layout.edges

    def at(self, node: str) -> Place:
        """The place of a node."""
        return Place(self, node, self.layout.lanes[node], self._bindings(self.layout.lanes[node]))

    def afterwards(self) -> Place:
        """The place after all nodes."""
        return Place(self, None, (), self._bindings(()))

    def _bindings(self, lanes: Lanes) -> Mapping[str, Shape]:
        around = self.around.bindings if self.around is not None else {}
        if not lanes:
            return around
        found = dict(around)
        for fan_out in lanes:
            found.update(self.bound.get(fan_out, {}))
        return found


@dataclass(frozen=True, slots=True)
class Place:
    """Where a template or a condition stands."""

    graph: Graph
    node: str | None
    """The node that it belongs to; None after all of them."""
    lanes: Lanes
    bindings: Mapping[str, Shape]
    """What the fan-outs around it bind."""

    def binding(self, names: Mapping[str, Shape]) -> Place:
        """The same place with further names."""
        return Place(self.graph, self.node, self.lanes, {**self.bindings, **names})

    def resolve(self, path: tuple[str, ...]) -> Shape:
        """What is declared of the value at a path from the root of the scope; None where nothing is.

        Raises UnresolvedError: `unknown_reference`, `unresolvable_path`, `item_outside_fanout`.
        """
        root = path[0]
        if root in self.bindings:
            return _follow(self.bindings[root], path, 1)
        if root == "nodes":
            return self._node_value(path)
        if root == "inputs":
            return self._input_value(path)
        if root in _FIXED:
            return _follow(_FIXED[root], path, 1)
        if root in LANE_ROOTS or root in self.graph.setting.lane_names:
            if not self._is_sound:
                return None
            message = f"`{root}` is there only in the lanes of a fan-out that binds it, and in its filter"
            raise UnresolvedError("item_outside_fanout", message)
        known = ", ".join(sorted({*ROOTS, *self.bindings}))
        raise UnresolvedError("unknown_reference", f"`{root}` is not known here; known: {known}")

    @property
    def _is_sound(self) -> bool:
        around = self.graph.around
        return self.graph.layout.is_sound and (around is None or around._is_sound)

    def _input_value(self, path: tuple[str, ...]) -> Shape:
        inputs = self.graph.setting.inputs
        if inputs is None or len(path) < 2:
            return inputs
        try:
            found = inputs.member(path[1])
        except Absent as absent:
            message = f"there is no input `{path[1]}`: `inputs` {absent}"
            raise UnresolvedError("unknown_reference", message) from None
        return _follow(found, path, 2)

    def _node_value(self, path: tuple[str, ...]) -> Shape:
        if len(path) < 2:
            return None
        place = self._place_of(path[1])
        if place is None:
            return None
        if place._lanes_away(path[1]) > 1:
            message = f"`{path[1]}` is in lanes within lanes; hand it on by a node between the two collects"
            raise UnresolvedError("unresolvable_path", message)
        output = place.graph.outputs.get(path[1])
        if len(path) > 3 and path[2] == "output":
            return _follow(output, path, 3)
        entry: dict[str, Shape] = {"output": nullable(output), "status": TEXT}
        if place._lanes_away(path[1]):
            entry["items"] = LIST
        return _follow(Members(entry), path, 2)

    def _place_of(self, name: str) -> Place | None:
        """Where a node is seen from: here, or where the sub-loop around stands. None where that is not known."""
        layout = self.graph.layout
        if name not in layout.bits:
            if self.graph.around is not None:
                return self.graph.around._place_of(name)
            raise UnresolvedError("unknown_reference", f"there is no node `{name}` here")
        if not layout.is_sound:
            return None
        if self.node is not None and (name in self.lanes or not layout.precedes(name, self.node)):
            raise UnresolvedError("unknown_reference", self._not_before(name))
        return self

    def _not_before(self, name: str) -> str:
        if name in self.lanes:
            return f"`{name}` has not ended while its lanes run; name `item`, or a node before it"
        known = self.graph.layout.names_before(self.node or "")
        return f"node `{name}` does not come before `{self.node}`; those that do: {known}"

    def _lanes_away(self, name: str) -> int:
        """In how many fan-outs a node runs that are not around this place: 0 in the same lane, or in none."""
        lanes = self.graph.layout.lanes[name]
        shared = sum(1 for one, other in zip(lanes, self.lanes, strict=False) if one == other)
        return len(lanes) - shared


def _follow(shape: Shape, path: tuple[str, ...], start: int) -> Shape:
    for position in range(start, len(path)):
        if shape is None:
            return None
        try:
            shape = shape.member(path[position])
        except Absent as absent:
            whole, here = ".".join(path), ".".join(path[:position])
            message = f"`{whole}` leads nowhere: `{here}` {absent}"
            raise UnresolvedError("unresolvable_path", message) from None
    return shape
