"""`kubectl compozy describe`: a run as a tree, with what waits for whom since when, and the next deadline."""

import json
from collections.abc import Iterator, Sequence
from datetime import datetime

import click

from compozy.cli.command import command
from compozy.cli.completion import names_of
from compozy.cli.feed import phase_of
from compozy.cli.find import get_run
from compozy.cli.kube.client import Object
from compozy.cli.kube.resources import HUMAN_REQUESTS, PLAN_RUNS
from compozy.cli.listing import sort_key
from compozy.cli.output.text import clean, cut
from compozy.cli.output.times import age, parse_time, seconds_only, until
from compozy.cli.preview import preview
from compozy.cli.runtree import places_of, tree_of
from compozy.cli.session import Session
from compozy.cli.states import ENDED
from compozy.cli.stored import Stored
from compozy.cli.treelines import tree_lines
from compozy.requests.state import is_open

_INPUTS = 100


@command("describe", formats=("json",))
@click.argument("run_name", metavar="RUN", shell_complete=names_of(PLAN_RUNS))
def describe(session: Session, run_name: str) -> None:
    """Show a run: each step, what waits for whom since when, and the next deadline."""
    run, stored = get_run(session, run_name), Stored(session)
    name = run["metadata"]["name"]
    questions = session.client.list(HUMAN_REQUESTS, session.namespace, field_selector=f"spec.run={name}").items
    if session.as_json:
        session.out_json({"run": stored.whole(run), "requests": [preview(question) for question in questions]})
        return
    now = session.now()
    places = places_of(stored.plan_of(run))
    tree = tree_of(places.order, stored.full_nodes(run, outputs=False), questions)
    for line in (*_head(run, questions, now), "", *tree_lines(tree, now, places)):
        session.out(line)


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
    following = _next(status, waiting, now)
    if following:
        yield _line("Next", following)
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


def _next(status: Object, waiting: Sequence[Object], now: datetime) -> str:
    """What happens by itself first: a question closes, or the run goes on. Empty where nothing does."""
    first = min(waiting, key=lambda item: sort_key(item, "pending"), default=None)
    closes = first["spec"].get("expiresAt") if first else None
    goes_on = status.get("deadline") if status.get("phase") not in ENDED else None
    if goes_on and _is_earlier(goes_on, closes):
        return f"goes on by itself {until(goes_on, now)} ({seconds_only(goes_on)})"
    if first and closes:
        item = f" item {first['spec']['item']}" if first["spec"].get("item") is not None else ""
        return f"{first['spec']['node']}{item} closes {until(closes, now)} ({seconds_only(closes)})"
    return "no question has a deadline" if waiting else ""


def _is_earlier(text: str | None, other: str | None) -> bool:
    """Whether there is a time, and it comes before another that there need not be."""
    one, two = parse_time(text), parse_time(other)
    return one is not None and (two is None or one < two)


def _moment(text: str | None, now: datetime) -> str:
    return f"{seconds_only(text)} ({age(text, now)} ago)" if text else "<unknown>"


def _line(title: str, value: str) -> str:
    return f"{title + ':':<12}{clean(value)}"
