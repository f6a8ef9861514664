"""`exit`: end the plan when a gate holds."""

from compozy.engine.events import NodeEvent
from compozy.engine.kinds.infer import ask_judge, verdict_of
from compozy.engine.outcomes import Context, ExitFired, Failed, Outcome, Succeeded
from compozy.engine.state import Exit
from compozy.language.compiled import ExitSpec
from compozy.language.errors import LanguageError
from compozy.language.keys import type_name

DEFAULT_MESSAGES = {"success": "plan exited early", "error": "plan asserted failure"}


def enter_exit(spec: ExitSpec, context: Context) -> Outcome:
    """Decide whether the plan ends here. A gate that does not hold lets it go on."""
    unrenderable = _decided(spec, context, False, None)
    if isinstance(unrenderable, Failed):
        # The whole input is rendered before the gate is asked: what cannot render is found at once.
        return unrenderable
    if spec.infer is not None:
        return ask_judge(spec.infer, context)
    try:
        holds = spec.when is None or spec.when.test(context.scope)
    except LanguageError as error:
        return Failed(error.code, error.message)
    return _decided(spec, context, holds, None)


def resume_exit(spec: ExitSpec, context: Context, event: NodeEvent) -> Outcome:
    """Take the judge's verdict."""
    verdict = verdict_of(event)
    if isinstance(verdict, Failed):
        return verdict
    return _decided(spec, context, verdict.holds, verdict.reason)


def _decided(spec: ExitSpec, context: Context, holds: bool, reason: str | None) -> Outcome:
    try:
        status = spec.status.render_text(context.scope)
        message = spec.message.render_text(context.scope) if spec.message is not None else None
        output = spec.output.render(context.scope) if spec.output is not None else None
    except LanguageError as error:
        return Failed(error.code, error.message)
    if status not in DEFAULT_MESSAGES:
        return Failed("exit_status_invalid", f"`status` must be `success` or `error`, not `{status[:40]}`")
    if output is not None and not isinstance(output, dict):
        return Failed("exit_output_invalid", f"`output` must render to an object, not {type_name(output)}")
    if not holds:
        return Succeeded({"passed": True, "verdict": False, "reason": reason})
    told = DEFAULT_MESSAGES[status] if message is None else message
    if reason:
        told = f"{told} ({reason})"
    return ExitFired(Exit("success" if status == "success" else "error", told, output, context.node, reason))
