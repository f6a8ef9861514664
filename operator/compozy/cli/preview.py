"""A question for a list: enough to recognise it, bounded whatever its author wrote into it."""

from collections.abc import Mapping
from typing import Any

from compozy.requests import bounds

PROMPT_CHARACTERS = 500

_METADATA = ("name", "namespace", "uid", "creationTimestamp", "resourceVersion", "labels")
_FREE_FORM = ("context", "expect", "editSchema", "respondSchema", "proposedPreview")


def preview(request: Mapping[str, Any]) -> dict[str, Any]:
    """The request in its own shape, without payload and notes, with long values replaced.

    A value that was left out is replaced by `{"truncated": true, "byte_size": <its size>}`.
    """
    spec = {key: bounds.preview(value) if key in _FREE_FORM else value for key, value in request["spec"].items()}
    spec["prompt"] = _cut(spec.get("prompt", ""))
    return _shown(request, spec)


def outline(request: Mapping[str, Any]) -> dict[str, Any]:
    """The preview without anything free-form: what a table shows, small enough to keep thousands of them."""
    spec = {key: value for key, value in request["spec"].items() if key not in _FREE_FORM}
    spec["prompt"] = _cut(spec.get("prompt", ""))
    return _shown(request, spec)


def _shown(request: Mapping[str, Any], spec: dict[str, Any]) -> dict[str, Any]:
    metadata = request["metadata"]
    shown: dict[str, Any] = {
        "apiVersion": request["apiVersion"],
        "kind": request["kind"],
        "metadata": {key: metadata[key] for key in _METADATA if key in metadata},
        "spec": spec,
    }
    if request.get("approvals"):
        shown["approvals"] = [_said(entry) for entry in request["approvals"]]
    if request.get("response"):
        shown["response"] = _said(request["response"])
    shown["status"] = dict(request.get("status") or {"state": "Pending"})
    return shown


def _cut(prompt: str) -> str:
    return prompt if len(prompt) <= PROMPT_CHARACTERS else prompt[: PROMPT_CHARACTERS - 1] + "…"


def _said(said: Mapping[str, Any]) -> dict[str, Any]:
    """Who has said what, without what may be long."""
    return {key: said[key] for key in ("decision", "responder", "uid", "groups") if key in said}
