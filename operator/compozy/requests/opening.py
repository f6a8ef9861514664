"""The HumanRequest that an effect of the engine asks for: rendered, redacted, bounded and frozen."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from compozy.api.base import API_VERSION
from compozy.engine.effects import OpenRequest
from compozy.engine.proposals import digest_of
from compozy.engine.times import timestamp
from compozy.redaction.redactor import PLAIN, Redactor
from compozy.requests.bounds import MAX_STORED_BYTES, bounded_prompt, preview, storable
from compozy.requests.naming import request_name

Address = tuple[str, int | None]
"""Node and item, as people name a place in a run."""


def request_object(
    effect: OpenRequest,
    address: Address,
    run: Mapping[str, Any],
    revision: str | None,
    expire_after: float | None,
    now: datetime,
    redactor: Redactor = PLAIN,
) -> dict[str, Any]:
    """The HumanRequest to create.

    Args:
        effect: what the engine wants asked.
        address: node and item, as people name the place that asks.
        run: the PlanRun, which becomes the owner: deleting it removes the question.
        revision: the frozen revision of the plan that asks.
        expire_after: seconds it stays open where the author says nothing; None for ever.
        now: the moment of opening; the deadline counts from it.
        redactor: takes out of it what must not be stored.
    """
    metadata = run["metadata"]
    seconds = effect.expires_after if effect.expires_after is not None else expire_after
    spec: dict[str, Any] = {
        "run": metadata["name"],
        "generation": effect.generation,
        "node": address[0],
        "kind": effect.kind,
        **shown_fields(effect, redactor),
        "decisions": list(effect.decisions),
        "responders": dict(effect.responders),
    }
    item = address[1] if address[1] is not None else effect.item
    if item is not None:
        spec["item"] = item
    if effect.kind == "Ask":
        spec["expect"] = dict(effect.expect)
    if effect.plans:
        spec["path"] = shown_path(effect)
    if seconds is not None:
        spec["expiresAt"] = timestamp(now + timedelta(seconds=seconds))
    if revision is not None:
        spec["revision"] = revision
    return {
        "apiVersion": API_VERSION,
        "kind": "HumanRequest",
        "metadata": {
            "name": name_of(address, effect.generation, run),
            "namespace": metadata["namespace"],
            "ownerReferences": [owner_reference(run)],
        },
        "spec": spec,
    }


def shown_fields(effect: OpenRequest, redactor: Redactor = PLAIN) -> dict[str, Any]:
    """What people are shown, on every host: prompt and context, and of a review what it is about.

    The context is the whole one, redacted: lists show a preview of it. Of a proposal only a preview leaves the
    run; its digest is what an approval is held to.
    """
    shown: dict[str, Any] = {"prompt": bounded_prompt(redactor.text(effect.prompt))}
    if effect.context:
        shown["context"] = preview(_safe(dict(effect.context), redactor), MAX_STORED_BYTES)
    if effect.kind == "Review":
        given = {
            "proposedPreview": preview(_safe(effect.proposal, redactor)),
            "proposalDigest": digest_of(effect.proposal) if effect.proposal is not None else None,
            "editSchema": effect.edit_schema,
            "respondSchema": effect.respond_schema,
        }
        shown |= {key: value for key, value in given.items() if value is not None}
    return shown


def _safe(value: Any, redactor: Redactor) -> Any:
    return storable(redactor.json(value))


def shown_path(effect: OpenRequest) -> str:
    """Where a question is, for people: the plans that were called, then the step, such as `outer→inner→E0`."""
    if not effect.plans:
        return effect.node
    return "→".join((*effect.plans, effect.node.rpartition("/")[2]))


def name_of(address: Address, generation: int, run: Mapping[str, Any]) -> str:
    """The name of the request that a place in a run opens."""
    metadata = run["metadata"]
    return request_name(metadata["name"], metadata["uid"], generation, *address)


def owner_reference(run: Mapping[str, Any]) -> dict[str, Any]:
    """A reference that makes the run the owner."""
    return {
        "apiVersion": API_VERSION,
        "kind": "PlanRun",
        "name": run["metadata"]["name"],
        "uid": run["metadata"]["uid"],
        "controller": True,
        "blockOwnerDeletion": False,
    }
