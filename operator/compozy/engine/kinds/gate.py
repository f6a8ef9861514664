"""`gate`: go on only where every criterion passes."""

from collections.abc import Mapping
from typing import Any

from compozy.engine.codes import UNRENDERABLE
from compozy.engine.effects import Call
from compozy.engine.events import NodeEvent, RequestAnswered, RequestCanceled
from compozy.engine.kinds.infer import DEFAULT_ROLE, verdict_of
from compozy.engine.kinds.questions import not_one_of, put_question
from compozy.engine.outcomes import (
    Calling,
    Canceled,
    Context,
    Failed,
    GateOpened,
    Outcome,
    Revised,
    Succeeded,
)
from compozy.engine.state import Cell
from compozy.language.compiled import ApprovalSpec, Criterion, GateSpec, JudgeSpec
from compozy.language.errors import LanguageError

DECISIONS = ("approve", "reject")
"""What a person decides over a gate."""


def enter_gate(spec: GateSpec, context: Context) -> Outcome:  # noqa: ARG001
    """Look into the criteria."""
    return GateOpened(spec)


def enter_approval(spec: ApprovalSpec, context: Context) -> Outcome:
    """Ask a person to approve or reject."""
    try:
        prompt = spec.prompt.render_text(context.scope)
    except LanguageError as error:
        return Failed(UNRENDERABLE, error.message)
    if not context.attended:
        return Failed("request_unavailable", "nobody can be asked to approve here")
    return put_question(spec, context, prompt, DECISIONS, kind="Review")


def resume_approval(spec: ApprovalSpec, context: Context, event: NodeEvent) -> Outcome:  # noqa: ARG001
    """Take the decision."""
    match event:
        case RequestAnswered() if event.decision in DECISIONS:
            return Succeeded({"passed": event.decision == "approve"})
        case RequestAnswered():
            return not_one_of(event.decision, DECISIONS)
        case RequestCanceled():
            return Canceled("request_canceled", "the question was canceled")
    return Failed("request_unavailable", "nobody decided in time")


def enter_judge(spec: JudgeSpec, context: Context) -> Outcome:
    """Have an agent judge by the rubric."""
    try:
        question = spec.rubric.render_text(context.scope)
        agent = spec.agent.render_text(context.scope) if spec.agent is not None else DEFAULT_ROLE
    except LanguageError as error:
        return Failed(UNRENDERABLE, error.message)
    call = Call(context.node, context.generation, "infer", agent, {"question": question}, context.attempt)
    return Calling(call)


def resume_judge(spec: JudgeSpec, context: Context, event: NodeEvent) -> Outcome:  # noqa: ARG001
    """Take the verdict."""
    verdict = verdict_of(event)
    if isinstance(verdict, Failed):
        return verdict
    return Succeeded({"passed": verdict.holds, "reason": verdict.reason})


def judged(spec: GateSpec, cells: Mapping[str, Cell], revisions: int) -> Outcome:
    """What a gate comes to when all its criteria have; `revisions` is how many there have been."""
    results = [_result(criterion, cells[criterion.id]) for criterion in spec.criteria]
    passed = [result["passed"] for result in results]
    outcome = "error" if None in passed else "approved" if all(passed) else "rejected"
    output = {"outcome": outcome, "criteria": results}
    route = spec.on_result[{"approved": "pass", "rejected": "fail", "error": "error"}[outcome]]
    blockers = ", ".join(result["id"] for result in results if not result["passed"])
    told = f"{outcome}: {blockers}" if blockers else outcome
    if route.action in ("revise", "next_generation"):
        if revisions >= spec.max_revisions:
            return Failed("gate_max_revisions_exhausted", f"{told} after {spec.max_revisions} revisions")
        return Revised(told)
    if route.action == "halt":
        return Failed(route.reason_code or "gate_halted", told)
    return Succeeded(output, route=route.branch)


def _result(criterion: Criterion, cell: Cell) -> dict[str, Any]:
    """What one criterion came to; `passed` is null where that could not be found out."""
    told: dict[str, Any] = {"id": criterion.id, "type": criterion.type, "passed": None}
    if cell.status != "Succeeded":
        return {**told, "reason": cell.message or cell.reason}
    output = cell.output if isinstance(cell.output, Mapping) else {}
    passed = _passed(criterion, output)
    reason = output.get("reason")
    return {**told, "passed": passed, **({"reason": reason} if isinstance(reason, str) else {})}


def _passed(criterion: Criterion, output: Mapping[str, Any]) -> bool | None:
    if criterion.type != "command" or "passed" in output:
        passed = output.get("passed")
        return passed if isinstance(passed, bool) else None
    code, text = output.get("exit_code"), output.get("stdout")
    match criterion.expect:
        case "stdout_contains":
            return isinstance(text, str) and criterion.contains in text
        case "exit_nonzero":
            return _is_code(code) and code != 0
    return code == 0 if _is_code(code) else None


def _is_code(code: Any) -> bool:
    return isinstance(code, int) and not isinstance(code, bool)
