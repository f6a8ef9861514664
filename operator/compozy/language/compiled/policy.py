"""What holds for a node of a graph whatever its kind: reviews, time, attempts, and where failures lead."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from compozy.language.compiled.protocols import Condition, TextTemplate


@dataclass(frozen=True, slots=True)
class ReviewSpec:
    """Let a person decide over an action with its parameters before it runs."""

    when: Condition | None = None
    """Without it every time; where it cannot be decided the node fails."""
    when_source: str = ""
    prompt: TextTemplate | None = None
    """Without it `Review <node id>`."""
    decisions: tuple[str, ...] = ("approve", "reject")
    responders: Mapping[str, Any] = field(default_factory=dict)
    reject_route: str | None = None
    expires_after: float | None = None
    """Seconds from opening to expiry."""
    expires_route: str | None = None
    edit_schema: Mapping[str, Any] | None = None
    """JSON Schema of replacement parameters; None where it is inferred from those that are proposed."""
    respond_schema: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Retry:
    """How often a failed attempt is made again, and after how long. Seconds."""

    max_attempts: int = 3
    base: float = 1.0
    """Before the second attempt; doubled before each further one."""
    max: float = 30.0
    """The longest pause."""
    non_retryable: tuple[str, ...] = ()
    """Codes of failures that are not tried again."""


@dataclass(frozen=True, slots=True)
class Policy:
    """What holds for a node whatever its kind. Durations are seconds in which nobody is waited for."""

    timeout: float | None = None
    """The longest that one attempt may take."""
    deadline: float | None = None
    """The longest that all attempts together may take."""
    retry: Retry | None = None
    error_route: str | None = None
    """The dependent that a failure leads to."""
    allow_fail: bool = False
    """Whether a failure leaves nothing but a null output."""
    produces: Mapping[str, Any] | None = None
    """JSON Schema of the output."""
    review: ReviewSpec | None = None

    @property
    def is_timed(self) -> bool:
        """Whether something says how long the node may take."""
        return self.timeout is not None or self.deadline is not None


NO_POLICY = Policy()
