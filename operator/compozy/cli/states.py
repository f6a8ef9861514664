"""How a run and its cells stand, as people are told: by a word and a sign."""

from collections.abc import Mapping
from typing import Any

ENDED = ("Succeeded", "Failed", "Canceled")
"""The phases of a run that is over."""
SETTLED = ("Succeeded", "Failed", "Skipped", "Canceled")
"""The states of a cell that changes no more."""

HANDLED = "Failed but handled"
"""A failure that the author has foreseen with `on_error`: for the plan it is a success without an output."""

MARKS: Mapping[str, str] = {
    "Pending": "·",
    "Ready": "·",
    "Waiting": "?",
    "Running": "…",
    "Succeeded": "✓",
    HANDLED: "!",
    "Answered": "✓",
    "Failed": "✗",
    "Skipped": "-",
    "Canceled": "✗",
}
"""The sign of a state; whatever is not known has none."""


def lane_counts(lanes: Mapping[str, int], waiting: int = 0) -> str:
    """How the lanes of a fan-out stand: `12/40 lanes done, 1 failed, 2 canceled, 3 waiting`."""
    done = sum(lanes.get(key, 0) for key in ("succeeded", "failed", "canceled"))
    counts = {"failed": lanes.get("failed"), "canceled": lanes.get("canceled"), "waiting": waiting}
    told = (f"{count} {state}" for state, count in counts.items() if count)
    return ", ".join((f"{done}/{lanes.get('total', done)} lanes done", *told))


def word_of(told: Mapping[str, Any]) -> str:
    """The word for what a status tells of a cell that has one."""
    # Only a failure leaves a message on what has succeeded.
    handled = told["status"] == "Succeeded" and told.get("message") is not None
    return HANDLED if handled else str(told["status"])
