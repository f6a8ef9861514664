"""What entering or resuming a node comes to."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from compozy.engine.effects import Call, OpenRequest
from compozy.engine.state import Exit
from compozy.language.compiled import Block, CompiledPlan, Scope


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


Outcome = Succeeded | Failed | Canceled | Waiting | Calling | ExitFired | Branch | Lanes | PlanCalled


@dataclass(frozen=True, slots=True)
class Context:
    """What a node may look at when it is entered or resumed."""

    node: str
    """Its path."""
    scope: Scope
    attended: bool
    generation: int
    item: int | None = None
    plans: tuple[str, ...] = ()
