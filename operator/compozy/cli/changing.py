"""Changes to a run that its operator acts on, and waiting until it has."""

from collections.abc import Callable

from compozy.cli.errors import CliError
from compozy.cli.kube.client import Object, ObjectList
from compozy.cli.kube.errors import ApiError
from compozy.cli.kube.resources import PLAN_RUNS
from compozy.cli.kube.watch import watch
from compozy.cli.session import Session

WAIT_SECONDS = 10.0
"""How long a command waits for the operator."""

NOT_TAKEN_UP = "The operator has not taken it up yet."


def change_run(session: Session, name: str, spec: Object) -> Object:
    """The run with some fields of its spec changed. Raises CliError `run_not_found`."""
    try:
        return session.client.merge_patch(PLAN_RUNS, session.namespace, name, {"spec": spec})
    except ApiError as error:
        if not error.not_found:
            raise
        raise CliError("run_not_found", f"there is no run {name!r} in {session.namespace}") from error


def wait_for_run(session: Session, run: Object, done: Callable[[Object], bool]) -> Object:
    """The run once `done` holds of it, or as it is after a few seconds."""
    if done(run):
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
        if change.deleted or done(run):
            break
    return run
