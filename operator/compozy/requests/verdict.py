"""Who answers, and whether the answer is admitted: the words in which that is decided."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from compozy.api.identity import SERVICE_ACCOUNT_PREFIX

Code = Literal[
    "request_already_answered",
    "request_expired",
    "request_canceled",
    "request_validation_failed",
    "input_validation",
    "respond_not_permitted",
    "respond_self_denied",
    "approvals_missing",
]

MAX_DETAILS, MAX_PATH, MAX_DETAIL = 100, 512, 4096
"""How many faults are told outside of this process, and how much of each: as many as `lastRejection` holds."""

Reason = Literal["unknown_reference", "invalid_kind_payload"]
"""A name that nothing has, or a value that is no name at all."""


@dataclass(frozen=True, slots=True)
class Identity:
    """Who answers, as the API server authenticated them."""

    user: str
    groups: frozenset[str] | None = None
    """None where they are not known: the API server's own policy has held the answer to them already."""

    @classmethod
    def of_user(cls, user: str) -> "Identity":
        """Return the identity of whom a stored response names: it records no groups."""
        return cls(user)

    @property
    def is_agent(self) -> bool:
        """Whether this is an agent: one that acts through a ServiceAccount."""
        return self.user.startswith(SERVICE_ACCOUNT_PREFIX)


@dataclass(frozen=True, slots=True)
class Accepted:
    """The answer conforms to everything that was frozen with the question."""

    decision: str
    payload: Any


@dataclass(frozen=True, slots=True)
class Refused:
    """The answer is not admitted."""

    code: Code
    message: str
    details: dict[str, str] = field(default_factory=dict)
    """What is wrong, by dotted path into the response: `payload` is the root of the payload."""
    origin: Literal["response"] | None = None
    """Of `input_validation`: that the fault lies in a response, not in a run's inputs."""
    field: str | None = None
    """Of `input_validation`: the exact nested path of the first fault."""
    reason: Reason | None = None
    """Of `input_validation`: what is wrong there."""


Verdict = Accepted | Refused


def bounded(details: Mapping[str, str]) -> dict[str, str]:
    """Return what is wrong, cut to what is told: the paths are made of names that came with the answer."""
    return {str(path)[:MAX_PATH]: str(text)[:MAX_DETAIL] for path, text in list(details.items())[:MAX_DETAILS]}
