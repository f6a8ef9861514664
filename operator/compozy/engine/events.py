"""What can happen to a run from outside."""

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
class RunCanceled:
    """Somebody canceled the run."""


Event = RequestAnswered | RequestUnanswered | RequestCanceled | RunCanceled
