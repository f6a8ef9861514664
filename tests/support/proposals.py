"""Reviews as they are put to people: what is shown of a proposal, its digest, and the schema of a replacement."""

from __future__ import annotations

from typing import Any

from compozy.engine.effects import OpenRequest
from compozy.engine.proposals import strict_schema
from compozy.requests.opening import shown_fields


def put_for_review(proposal: Any) -> dict[str, Any]:
    """A question about an action with these parameters."""
    decisions = ("approve", "edit", "reject")
    effect = OpenRequest(
        node="publish",
        generation=1,
        prompt="Publish?",
        context=None,
        expect={},
        decisions=decisions,
        responders={},
        expires_after=None,
        kind="Review",
        proposal=proposal,
        edit_schema=strict_schema(proposal),
    )
    return {"spec": {"kind": "Review", "decisions": list(decisions), **shown_fields(effect)}}
