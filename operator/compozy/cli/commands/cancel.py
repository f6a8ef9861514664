"""`kubectl compozy cancel`: ends a run with its open questions, or one question alone."""

import click

from compozy.cli.answering import TRIES, pause_before_retry, raise_if_resolved
from compozy.cli.changing import NOT_TAKEN_UP, change_run, wait_for
from compozy.cli.command import command
from compozy.cli.completion import GOING_ON, names_of
from compozy.cli.errors import CliError
from compozy.cli.feed import phase_of
from compozy.cli.find import get_question, missing, object_name
from compozy.cli.kube.client import Object
from compozy.cli.kube.errors import ApiError
from compozy.cli.kube.resources import HUMAN_REQUESTS, PLAN_RUNS
from compozy.cli.session import Session
from compozy.cli.states import ENDED
from compozy.cli.suggestions import PENDING
from compozy.requests.state import state_of


@command("cancel")
@click.argument("run_name", metavar="[RUN]", required=False, shell_complete=names_of(PLAN_RUNS, GOING_ON))
@click.option(
    "--request",
    "request_name",
    metavar="NAME",
    help="Cancel this question instead of a run.",
    shell_complete=names_of(HUMAN_REQUESTS, PENDING),
)
def cancel(session: Session, run_name: str | None, request_name: str | None) -> int:
    """Cancel RUN: its open questions are canceled and nothing new starts. It cannot be taken back.

    With --request, cancel one question alone: the step that asks fails, and its run with it. That takes the right
    to change the run; who may only answer declines instead.
    """
    if bool(run_name) == bool(request_name):
        raise click.UsageError("say what to cancel: RUN, or --request NAME")
    if run_name:
        return _cancel_run(session, object_name(run_name, PLAN_RUNS))
    return _cancel_request(session, object_name(request_name or "", HUMAN_REQUESTS))


def _cancel_run(session: Session, name: str) -> int:
    run = change_run(session, name, {"canceled": True})
    run = wait_for(session, PLAN_RUNS, run, lambda seen: phase_of(seen) in ENDED)
    phase = phase_of(run)
    if phase in ("Succeeded", "Failed"):
        raise CliError("conflict", f"run {name} had already ended: {phase}")
    return _tell(session, f"planrun/{name}", {"run": name, "phase": phase}, done=phase == "Canceled")


def _cancel_request(session: Session, name: str) -> int:
    """Names the question on its run, where the operator closes it unless somebody has answered first."""
    request = get_question(session, name)
    if state_of(request) != "Canceled":
        raise_if_resolved(request)
        _name_on_run(session, request)
        request = wait_for(session, HUMAN_REQUESTS, request, lambda seen: state_of(seen) != "Pending")
    state = state_of(request)
    if state != "Canceled":
        raise_if_resolved(request)
    return _tell(session, f"humanrequest/{name}", {"request": name, "state": state}, done=state == "Canceled")


def _tell(session: Session, who: str, told: Object, *, done: bool) -> int:
    if session.as_json:
        session.out_json({"ok": True, **told})
    elif done:
        session.out(f"{who} canceled")
    else:
        session.out(f"{who} cancel requested")
        session.note(NOT_TAKEN_UP)
    return 0


def _name_on_run(session: Session, request: Object) -> None:
    name, run_name = request["metadata"]["name"], request["spec"]["run"]
    for attempt in range(TRIES):
        try:
            run = session.client.get(PLAN_RUNS, session.namespace, run_name)
            named = run["spec"].get("canceledRequests") or []
            patch = {
                "metadata": {"resourceVersion": run["metadata"]["resourceVersion"]},
                "spec": {"canceledRequests": [*named, *([] if name in named else [name])]},
            }
            session.client.merge_patch(PLAN_RUNS, session.namespace, run_name, patch)
            return
        except ApiError as error:
            if error.status == 403:
                raise _not_for_you(name, error) from error
            if error.not_found:
                raise missing(session, "run", run_name) from error
            if not error.conflict:
                raise
        pause_before_retry(attempt)
    raise CliError("conflict", f"run {run_name} kept changing: try again")


def _not_for_you(name: str, error: ApiError) -> CliError:
    message = f"you may not cancel request {name} by itself: decline it, or cancel its run"
    return CliError("not_permitted", f"{message} ({error.message})")
