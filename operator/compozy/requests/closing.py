"""What a HumanRequest tells the run that asked: the event of the engine that its state stands for."""

from collections.abc import Callable, Mapping
from typing import Any

from compozy.engine.events import Event, RequestAnswered, RequestCanceled, RequestUnanswered
from compozy.requests.state import UNANSWERED, state_of


def event_of_response(request: Mapping[str, Any], path: str) -> Event:
    """The event that an admitted response stands for, for the cell at `path`."""
    response = request["response"]
    decision = response.get("decision", "respond")
    if decision in UNANSWERED:
        return RequestUnanswered(path, UNANSWERED[decision])
    return RequestAnswered(path, decision, response.get("payload"), request["spec"].get("proposalDigest"))


def event_of(request: Mapping[str, Any], path: str) -> Event | None:
    """The event that a request's final state stands for; None while it is pending."""
    match state_of(request):
        case "Answered" | "Declined":
            return event_of_response(request, path)
        case "Expired":
            return RequestUnanswered(path, "expired")
        case "Canceled":
            return RequestCanceled(path)
    return None


StatusOf = Callable[[str, int | None], str | None]
"""The status of a node, or of its item; None where nothing is known of it."""


def was_taken(request: Mapping[str, Any], status_of: StatusOf) -> bool:
    """Whether a run has taken the answer of a request.

    What a body has found is forgotten once the step around it has its result, so the nearest step that is
    there speaks for it.
    """
    node = request["spec"]["node"]
    status = status_of(node, request["spec"].get("item"))
    while status is None and "/" in node:
        node = node.rpartition("/")[0]
        status = status_of(node, None)
    return status in ("Succeeded", "Failed")


def status_in(nodes: Mapping[str, Mapping[str, Any]]) -> StatusOf:
    """Finds a status in the `status.nodes` of a run."""

    def find(node: str, item: int | None) -> str | None:
        told = nodes.get(node) or {}
        if item is not None and "items" in told:
            told = told["items"].get(str(item)) or {}
        return told.get("status")

    return find
