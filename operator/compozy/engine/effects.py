"""What the engine wants done. Performing an effect twice does nothing: names follow from run and node."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class OpenRequest:
    """Put a question to people."""

    node: str
    generation: int
    prompt: str
    context: Mapping[str, Any] | None
    expect: Mapping[str, Any]
    decisions: Sequence[str]
    responders: Mapping[str, Any]
    expires_after: float | None
    """Seconds until it closes; None where the author says nothing."""


@dataclass(frozen=True, slots=True)
class CancelRequest:
    """Close a question that nobody needs to answer any more."""

    node: str
    generation: int


Effect = OpenRequest | CancelRequest
