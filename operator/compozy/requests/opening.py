"""The HumanRequest that an effect of the engine asks for: rendered, redacted, bounded and frozen."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from compozy.api.base import API_VERSION
from compozy.engine.effects import OpenRequest
from compozy.engine.proposals import digest_of
from compozy.engine.times import timestamp
from compozy.requests.naming import request_name
from compozy.requests.redact import bounded_prompt, preview, redact_json

Address = tuple[str, int | None]
"""Node and item, as people name a place in a run."""


def request_object(
    effect: OpenRequest,
    address: Address,
    run: Mapping[str, Any],
    revision: str | None,
    expire_after: float | None,
    now: datetime,
) -> dict[str, Any]:
    """The HumanRequest to create.

    Args:
        effect: what the engine wants asked.
        address: node and item, as people name the place that asks.
        run: the PlanRun, which becomes the owner: deleting it removes the question.
        revision: the frozen revision of the plan that asks.
        expire_after: seconds it stays open where the author says nothing; None for ever.
        now: the moment of opening; the deadline counts from it.
    """
    metadata = run["metadata"]
    seconds = effect.expires_after if effect.expires_after is not None else expire_after
    spec: dict[str, Any] = {
        "run": metadata["name"],
        "generation": effect.generation,
        "node": address[0],
        "kind": effect.kind,
        "prompt": bounded_prompt(effect.prompt),
        "decisions": list(effect.decisions),
        "responders": dict(effect.responders),
    }
    item = address[1] if address[1] is not None else effect.item
    if item is not None:
        spec["item"] = item
    if effect.kind == "Ask":
        spec["expect"] = dict(effect.expect)
    if effect.kind == "Review":
        spec |= proposal_fields(effect)
    if effect.plans:
        spec["path"] = shown_path(effect)
    if effect.context:
        spec["context"] = preview(redact_json(dict(effect.context)))
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


def proposal_fields(effect: OpenRequest) -> dict[str, Any]:
    """What a person may know of the parameters: a preview, and what the exact ones are held to."""
    given = {
        "proposedPreview": preview(redact_json(effect.proposal)),
        "proposalDigest": digest_of(effect.proposal) if effect.proposal is not None else None,
        "editSchema": effect.edit_schema,
        "respondSchema": effect.respond_schema,
    }
    return {key: value for key, value in given.items() if value is not None}


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
