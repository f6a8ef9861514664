"""Blocks under way, and the nodes that wait for them.

A frame is one run of a block: the plan itself, a branch, the body of one element or lane, a plan that was
called. A container is a node whose result is made of the results of its frames.
"""

from __future__ import annotations

from collections import ChainMap
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from rpds import HashTrieMap, HashTrieSet

from compozy.language.compiled import Block, CompiledPlan, FanOutSpec, Scope, SubLoopSpec, Table


@dataclass(frozen=True, slots=True)
class Arrivals:
    """What the edges into a node say so far."""

    open: int
    """How many of the nodes that it comes after have not ended."""
    live: bool = False
    forbidden: bool = False


@dataclass(slots=True)
class Frame:
    """One run of a block. Paths of its nodes begin with its own."""

    path: str
    """Empty for the plan itself."""
    block: Block
    plan: CompiledPlan
    """The plan that the block belongs to."""
    scope: Table
    """What its own nodes have found, and what it binds."""
    outer: Scope | None = None
    """In steps: what the surrounding block had found when this one began; it does not change meanwhile."""
    owner: str | None = None
    """The path of the container that waits for it."""
    lane: int | None = None
    """Which element, in an iteration."""
    plans: tuple[str, ...] = ()
    """The plans that were called on the way, outermost first."""
    is_plan: bool = False
    """Whether the block is a whole plan."""
    ended: int = 0
    """How many of its nodes have ended."""
    executed: int = 0
    """Of a plan that was called: how many steps it has executed, those of its bodies too."""
    arrivals: HashTrieMap[str, Arrivals] = field(default_factory=HashTrieMap)
    """By node: what is known of the edges into it, once one of them is decided."""

    @property
    def view(self) -> Scope:
        """What templates and conditions of the block see."""
        return self.scope if self.outer is None else ChainMap(self.scope, self.outer)  # type: ignore[arg-type]

    def path_of(self, node_id: str) -> str:
        """The path of one of its nodes."""
        if not node_id:
            return self.path
        return f"{self.path}/{node_id}" if self.path else node_id

    def copied(self) -> Frame:
        """A frame that can go on without changing this one."""
        return replace(self)


@dataclass(slots=True)
class Container:
    """A step that waits for its frames."""

    path: str
    frame: str
    """The path of the frame that the node is in."""
    node: str
    """Its id there."""
    kind: Literal["branch", "map", "reduce", "filter", "plan"]
    label: str
    """`then`, `else` or `do`; for a plan its name."""
    block: Block
    items: list[Any] = field(default_factory=list)
    concurrency: int = 1
    verdict: bool = False
    reason: str | None = None
    following: int = 0
    """The next element to begin."""
    active: int = 0
    accumulator: Any = None
    floor: int = 0
    """The first element that may still put a question."""
    failed_lane: int | None = None
    waiting: int = 0
    failure: tuple[str, str] | None = None
    """Reason and message of the failed element with the lowest index."""

    def lane_path(self, index: int) -> str:
        """The path of one element."""
        return f"{self.path}/{self.label}.{index}"

    def copied(self) -> Container:
        """A container that can go on without changing this one."""
        return replace(self)


@dataclass(slots=True)
class FanOut:
    """A fan-out with its lanes."""

    path: str
    frame: str
    node: str
    spec: FanOutSpec
    lanes: list[tuple[int, Any]]
    """Source index and `item` of each lane, in order."""
    following: int = 0
    """The position of the next lane to begin."""
    active: HashTrieSet[int] = field(default_factory=HashTrieSet)
    """Source indexes of the lanes that are under way."""
    succeeded: int = 0
    failed: int = 0
    waiting: int = 0
    """How many questions inside of it wait for people; counted where the plan has timed blocks."""

    def lane_path(self, index: int) -> str:
        """The path of one lane."""
        return f"{self.path}.{index}"

    def copied(self) -> FanOut:
        """A fan-out that can go on without changing this one."""
        return replace(self)


@dataclass(slots=True)
class SubLoop:
    """A sub-loop with its body under way."""

    path: str
    frame: str
    node: str
    spec: SubLoopSpec
    iteration: int = 0
    waiting: int = 0

    def lane_path(self, index: int) -> str:
        """The path of one iteration; without a condition to stop by there is only one."""
        return self.path if self.spec.stop_when is None else f"{self.path}/{index}"

    def copied(self) -> SubLoop:
        """A sub-loop that can go on without changing this one."""
        return replace(self)


@dataclass(slots=True)
class Gate:
    """A gate whose criteria are being looked into."""

    path: str
    frame: str
    node: str
    waiting: int = 0

    def copied(self) -> Gate:
        """A gate that can go on without changing this one."""
        return replace(self)


AnyContainer = Container | FanOut | SubLoop | Gate


def lanes_of(path: str) -> tuple[int, ...]:
    """The elements on a path, outermost first: `E1/do.2/B0` is in element 2."""
    indexes = (segment.rpartition(".")[2] for segment in path.split("/") if "." in segment)
    return tuple(int(index) for index in indexes if index.isdecimal())
