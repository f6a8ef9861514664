"""`exit`: end the run when a gate holds."""

from compozy.engine.outcomes import Context, ExitFired, Failed, Outcome, Succeeded
from compozy.engine.state import Exit
from compozy.language.compiled import ExitSpec
from compozy.language.errors import LanguageError

DEFAULT_MESSAGES = {"success": "plan exited early", "error": "plan asserted failure"}


def enter_exit(spec: ExitSpec, context: Context) -> Outcome:
    """Render everything first, then decide: a gate that does not hold lets the plan go on."""
    try:
        status = spec.status.render_text(context.scope)
        message = spec.message.render_text(context.scope) if spec.message is not None else None
        output = spec.output.render(context.scope) if spec.output is not None else None
        fired = spec.when is None or spec.when.test(context.scope)
    except LanguageError as error:
        return Failed(error.code, error.message)
    if not fired:
        return Succeeded({"passed": True, "verdict": False, "reason": None})
    match status:
        case "success" | "error":
            return ExitFired(Exit(status, message or DEFAULT_MESSAGES[status], output, context.node))
    return Failed("exit_status_invalid", f"`status` must be `success` or `error`, not `{status[:40]}`")
