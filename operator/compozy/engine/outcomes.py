"""What entering or resuming a node comes to."""

from dataclasses import dataclass
from typing import Any

from compozy.engine.effects import OpenRequest
from compozy.engine.state import Exit
from compozy.language.compiled import Scope


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
class ExitFired:
    """The run ends here."""

    exit: Exit


Outcome = Succeeded | Failed | Canceled | Waiting | ExitFired


@dataclass(frozen=True, slots=True)
class Context:
    """What a node may look at when it is entered or resumed."""

    node: str
    scope: Scope
    attended: bool
    generation: int
