"""`kubectl compozy runs`: the runs of a namespace, and how many people each waits for."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from compozy.cli.command import command
from compozy.cli.feed import phase_of
from compozy.cli.kube.client import Object, ObjectList
from compozy.cli.kube.resources import PLAN_RUNS
from compozy.cli.output.table import Column, Table
from compozy.cli.output.text import clean
from compozy.cli.output.times import age
from compozy.cli.session import Session
from compozy.cli.stored import Stored


@command("runs", shared=("all_namespaces", "selector", "watch"), formats=("json", "yaml", "name", "wide"))
def runs(session: Session) -> None:
    """List runs, the newest first."""
    listed = session.client.list(PLAN_RUNS, session.scope, label_selector=session.flags.selector or "")
    found = sorted(listed.items, key=lambda run: str(run["metadata"]["name"]))
    found.sort(key=lambda run: str(run["metadata"]["creationTimestamp"]), reverse=True)
    table = Table(_columns(session), session.terminal_width())
    if session.flags.watch:
        _print(session, table, found, streamed=True)
        _watch(session, table, listed)
    elif not found and session.output not in ("json", "yaml", "name"):
        where = "in any namespace" if session.scope is None else f"in namespace {session.namespace}"
        session.note(clean(f"No runs {where}."))
    else:
        _print(session, table, found, streamed=False)


def _print(session: Session, table: Table, runs: Sequence[Object], *, streamed: bool) -> None:
    if session.output in ("json", "yaml"):
        stored = Stored(session)
        runs = [stored.whole(run) for run in runs]
    if session.output in ("json", "yaml") and not streamed:
        listed: dict[str, Any] = {"apiVersion": "v1", "kind": "List", "metadata": {}, "items": list(runs)}
        (session.out_json if session.as_json else session.out_yaml)(listed)
        return
    now = session.now()
    for run in runs:
        if session.output == "name":
            session.out(f"planrun/{run['metadata']['name']}")
        elif session.output == "json":
            session.out_json(run, indented=False)
        elif session.output == "yaml":
            session.out("---")
            session.out_yaml(run)
    if session.output not in ("json", "yaml", "name"):
        rows = [_row(session, run, now) for run in runs]
        for line in table.lines(rows):
            session.out(line)


def _watch(session: Session, table: Table, listed: ObjectList) -> None:
    from compozy.cli.kube.watch import watch

    labels = session.flags.selector or ""
    for change in watch(session.client, PLAN_RUNS, session.scope, label_selector=labels, since=listed):
        if not change.deleted:
            _print(session, table, [change.object], streamed=True)


def _columns(session: Session) -> list[Column]:
    columns = [Column("NAME"), Column("PLAN"), Column("PHASE"), Column("WAITING")]
    if session.flags.all_namespaces:
        columns.insert(0, Column("NAMESPACE"))
    if session.output == "wide":
        columns += [
            Column("GENERATION"),
            Column("STEPS"),
            Column("STARTED-BY"),
            Column("MESSAGE", flexible=True),
        ]
    return [*columns, Column("AGE")]


def _row(session: Session, run: Object, now: datetime) -> list[object]:
    metadata, spec, status = run["metadata"], run["spec"], run.get("status") or {}
    plan = (spec.get("planRef") or {}).get("name") or "<inline>"
    cells: list[object] = [
        metadata["name"],
        plan,
        shown_phase(run),
        status.get("pendingRequests", 0),
    ]
    if session.flags.all_namespaces:
        cells.insert(0, metadata["namespace"])
    if session.output == "wide":
        message = (status.get("exit") or {}).get("message")
        cells += [status.get("generation"), status.get("stepsExecuted"), spec.get("startedBy"), message]
    return [*cells, age(metadata.get("creationTimestamp"), now)]


def shown_phase(run: Object) -> str:
    """The phase of a run, or `Paused` while it is held."""
    phase = phase_of(run)
    held = run["spec"].get("paused") and phase in ("Pending", "Running")
    return "Paused" if held else phase
