"""What all questions have in common, and how a decision fails that none of them offers."""

from collections.abc import Sequence
from typing import Any

from compozy.engine.codes import NOT_CONFORMING, UNSATISFIABLE
from compozy.engine.effects import OpenRequest
from compozy.engine.outcomes import Context, Failed, Waiting
from compozy.language.compiled import ApprovalSpec, AskSpec, ReviewSpec
from compozy.language.responders import unsatisfiable


def put_question(
    spec: AskSpec | ReviewSpec | ApprovalSpec,
    context: Context,
    prompt: str,
    decisions: Sequence[str],
    /,
    **more: Any,
) -> Waiting | Failed:
    """Wait for people: whom the author lets answer, and for as long as the author says.

    A question that nobody could ever answer is not put: it would only be found out by waiting.
    """
    nobody = unsatisfiable(spec.responders, context.starters)
    if nobody is not None:
        return Failed(UNSATISFIABLE, f"`responders.{nobody.field}`: {nobody.message}")
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
