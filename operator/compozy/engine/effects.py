"""What the engine wants done. Performing an effect twice does nothing: names follow from run and path."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

CallKind = Literal["tool", "agent", "infer", "solver", "run"]


@dataclass(frozen=True, slots=True)
class OpenRequest:
    """Put a question to people."""

    node: str
    """The path of the step or node that asks, such as `E0`, `E3/do.2` or `services.3/choose`."""
    generation: int
    prompt: str
    decisions: Sequence[str]
    responders: Mapping[str, Any]
    expires_after: float | None
    """Seconds until it closes; None where the author says nothing."""
    item: int | None = None
    """The index of the element, in an iteration."""
    plans: tuple[str, ...] = ()
    """The plans that were called on the way to it, outermost first."""
    context: Mapping[str, Any] | None = None
    """What is shown beside an ask."""
    expect: Mapping[str, Any] = field(default_factory=dict)
    """The shape of an answer to an ask, as JSON Schema."""
    kind: Literal["Ask", "Review"] = "Ask"
    """Ask: for a value. Review: whether an action may run, or something is good enough."""
    proposal: Any = None
    """Of a review of an action: its exact parameters."""
    edit_schema: Mapping[str, Any] | None = None
    respond_schema: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class CancelRequest:
    """Close a question that nobody needs to answer any more."""

    node: str
    generation: int


@dataclass(frozen=True, slots=True)
class Call:
    """Have something done that takes a while: a tool, an agent, a model's judgement, another plan."""

    node: str
    generation: int
    kind: CallKind
    name: str
    """The name of the tool, the agent or the plan; of a model's role for the others."""
    input: Mapping[str, Any] = field(default_factory=dict)
    attempt: int = 1
    detach: bool = False
    """Of a plan: whether nobody waits for its end."""
    abandon: bool = False
    """Of a plan: whether it goes on when nobody waits for it any more."""
    plans: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CancelCall:
    """Stop what was called: nobody waits for it any more."""

    node: str
    generation: int
    kind: CallKind
    attempt: int


Effect = OpenRequest | CancelRequest | Call | CancelCall
