"""`run --local`: the same engine in this process, without a cluster."""

import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from compozy.cli.asking import ask_here, person_is_here
from compozy.cli.result import deliver
from compozy.cli.session import Session
from compozy.engine.effects import OpenRequest
from compozy.engine.snapshot import to_status
from compozy.engine.state import RunState
from compozy.hosts.local import Ask, run_locally
from compozy.requests.opening import shown_path
from compozy.requests.outcome import Outcome

if TYPE_CHECKING:
    from compozy.language.compiled import CompiledPlan


def run_here(
    session: Session, title: str, compiled: "CompiledPlan", inputs: Mapping[str, Any], *, attended: bool
) -> int:
    """Run a plan in this process and print its result; the exit code is that of `run`."""
    ask: Ask | None = _ask if attended and person_is_here(session) else None
    state = run_locally(compiled, inputs, ask, lambda: datetime.now(UTC))
    return deliver(session, _as_run(compiled, state), title)


def _ask(question: OpenRequest) -> Outcome:
    spec = {
        "node": question.node,
        "path": shown_path(question),
        "kind": "Ask",
        "prompt": question.prompt,
        "context": question.context,
        "expect": question.expect,
        # At a terminal a blank line declines and the end of input is unavailable; neither is offered as a word.
        "decisions": ["respond"],
    }
    return ask_here({"spec": spec}, sys.stdin)


def _as_run(plan: "CompiledPlan", state: RunState) -> dict[str, Any]:
    """The state in the shape of a PlanRun, so that one printer serves both."""
    status = to_status(plan, state)
    status["conditions"] = [{"type": "Succeeded", "message": state.message or ""}]
    return {"metadata": {"name": "local"}, "status": status}
