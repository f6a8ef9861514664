"""What entering or resuming a node comes to."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from compozy.engine.effects import Call, OpenRequest
from compozy.engine.state import Exit
from compozy.language.compiled import Block, CompiledPlan, FanOutSpec, GateSpec, Scope, SubLoopSpec


@dataclass(frozen=True, slots=True)
class Succeeded:
    """The node has a result."""

    output: Any
    route: str | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Failed:
    """The node cannot have a result."""

    reason: str
    message: str


@dataclass(frozen=True, slots=True)
class Canceled:
    """Somebody took the node away."""

    reason: str
    message: str


@dataclass(frozen=True, slots=True)
class Waiting:
    """The node waits for people."""

    effect: OpenRequest


@dataclass(frozen=True, slots=True)
class Calling:
    """The node waits for something that was called."""

    effect: Call


@dataclass(frozen=True, slots=True)
class Sleeping:
    """The node lets time pass."""

    until: str
    """RFC 3339."""


@dataclass(frozen=True, slots=True)
class Stopped:
    """The run ends here, whatever else is under way."""

    phase: Literal["Succeeded", "Failed"]
    reason: str
    message: str


@dataclass(frozen=True, slots=True)
class Revised:
    """Everything runs again, as a new generation."""

    message: str


@dataclass(frozen=True, slots=True)
class LanesOpened:
    """The node's result is what becomes of its lanes."""

    spec: FanOutSpec
    lanes: list[tuple[int, Any]]
    """Source index and `item` of each."""


@dataclass(frozen=True, slots=True)
class LoopBegun:
    """The node's result is that of its body, once or several times."""

    spec: SubLoopSpec


@dataclass(frozen=True, slots=True)
class GateOpened:
    """The node's result is what its criteria come to."""

    spec: GateSpec


@dataclass(frozen=True, slots=True)
class ExitFired:
    """The plan ends here."""

    exit: Exit


@dataclass(frozen=True, slots=True)
class Branch:
    """The node's result is that of one of its branches."""

    name: str
    block: Block
    verdict: bool
    reason: str | None


@dataclass(frozen=True, slots=True)
class Lanes:
    """The node's result is made of the results of its elements."""

    items: list[Any]
    block: Block
    concurrency: int
    gathers: str
    """How: `map`, `reduce` or `filter`."""
    accumulator: Any = None
    """The first one, of a reduce."""


@dataclass(frozen=True, slots=True)
class PlanCalled:
    """The node's result is that of another plan."""

    name: str
    plan: CompiledPlan
    inputs: Mapping[str, Any]


Opening = Branch | Lanes | PlanCalled | LanesOpened | LoopBegun | GateOpened
"""What makes a node wait for blocks of its own."""

Outcome = Succeeded | Failed | Canceled | Waiting | Calling | Sleeping | Stopped | Revised | ExitFired | Opening


@dataclass(frozen=True, slots=True)
class Context:
    """What a node may look at when it is entered or resumed."""

    node: str
    """Its path."""
    scope: Scope
    attended: bool
    generation: int
    now: datetime
    item: int | None = None
    plans: tuple[str, ...] = ()
    id: str = ""
    """Its id in its block."""
    is_graph: bool = False
    """Whether it is a node of a graph: some failures have other codes there."""
    attempt: int = 1
    started_at: str | None = None
    """When it was entered for the first time, RFC 3339; None where that is now."""
    starters: tuple[str | None, ...] = ()
    """As in the state of the run."""
