"""`kubectl compozy plan apply`: creates or updates a Plan from a file, and tells what becomes of it."""

from typing import Any

import click

from compozy.cli.changing import wait_for
from compozy.cli.command import command
from compozy.cli.errors import CliError
from compozy.cli.kube.client import Object
from compozy.cli.kube.errors import ApiError
from compozy.cli.kube.resources import API_VERSION, PLANS
from compozy.cli.output.text import clean
from compozy.cli.planfile import PlanFile, require_plan
from compozy.cli.session import Session

READY_SECONDS = 5.0


@command("apply", formats=("json", "yaml", "name"))
@click.argument("path", metavar="[FILE]", required=False, type=click.Path())
@click.option("-f", "--filename", "file", type=click.Path(), metavar="FILE", help="The plan; `-` reads stdin.")
@click.option("--name", metavar="NAME", help="Name of the Plan. Default: the plan's own, else the file's.")
@click.option("--force-conflicts", is_flag=True, help="Take over fields that others have set.")
def apply(session: Session, path: str | None, file: str | None, name: str | None, force_conflicts: bool) -> int:
    """Create or update a Plan from a bare document or a manifest. Nothing is written when it has problems."""
    if bool(path) == bool(file):
        raise click.UsageError("say what to apply: FILE, or -f FILE")
    plan, document, _ = require_plan(path or file or "")
    namespace = _namespace(session, document.namespace)
    body = _manifest(_name(plan, name), namespace, document.metadata, document.spec)
    before = _existing(session, namespace, body["metadata"]["name"])
    try:
        applied = session.client.apply(PLANS, namespace, body["metadata"]["name"], body, force=force_conflicts)
    except ApiError as error:
        if not error.conflict:
            raise
        message = f"{error.message}: --force-conflicts takes them over"
        raise CliError("conflict", message) from error
    applied = wait_for(session, PLANS, applied, _observed, READY_SECONDS)
    _print(session, before, applied)
    return 1 if _problems(applied) else 0


def _name(plan: PlanFile, given: str | None) -> str:
    name = given or plan.name
    if not name:
        raise CliError("bad_input", "the plan has no name: give it one with --name")
    return name


def _namespace(session: Session, written: str | None) -> str:
    """The namespace of the file, which must not contradict `-n`."""
    asked = session.flags.namespace
    if written and asked and written != asked:
        raise CliError("bad_input", f"the file says namespace {written!r} and -n says {asked!r}")
    return written or session.namespace


def _manifest(name: str, namespace: str, metadata: dict[str, Any], spec: dict[str, Any]) -> Object:
    return {
        "apiVersion": API_VERSION,
        "kind": PLANS.kind,
        "metadata": {**metadata, "name": name, "namespace": namespace},
        "spec": spec,
    }


def _existing(session: Session, namespace: str, name: str) -> Object | None:
    try:
        return session.client.get(PLANS, namespace, name)
    except ApiError as error:
        if not error.not_found:
            raise
        return None


def _observed(plan: Object) -> bool:
    seen = (plan.get("status") or {}).get("observedGeneration")
    return bool(seen == plan["metadata"]["generation"])


def _problems(plan: Object) -> list[dict[str, str]]:
    """What the operator finds wrong with this generation of the Plan."""
    return list((plan.get("status") or {}).get("problems") or []) if _observed(plan) else []


def _print(session: Session, before: Object | None, applied: Object) -> None:
    name = applied["metadata"]["name"]
    if session.as_json:
        session.out_json(applied)
    elif session.output == "yaml":
        session.out_yaml(applied)
    elif session.output == "name":
        session.out(f"plan/{name}")
    elif before is None:
        session.out(f"plan/{name} created")
    else:
        same = before["metadata"]["generation"] == applied["metadata"]["generation"]
        session.out(f"plan/{name} {'unchanged' if same else 'configured'}")
    for problem in _problems(applied):
        session.note(clean(f"{problem['path']}: {problem['message']} [{problem['code']}]"))
    if not _observed(applied):
        session.note("The operator has not looked at it yet: `kubectl compozy plan list` shows when it has.")
