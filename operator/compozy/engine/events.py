"""What can happen to a run from outside. `node` is always the path of a step or node."""

from dataclasses import dataclass
from typing import Any, Literal


@dataclass(frozen=True, slots=True)
class RequestAnswered:
    """A person decided. The payload conforms to what the request expects."""

    node: str
    decision: str
    payload: Any


@dataclass(frozen=True, slots=True)
class RequestUnanswered:
    """The question closed without an answer."""

    node: str
    reason: Literal["declined", "unavailable", "expired"]


@dataclass(frozen=True, slots=True)
class RequestCanceled:
    """Somebody canceled this one question."""

    node: str


@dataclass(frozen=True, slots=True)
class CallFinished:
    """What was called has given its result."""

    node: str
    output: Any


@dataclass(frozen=True, slots=True)
class CallFailed:
    """What was called has failed, or could not be called at all."""

    node: str
    reason: str
    """A stable code, such as `tool_unavailable` or `model_unconfigured`."""
    message: str


@dataclass(frozen=True, slots=True)
class RunCanceled:
    """Somebody canceled the run."""


NodeEvent = RequestAnswered | RequestUnanswered | RequestCanceled | CallFinished | CallFailed
Event = NodeEvent | RunCanceled
