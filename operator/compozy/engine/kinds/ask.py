"""`ask`: put a question to people, and go on by what the plan declares when nobody answers."""

from typing import Literal

from compozy.engine.codes import UNRENDERABLE
from compozy.engine.conforming import misfit, misfit_answer
from compozy.engine.events import NodeEvent, RequestAnswered, RequestCanceled, RequestUnanswered
from compozy.engine.kinds.questions import put_question
from compozy.engine.outcomes import Canceled, Context, Failed, Outcome, Succeeded
from compozy.language.compiled import AskSpec
from compozy.language.errors import LanguageError
from compozy.redaction.redactor import redact_text

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
    return put_question(spec, context, prompt, spec.decisions, context=shown, expect=spec.expect)


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
    refused = misfit_answer(spec.expect, payload)
    if refused is not None:
        return refused
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
    refused = misfit(spec.expect, answer, "default_invalid", "the default does not conform")
    if refused is not None:
        return refused
    output = {"answer": answer, "answered": False, "reason": told} if spec.wraps else answer
    return Succeeded(output, reason=f"request_{reason}")


def _unrenderable(spec: AskSpec, error: LanguageError) -> Failed:
    # The graph dialect has one code for whatever keeps a node from being made (human-requests page's facts);
    # the steps dialect tells the template errors apart.
    return Failed(error.code if spec.wraps else UNRENDERABLE, error.message)


def _short_prompt(spec: AskSpec, context: Context) -> str:
    # Redacted before it is cut: half a secret no longer looks like one.
    prompt = redact_text(" ".join(spec.prompt.render_text(context.scope).split()))
    return prompt if len(prompt) <= PROMPT_IN_MESSAGES else prompt[: PROMPT_IN_MESSAGES - 1] + "…"
