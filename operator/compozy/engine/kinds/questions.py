"""What all questions have in common, and how a decision fails that none of them offers."""

from collections.abc import Sequence
from typing import Any

from compozy.engine.codes import NOT_CONFORMING
from compozy.engine.effects import OpenRequest
from compozy.engine.outcomes import Context, Failed, Waiting
from compozy.language.compiled import ApprovalSpec, AskSpec, ReviewSpec


def put_question(
    spec: AskSpec | ReviewSpec | ApprovalSpec,
    context: Context,
    prompt: str,
    decisions: Sequence[str],
    /,
    **more: Any,
) -> Waiting:
    """Wait for people: whom the author lets answer, and for as long as the author says."""
    return Waiting(
        OpenRequest(
            node=context.node,
            generation=context.generation,
            prompt=prompt,
            decisions=decisions,
            responders=spec.responders,
            expires_after=spec.expires_after,
            item=context.item,
            plans=context.plans,
            **more,
        )
    )


def not_one_of(decision: str, decisions: Sequence[str]) -> Failed:
    """How a decision fails the node that nobody could take."""
    return Failed(NOT_CONFORMING, f"`{decision}` is not one of {', '.join(decisions)}")
