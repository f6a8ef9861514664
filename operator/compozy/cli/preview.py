"""A question for a list: enough to recognise it, bounded whatever its author wrote into it."""

import json
from collections.abc import Mapping
from typing import Any

PROMPT_CHARACTERS = 500
VALUE_CHARACTERS = 2000
"""Longest free-form value of a preview, as JSON."""

_METADATA = ("name", "namespace", "uid", "creationTimestamp", "resourceVersion", "labels")
_FREE_FORM = ("context", "expect", "editSchema", "respondSchema", "proposedPreview")


def preview(request: Mapping[str, Any]) -> dict[str, Any]:
    """The request in its own shape, without the answer's payload and note, with long values replaced.

    A value that was left out is replaced by `{"truncated": <its size in characters>}`.
    """
    metadata, spec = request["metadata"], dict(request["spec"])
    if len(spec.get("prompt", "")) > PROMPT_CHARACTERS:
        spec["prompt"] = spec["prompt"][: PROMPT_CHARACTERS - 1] + "…"
    for key in _FREE_FORM:
        if key in spec:
            spec[key] = _bounded(spec[key])
    shown: dict[str, Any] = {
        "apiVersion": request["apiVersion"],
        "kind": request["kind"],
        "metadata": {key: metadata[key] for key in _METADATA if key in metadata},
        "spec": spec,
    }
    response = request.get("response")
    if response:
        shown["response"] = {key: response[key] for key in ("decision", "responder") if key in response}
    shown["status"] = dict(request.get("status") or {"state": "Pending"})
    return shown


def _bounded(value: Any) -> Any:
    size = len(json.dumps(value, ensure_ascii=False, separators=(",", ":")))
    return value if size <= VALUE_CHARACTERS else {"truncated": size}
