"""Changes that the operator acts on, and waiting until it has."""

from collections.abc import Callable

from compozy.cli.find import missing
from compozy.cli.kube.client import Object
from compozy.cli.kube.errors import ApiError
from compozy.cli.kube.resources import PLAN_RUNS, Resource
from compozy.cli.kube.watch import watch_object
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
        raise missing(session, "run", name) from error


def wait_for(
    session: Session,
    resource: Resource,
    seen: Object,
    done: Callable[[Object], bool],
    seconds: float | None = None,
) -> Object:
    """The object once `done` holds of it, or as it is after `seconds` (default: `WAIT_SECONDS`)."""
    if done(seen):
        return seen
    for change in watch_object(session.client, resource, seen, WAIT_SECONDS if seconds is None else seconds):
        seen = change.object
        if change.deleted or done(seen):
            break
    return seen
