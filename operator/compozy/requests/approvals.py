"""How far a question has come that several people must approve. Each of them counts once, by user name."""

import hashlib
from collections.abc import Mapping
from typing import Any

from compozy.requests.state import is_open


def needed(request: Mapping[str, Any]) -> int:
    """How many different people must approve."""
    return int((request["spec"].get("responders") or {}).get("approvals") or 1)


def approvers(request: Mapping[str, Any]) -> list[str]:
    """Who has approved, in the order in which they did, whoever decided included."""
    names = [entry["responder"] for entry in request.get("approvals") or ()]
    response = request.get("response") or {}
    if response.get("decision") == "approve":
        names.append(response["responder"])
    return list(dict.fromkeys(names))


def others_missing(request: Mapping[str, Any], user: str) -> int:
    """How many others must approve before `user` can decide; 0 where the approval of `user` is the last."""
    others = {entry["responder"] for entry in request.get("approvals") or ()} - {user}
    return max(needed(request) - 1 - len(others), 0)


def has_approved(request: Mapping[str, Any], user: str) -> bool:
    """Whether `user` has approved without deciding."""
    return any(entry["responder"] == user for entry in request.get("approvals") or ())


def progress(request: Mapping[str, Any]) -> str:
    """`2 of 3 approvals`; empty where one person decides."""
    return f"{len(approvers(request))} of {needed(request)} approvals" if needed(request) > 1 else ""


def standing(request: Mapping[str, Any]) -> str:
    """How far several people have come: `needs 3 people; 1 has approved`, and `progress` once it is answered."""
    if not is_open(request):
        return progress(request)
    count = len(approvers(request))
    approved = f"{count} {'has' if count == 1 else 'have'} approved" if count else "nobody has approved yet"
    return f"needs {needed(request)} people; {approved}" if needed(request) > 1 else ""


def speaker(said: Mapping[str, Any]) -> str:
    """Who has given a response or an approval, with the groups that let them: `alice (leads, ops)`."""
    groups = ", ".join(said.get("groups") or ())
    return f"{said.get('responder')}{f' ({groups})' if groups else ''}"


def mark(user: str) -> str:
    """What tells one person from others in names that hold no other characters."""
    return hashlib.sha256(user.encode()).hexdigest()[:8]
