"""`review`: a person decides over an action with its exact parameters before it runs."""

from collections.abc import Mapping
from typing import Any

from compozy.engine.codes import NOT_CONFORMING, UNDECIDED, UNRENDERABLE
from compozy.engine.conforming import misfit_answer
from compozy.engine.events import NodeEvent, RequestAnswered, RequestCanceled
from compozy.engine.kinds.actions import Action, parameters_of, run_action
from compozy.engine.kinds.questions import not_one_of, put_question
from compozy.engine.outcomes import Canceled, Context, Failed, Outcome, Succeeded
from compozy.engine.proposals import digest_of, strict_schema
from compozy.language.compiled import ReviewSpec
from compozy.language.errors import LanguageError
from compozy.language.field_order import ORDER, properties_in_order


def enter_reviewed(spec: Action, review: ReviewSpec, context: Context) -> Outcome:
    """Ask first, where the author wants that here. What cannot be decided is never admitted."""
    parameters = parameters_of(spec, context)
    if isinstance(parameters, Failed):
        return parameters
    try:
        if review.when is not None and not review.when.test(context.scope):
            return run_action(spec, context, parameters)
    except LanguageError as error:
        return Failed(UNDECIDED, f"`{review.when_source}`: {error.message}")
    try:
        prompt = review.prompt.render_text(context.scope) if review.prompt is not None else f"Review {context.id}"
    except LanguageError as error:
        return Failed(UNRENDERABLE, error.message)
    if not context.attended:
        return Failed("request_unavailable", "nobody can be asked here, and a review never approves by itself")
    return put_question(
        review,
        context,
        prompt,
        review.decisions,
        kind="Review",
        proposal=parameters,
        edit_schema=_edit_schema(review, parameters) if "edit" in review.decisions else None,
        respond_schema=review.respond_schema if "respond" in review.decisions else None,
    )


def _edit_schema(review: ReviewSpec, parameters: Any) -> Mapping[str, Any]:
    """The shape of a replacement, its fields in the order of those of a `respond` where they have the same names.

    What was proposed has lost the order of its author in storage, and the declared output has not.
    """
    if review.edit_schema is not None:
        return review.edit_schema
    schema = strict_schema(parameters)
    names = list(schema.get("properties", ()))
    ordered = properties_in_order({**schema, ORDER: properties_in_order(review.respond_schema or {})})
    return schema if ordered == names else {**schema, ORDER: ordered}


def resume_reviewed(spec: Action, review: ReviewSpec, context: Context, event: NodeEvent) -> Outcome:
    """Go on by the decision. The action's time begins only now."""
    if isinstance(event, RequestAnswered) and event.decision not in review.decisions:
        return not_one_of(event.decision, review.decisions)
    match event:
        case RequestAnswered(decision="approve"):
            return _approved(spec, context, event)
        case RequestAnswered(decision="edit"):
            return _edited(spec, review, context, event)
        case RequestAnswered(decision="respond"):
            return misfit_answer(review.respond_schema or {}, event.payload) or Succeeded(event.payload)
        case RequestAnswered(decision="reject"):
            if review.reject_route is not None:
                return Succeeded(None, route=review.reject_route, reason="quality_rejection")
            return Failed("quality_rejection", "a person rejected the action")
        case RequestCanceled():
            return Canceled("request_canceled", "the question was canceled")
    if review.expires_route is not None:
        return Succeeded(None, route=review.expires_route, reason="request_expired")
    return Failed("request_unavailable", "nobody decided in time")


def _approved(spec: Action, context: Context, event: RequestAnswered) -> Outcome:
    """Run exactly what was shown: parameters that are not the same any more are refused.

    They are those that were kept when the question opened, or else they are rendered again.
    """
    parameters = parameters_of(spec, context) if event.proposal is None else event.proposal
    if isinstance(parameters, Failed):
        return parameters
    if event.digest is not None and event.digest != digest_of(parameters):
        return Failed("proposal_changed", "the parameters are not those that were approved")
    return run_action(spec, context, parameters)


def _edited(spec: Action, review: ReviewSpec, context: Context, event: RequestAnswered) -> Outcome:
    """Run the replacement, once it has the shape that parameters must have."""
    parameters = parameters_of(spec, context)
    if isinstance(parameters, Failed):
        return parameters
    refused = misfit_answer(review.edit_schema or strict_schema(parameters), event.payload)
    if refused is not None or not isinstance(event.payload, Mapping):
        return refused or Failed(NOT_CONFORMING, "the replacement parameters must be an object")
    return run_action(spec, context, event.payload)
