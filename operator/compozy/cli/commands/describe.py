"""`kubectl compozy describe`: a run as a tree, with what waits for whom since when, and the next deadline."""

import json
from collections.abc import Iterator, Sequence
from datetime import datetime

import click

from compozy.cli.command import command
from compozy.cli.completion import names_of
from compozy.cli.feed import ENDED, phase_of
from compozy.cli.find import get_run
from compozy.cli.kube.client import Object
from compozy.cli.kube.errors import ApiError
from compozy.cli.kube.resources import HUMAN_REQUESTS, PLAN_RUNS, PLANS
from compozy.cli.listing import sort_key
from compozy.cli.output.text import clean, cut
from compozy.cli.output.times import age, until
from compozy.cli.preview import preview
from compozy.cli.runtree import steps_in_order, tree_lines, tree_of
from compozy.cli.session import Session
from compozy.requests.closing import is_open

_INPUTS = 100


@command("describe", formats=("json",))
@click.argument("run_name", metavar="RUN", shell_complete=names_of(PLAN_RUNS))
def describe(session: Session, run_name: str) -> None:
    """Show a run: each step, what waits for whom since when, and the next deadline."""
    run = get_run(session, run_name)
    name = run["metadata"]["name"]
    questions = session.client.list(HUMAN_REQUESTS, session.namespace, field_selector=f"spec.run={name}").items
    if session.as_json:
        session.out_json({"run": run, "requests": [preview(question) for question in questions]})
        return
    now = session.now()
    tree = tree_of(steps_in_order(_plan_spec(session, run)), run, questions)
    for line in (*_head(run, questions, now), "", *tree_lines(tree, now)):
        session.out(line)


def _plan_spec(session: Session, run: Object) -> Object | None:
    """What the run was written as, for the order of its steps; None where that has changed since."""
    inline: Object | None = run["spec"].get("plan")
    if inline is not None:
        return inline
    try:
        plan = session.client.get(PLANS, session.namespace, run["spec"]["planRef"]["name"])
    except ApiError as error:
        if error.status not in (403, 404):
            raise
        return None
    frozen = (run.get("status") or {}).get("revision")
    spec: Object = plan["spec"]
    return spec if not frozen or (plan.get("status") or {}).get("revision") == frozen else None


def _head(run: Object, questions: Sequence[Object], now: datetime) -> Iterator[str]:
    metadata, spec, status = run["metadata"], run["spec"], run.get("status") or {}
    waiting = [item for item in questions if is_open(item)]
    yield f"planrun/{clean(metadata['name'])}  {_standing(run, len(waiting))}"
    yield ""
    plan = (spec.get("planRef") or {}).get("name") or "<inline>"
    yield _line("Plan", plan + (f", revision {status['revision']}" if status.get("revision") else ""))
    yield _line("Started", f"{_moment(metadata.get('creationTimestamp'), now)} by {spec.get('startedBy')}")
    if status.get("completedAt"):
        yield _line("Ended", _moment(status["completedAt"], now))
    if (status.get("generation") or 1) > 1:
        yield _line("Attempt", str(status["generation"]))
    if status.get("attended") is False:
        yield _line("Attendance", "Unattended: nobody is asked")
    if spec.get("inputs"):
        yield _line("Inputs", cut(clean(json.dumps(spec["inputs"], ensure_ascii=False)), _INPUTS))
    if waiting:
        yield _line("Next", _deadline(waiting, now))
    for condition in status.get("conditions") or []:
        if condition["type"] == "Succeeded" and condition["status"] == "False":
            yield _line("Why", condition["message"] or condition["reason"])
    if status.get("exit"):
        yield _line("Exit", f"{status['exit']['status']}: {status['exit']['message']}")
    if status.get("output") is not None:
        yield _line("Output", cut(clean(json.dumps(status["output"], ensure_ascii=False)), _INPUTS))


def _standing(run: Object, waiting: int) -> str:
    phase = phase_of(run)
    if run["spec"].get("paused") and phase not in ENDED:
        return "Paused"
    if waiting and phase not in ENDED:
        return f"{phase}, {waiting} question{'s' if waiting > 1 else ''} open"
    return phase


def _deadline(waiting: Sequence[Object], now: datetime) -> str:
    """The question that closes first."""
    first = min(waiting, key=lambda item: sort_key(item, "pending"))
    if not first["spec"].get("expiresAt"):
        return "no question has a deadline"
    closes = first["spec"]["expiresAt"]
    return f"{first['spec']['node']} closes {until(closes, now)} ({closes})"


def _moment(text: str | None, now: datetime) -> str:
    return f"{text} ({age(text, now)} ago)" if text else "<unknown>"


def _line(title: str, value: str) -> str:
    return f"{title + ':':<12}{clean(value)}"
