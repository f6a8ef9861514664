"""Where a question stands, and the words for how it ended."""

from collections.abc import Mapping
from typing import Any, Literal

WITH_PAYLOAD = ("respond", "edit")
"""The decisions that need a payload; the others take none."""

UNANSWERED: Mapping[str, Literal["declined", "unavailable"]] = {
    "decline": "declined",
    "unavailable": "unavailable",
}
"""Decisions that close a question without an answer, and what the plan is told."""

DECIDED: Mapping[str, str] = {"approve": "approved", "edit": "edited", "reject": "rejected"}
"""What is told of a review whose decision was one of these; of any other answer, that it was given."""


def state_of(request: Mapping[str, Any]) -> str:
    """The state of a request; `Pending` where nothing is written yet."""
    return str((request.get("status") or {}).get("state") or "Pending")


def is_open(request: Mapping[str, Any]) -> bool:
    """Whether the question still waits for somebody."""
    return state_of(request) == "Pending" and not request.get("response")


def final_state_of(decision: str) -> Literal["Answered", "Declined"]:
    """The state that an admitted response leads to."""
    return "Declined" if decision in UNANSWERED else "Answered"
