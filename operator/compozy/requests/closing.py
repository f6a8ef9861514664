"""What a HumanRequest tells the run that asked: the event of the engine that its state stands for."""

from collections.abc import Mapping
from typing import Any, Literal

from compozy.engine.events import Event, RequestAnswered, RequestCanceled, RequestUnanswered

UNANSWERED: Mapping[str, Literal["declined", "unavailable"]] = {
    "decline": "declined",
    "unavailable": "unavailable",
}
"""Decisions that close a question without an answer, and what the plan is told."""


def state_of(request: Mapping[str, Any]) -> str:
    """The state of a request; `Pending` where nothing is written yet."""
    return str((request.get("status") or {}).get("state") or "Pending")


def is_open(request: Mapping[str, Any]) -> bool:
    """Whether the question still waits for somebody."""
    return state_of(request) == "Pending" and not request.get("response")


def final_state_of(decision: str) -> Literal["Answered", "Declined"]:
    """The state that an admitted response leads to."""
    return "Declined" if decision in UNANSWERED else "Answered"


def event_of_response(request: Mapping[str, Any]) -> Event:
    """The event that an admitted response stands for."""
    node, response = request["spec"]["node"], request["response"]
    decision = response.get("decision", "respond")
    if decision in UNANSWERED:
        return RequestUnanswered(node, UNANSWERED[decision])
    return RequestAnswered(node, decision, response.get("payload"))


def event_of(request: Mapping[str, Any]) -> Event | None:
    """The event that a request's final state stands for; None while it is pending."""
    match state_of(request):
        case "Answered" | "Declined":
            return event_of_response(request)
        case "Expired":
            return RequestUnanswered(request["spec"]["node"], "expired")
        case "Canceled":
            return RequestCanceled(request["spec"]["node"])
    return None


def was_taken(request: Mapping[str, Any], nodes: Mapping[str, Mapping[str, Any]]) -> bool:
    """Whether a run has taken the answer of a request, by the status of its nodes.

    What a body has found is forgotten once the step around it has its result, so the nearest step that is
    there speaks for it.
    """
    path = request["spec"]["node"]
    while path not in nodes and "/" in path:
        path = path.rpartition("/")[0]
    return nodes.get(path, {}).get("status") in ("Succeeded", "Failed")
