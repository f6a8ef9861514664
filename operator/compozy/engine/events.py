"""What can happen to a run from outside. `node` is always the path of a step or node."""

from dataclasses import dataclass
from typing import Any, Literal


@dataclass(frozen=True, slots=True)
class RequestAnswered:
    """A person decided. The payload conforms to what the request expects."""

    node: str
    decision: str
    payload: Any
    digest: str | None = None
    """Of a review: the digest of the parameters that the person was shown."""
    proposal: Any = None
    """Of a review: these parameters, where they were kept."""


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
    attempt: int | None = None
    """Which attempt it was; None where there can only be one."""


@dataclass(frozen=True, slots=True)
class CallFailed:
    """What was called has failed, or could not be called at all."""

    node: str
    reason: str
    """A stable code, such as `tool_unavailable` or `model_unconfigured`."""
    message: str
    attempt: int | None = None


@dataclass(frozen=True, slots=True)
class TimeCredited:
    """What was called has itself waited for people: that time does not count."""

    node: str
    until: str | None
    """When its time is up instead, RFC 3339; None while it waits."""


@dataclass(frozen=True, slots=True)
class RunParked:
    """A run that a node has started waits for people, or does no more."""

    node: str
    since: str | None
    """Since when, RFC 3339; None where it does no more."""


@dataclass(frozen=True, slots=True)
class RunCanceled:
    """Somebody canceled the run."""


NodeEvent = RequestAnswered | RequestUnanswered | RequestCanceled | CallFinished | CallFailed
Event = NodeEvent | TimeCredited | RunParked | RunCanceled
