"""`run --local`: the same engine in this process, without a cluster."""

import sys
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any

from compozy.cli.asking import ask_here, person_is_here
from compozy.cli.planfile import source_beside
from compozy.cli.result import deliver
from compozy.cli.session import Session
from compozy.engine.effects import OpenRequest
from compozy.engine.snapshot import to_status
from compozy.engine.state import RunState
from compozy.hosts.local import Ask, Host
from compozy.language.compile import compile_plan
from compozy.redaction.redactor import redact_text
from compozy.requests.opening import shown_fields, shown_path
from compozy.requests.outcome import Outcome

if TYPE_CHECKING:
    from compozy.language.compiled import CompiledPlan


def run_here(
    session: Session, title: str, compiled: "CompiledPlan", inputs: Mapping[str, Any], file: str, *, attended: bool
) -> int:
    """Run a plan in this process and print its result; the exit code is that of `run`."""
    ask: Ask | None = _ask if attended and person_is_here(session) else None
    host = Host(lambda: datetime.now(UTC), ask, find_plan=partial(_plan_beside, file), sleep=_sleep_until)
    state = host.run(compiled, inputs)
    return deliver(session, _as_run(compiled, state), title)


def _ask(question: OpenRequest) -> Outcome:
    spec = {
        "node": question.node,
        "path": shown_path(question),
        "kind": question.kind,
        "expect": question.expect,
        # At a terminal a blank line declines and the end of input is unavailable; neither is offered as a word.
        "decisions": [word for word in question.decisions if word not in ("decline", "unavailable")],
        **shown_fields(question),
    }
    return ask_here({"spec": spec}, sys.stdin)


def _plan_beside(file: str, name: str) -> "CompiledPlan | None":
    """A plan that a run starts, among the files beside its own. Raises PlanInvalid."""
    source = source_beside(file)
    spec = source(name)
    return None if spec is None else compile_plan(spec, source, trusts_unknown=True)


def _sleep_until(moment: datetime) -> None:
    time.sleep(max((moment - datetime.now(UTC)).total_seconds(), 0.0))


def _as_run(plan: "CompiledPlan", state: RunState) -> dict[str, Any]:
    """The state in the shape of a PlanRun, so that one printer serves both."""
    status = to_status(plan, state)
    status["conditions"] = [{"type": "Succeeded", "message": redact_text(state.message or "")}]
    return {"metadata": {"name": "local"}, "status": status}
