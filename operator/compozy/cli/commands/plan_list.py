"""`kubectl compozy plan list`: the Plans of a namespace and whether they can run."""

from datetime import datetime

from compozy.cli.command import command
from compozy.cli.kube.client import Object
from compozy.cli.kube.resources import PLANS
from compozy.cli.output.table import Column, Table
from compozy.cli.output.text import clean
from compozy.cli.output.times import age
from compozy.cli.planfile import count_steps
from compozy.cli.session import Session


@command("list", shared=("all_namespaces", "selector"), formats=("json", "yaml", "name", "wide"))
def list_plans(session: Session) -> None:
    """List Plans."""
    plans = session.client.list(PLANS, session.scope, label_selector=session.flags.selector or "").items
    if session.output in ("json", "yaml"):
        listed = {"apiVersion": "v1", "kind": "List", "metadata": {}, "items": plans}
        (session.out_json if session.as_json else session.out_yaml)(listed)
    elif session.output == "name":
        for plan in plans:
            session.out(f"plan/{plan['metadata']['name']}")
    elif not plans:
        where = "in any namespace" if session.scope is None else f"in namespace {session.namespace}"
        session.note(clean(f"No plans {where}."))
    else:
        now = session.now()
        for line in Table(_columns(session), session.terminal_width()).lines(
            [_row(session, plan, now) for plan in plans]
        ):
            session.out(line)


def _columns(session: Session) -> list[Column]:
    columns = [Column("NAME"), Column("READY"), Column("STEPS"), Column("PROBLEMS")]
    if session.flags.all_namespaces:
        columns.insert(0, Column("NAMESPACE"))
    if session.output == "wide":
        columns += [Column("REVISION"), Column("FIRST-PROBLEM", flexible=True)]
    return [*columns, Column("DESCRIPTION", flexible=True), Column("AGE")]


def _row(session: Session, plan: Object, now: datetime) -> list[object]:
    metadata, status = plan["metadata"], plan.get("status") or {}
    problems = status.get("problems") or []
    cells: list[object] = [metadata["name"], readiness(plan), count_steps(plan["spec"]), len(problems)]
    if session.flags.all_namespaces:
        cells.insert(0, metadata["namespace"])
    if session.output == "wide":
        cells += [status.get("revision"), problems[0]["message"] if problems else None]
    return [*cells, plan["spec"].get("description"), age(metadata.get("creationTimestamp"), now)]


def readiness(plan: Object) -> str:
    """Whether a Plan can run: `True`, `False`, or `Unknown` where the operator has not looked yet."""
    status = plan.get("status") or {}
    if status.get("observedGeneration") != plan["metadata"]["generation"]:
        return "Unknown"
    for condition in status.get("conditions") or []:
        if condition["type"] == "Ready":
            return str(condition["status"])
    return "Unknown"
