"""What the engine wants done. Performing an effect twice does nothing: names follow from run and path."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal


@dataclass(frozen=True, slots=True)
class OpenRequest:
    """Put a question to people."""

    node: str
    """The path of the step or node that asks, such as `E0` or `E3/do.2`."""
    generation: int
    prompt: str
    context: Mapping[str, Any] | None
    expect: Mapping[str, Any]
    decisions: Sequence[str]
    responders: Mapping[str, Any]
    expires_after: float | None
    """Seconds until it closes; None where the author says nothing."""
    item: int | None = None
    """The index of the element, in an iteration."""
    plans: tuple[str, ...] = ()
    """The plans that were called on the way to it, outermost first."""


@dataclass(frozen=True, slots=True)
class CancelRequest:
    """Close a question that nobody needs to answer any more."""

    node: str
    generation: int


@dataclass(frozen=True, slots=True)
class Call:
    """Have something done that takes a while: a tool, an agent, a model's judgement."""

    node: str
    generation: int
    kind: Literal["tool", "agent", "infer", "solver"]
    name: str
    """The name of the tool; of a model's role for the others."""
    input: Mapping[str, Any] = field(default_factory=dict)


Effect = OpenRequest | CancelRequest | Call
