"""`kubectl compozy cancel`: ends a run with its open questions, or one question alone."""

import click

from compozy.cli.answering import TRIES, pause_before_retry, raise_if_resolved
from compozy.cli.command import command
from compozy.cli.completion import names_of
from compozy.cli.errors import CliError
from compozy.cli.feed import ENDED, phase_of
from compozy.cli.find import get_question, object_name
from compozy.cli.kube.client import Object, ObjectList
from compozy.cli.kube.errors import ApiError
from compozy.cli.kube.resources import HUMAN_REQUESTS, PLAN_RUNS
from compozy.cli.kube.watch import watch
from compozy.cli.session import Session
from compozy.engine.times import timestamp
from compozy.requests.closing import state_of

WAIT_SECONDS = 10.0


@command("cancel")
@click.argument("run_name", metavar="[RUN]", required=False, shell_complete=names_of(PLAN_RUNS))
@click.option("--request", "request_name", metavar="NAME", help="Cancel this question instead of a run.")
def cancel(session: Session, run_name: str | None, request_name: str | None) -> int:
    """Cancel RUN: its open questions are canceled and nothing new starts. It cannot be taken back.

    With --request, cancel one question alone. The policies that come with Compozy leave that to the operator.
    """
    if bool(run_name) == bool(request_name):
        raise click.UsageError("say what to cancel: RUN, or --request NAME")
    if run_name:
        return _cancel_run(session, object_name(run_name, PLAN_RUNS))
    return _cancel_request(session, object_name(request_name or "", HUMAN_REQUESTS))


def _cancel_run(session: Session, name: str) -> int:
    try:
        run = session.client.merge_patch(PLAN_RUNS, session.namespace, name, {"spec": {"canceled": True}})
    except ApiError as error:
        if not error.not_found:
            raise
        raise CliError("run_not_found", f"there is no run {name!r} in {session.namespace}") from error
    run = _ended(session, run)
    phase = phase_of(run)
    if phase in ("Succeeded", "Failed"):
        raise CliError("conflict", f"run {name} had already ended: {phase}")
    if session.as_json:
        session.out_json({"ok": True, "run": name, "phase": phase})
    elif phase == "Canceled":
        session.out(f"planrun/{name} canceled")
    else:
        session.out(f"planrun/{name} cancel requested")
        session.note("The operator has not taken it up yet.")
    return 0


def _ended(session: Session, run: Object) -> Object:
    """The run once it has ended, or as it is after a few seconds."""
    if phase_of(run) in ENDED:
        return run
    for change in watch(
        session.client,
        PLAN_RUNS,
        session.namespace,
        field_selector=f"metadata.name={run['metadata']['name']}",
        since=ObjectList([run], run["metadata"]["resourceVersion"]),
        seconds=WAIT_SECONDS,
    ):
        run = change.object
        if change.deleted or phase_of(run) in ENDED:
            break
    return run


def _cancel_request(session: Session, name: str) -> int:
    """Writes the state where it is kept, on the version that was read, so that an answer is never lost."""
    for attempt in range(TRIES):
        request = get_question(session, name)
        if state_of(request) == "Canceled":
            break
        raise_if_resolved(request)
        patch = {
            "metadata": {"resourceVersion": request["metadata"]["resourceVersion"]},
            "status": {"state": "Canceled", "resolvedAt": timestamp(session.now())},
        }
        try:
            session.client.merge_patch(HUMAN_REQUESTS, session.namespace, name, patch, "status")
        except ApiError as error:
            if error.conflict:
                pause_before_retry(attempt)
                continue
            if error.status == 403:
                raise _not_for_you(name, error) from error
            raise
        break
    else:
        raise CliError("conflict", f"request {name} kept changing: try again")
    if session.as_json:
        session.out_json({"ok": True, "request": name, "state": "Canceled"})
    else:
        session.out(f"humanrequest/{name} canceled")
    return 0


def _not_for_you(name: str, error: ApiError) -> CliError:
    message = f"you may not cancel request {name} by itself: decline it, or cancel its run"
    return CliError("not_permitted", f"{message} ({error.message})")
