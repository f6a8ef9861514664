"""`decide`: one of two branches."""

from compozy.engine.events import NodeEvent
from compozy.engine.kinds.infer import ask_judge, verdict_of
from compozy.engine.outcomes import Branch, Context, Failed, Outcome, Succeeded
from compozy.language.compiled import DecideSpec, InferSpec
from compozy.language.errors import LanguageError


def enter_decide(spec: DecideSpec, context: Context) -> Outcome:
    """Only the gate is rendered; then only the chosen branch."""
    if isinstance(spec.gate, InferSpec):
        return ask_judge(spec.gate, context)
    try:
        return _chosen(spec, spec.gate.test(context.scope), None)
    except LanguageError as error:
        return Failed(error.code, error.message)


def resume_decide(spec: DecideSpec, context: Context, event: NodeEvent) -> Outcome:  # noqa: ARG001
    """Take the judge's verdict."""
    verdict = verdict_of(event)
    return verdict if isinstance(verdict, Failed) else _chosen(spec, verdict.holds, verdict.reason)


def _chosen(spec: DecideSpec, holds: bool, reason: str | None) -> Outcome:
    if holds:
        return Branch("then", spec.then, True, reason)
    if spec.otherwise is not None:
        return Branch("else", spec.otherwise, False, reason)
    return Succeeded({"branch": None, "verdict": False, "reason": reason, "result": None})
