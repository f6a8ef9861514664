"""Who has answered or approved, and when, as a question tells it."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

Object = Mapping[str, Any]


def provenance(request: Object, responder: str) -> dict[str, Any]:
    """Who answered and when: accepted by the operator, or else written.

    `responder` is who approved, of a question that waits for more approvals.
    """
    response, status = request.get("response"), request.get("status") or {}
    if response:
        return {
            "responder": response.get("responder"),
            "answeredAt": status.get("resolvedAt") or answered_at(request),
        }
    return {"responder": responder, "answeredAt": approved_at(request, responder)}


def answered_at(request: Object) -> str | None:
    """When the response was written, as the API server remembers for every field; None where it does not."""
    return next((time for time, _ in _written(request, "response")), None)


def approved_at(request: Object, responder: str) -> str | None:
    """When an approval was written, likewise.

    Who writes under one name with others has the time of the last of them: the plugin takes a name for each.
    """
    written = _written(request, "approvals")
    return next((time for time, keys in written if any(_names(key, responder) for key in keys)), None)


def _names(key: str, responder: str) -> bool:
    """Whether a key of `managedFields` stands for the entry of a responder."""
    return key.startswith("k:") and bool(json.loads(key[2:]) == {"responder": responder})


def _written(request: Object, field: str) -> Iterator[tuple[str | None, Object]]:
    """When a field was written, and which keys of it, by each who wrote it."""
    for entry in request["metadata"].get("managedFields") or ():
        written = (entry.get("fieldsV1") or {}).get(f"f:{field}")
        if written is not None:
            yield entry.get("time"), written
