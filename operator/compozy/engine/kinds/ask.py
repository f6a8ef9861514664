"""`ask`: put a question to people, and go on by what the plan declares when nobody answers."""

from typing import Literal

from compozy.engine.effects import OpenRequest
from compozy.engine.events import NodeEvent, RequestAnswered, RequestCanceled, RequestUnanswered
from compozy.engine.outcomes import Canceled, Context, Failed, Outcome, Succeeded, Waiting
from compozy.language.compiled import AskSpec
from compozy.language.errors import LanguageError
from compozy.language.schema import field_errors

PROMPT_IN_MESSAGES = 80
"""How many characters of the prompt a failure message repeats."""

Unanswered = Literal["declined", "unavailable", "expired"]


def enter_ask(spec: AskSpec, context: Context) -> Outcome:
    """Open the question, or resolve it at once where nobody can be asked."""
    try:
        prompt = spec.prompt.render_text(context.scope)
        shown = spec.context.render(context.scope) if spec.context is not None else None
    except LanguageError as error:
        return _unrenderable(spec, error)
    if not prompt.strip():
        return Failed("prompt_blank", "the prompt rendered to nothing; a question needs words")
    if not context.attended:
        return close_ask(spec, context, "unavailable")
    return Waiting(
        OpenRequest(
            node=context.node,
            generation=context.generation,
            prompt=prompt,
            context=shown,
            expect=spec.expect,
            decisions=spec.decisions,
            responders=spec.responders,
            expires_after=spec.expires_after,
            item=context.item,
            plans=context.plans,
        )
    )


def resume_ask(spec: AskSpec, context: Context, event: NodeEvent) -> Outcome:
    """Go on with what has become of the question."""
    match event:
        case RequestAnswered():
            return answer_ask(spec, event.payload)
        case RequestUnanswered():
            return close_ask(spec, context, event.reason)
        case RequestCanceled():
            return Canceled("request_canceled", "the question was canceled")
    return Failed("internal", f"an ask cannot take {type(event).__name__}")


def answer_ask(spec: AskSpec, payload: object) -> Outcome:
    """Take an answer. One that does not conform fails the node, whatever host produced it."""
    faults = field_errors(spec.expect, payload)
    if faults:
        where = "; ".join(f"{path}: {message}" for path, message in faults.items())
        return Failed("request_validation_failed", f"the answer does not conform: {where}")
    return Succeeded({"answer": payload, "answered": True} if spec.wraps else payload)


def close_ask(spec: AskSpec, context: Context, reason: Unanswered) -> Outcome:
    """Go on without an answer, by the rules that the plan declares.

    An expiry route comes first (human-requests page: it must be a direct forward edge), then
    `when_unanswered: default`, else the node fails. A question that expires without a route is
    `unavailable` to the plan: nobody could be asked in time.
    """
    if spec.expires_route is not None:
        return Succeeded(None, route=spec.expires_route, reason=f"request_{reason}")
    told = "unavailable" if reason == "expired" else reason
    if spec.when_unanswered == "fail" or spec.default is None:
        return Failed(f"request_{told}", f"nobody answered ({reason}): {_short_prompt(spec, context)}")
    try:
        answer = spec.default.render(context.scope)
    except LanguageError as error:
        return _unrenderable(spec, error)
    faults = field_errors(spec.expect, answer)
    if faults:
        where = "; ".join(f"{path}: {message}" for path, message in faults.items())
        return Failed("default_invalid", f"the default does not conform: {where}")
    output = {"answer": answer, "answered": False, "reason": told} if spec.wraps else answer
    return Succeeded(output, reason=f"request_{reason}")


def _unrenderable(spec: AskSpec, error: LanguageError) -> Failed:
    # The graph dialect has one code for whatever keeps a node from being made (human-requests page's facts);
    # the steps dialect tells the template errors apart.
    return Failed(error.code if spec.wraps else "action_materialization_failed", error.message)


def _short_prompt(spec: AskSpec, context: Context) -> str:
    prompt = " ".join(spec.prompt.render_text(context.scope).split())
    return prompt if len(prompt) <= PROMPT_IN_MESSAGES else prompt[: PROMPT_IN_MESSAGES - 1] + "…"
