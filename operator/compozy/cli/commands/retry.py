"""`kubectl compozy retry`: tries a run that has failed again."""

import click

from compozy.cli.changing import NOT_TAKEN_UP, change_run, wait_for
from compozy.cli.command import command
from compozy.cli.completion import FAILED, names_of
from compozy.cli.errors import CliError
from compozy.cli.feed import phase_of
from compozy.cli.find import get_run
from compozy.cli.kube.client import Object
from compozy.cli.kube.resources import PLAN_RUNS
from compozy.cli.session import Session
from compozy.cli.states import ENDED


@command("retry")
@click.argument("run_name", metavar="RUN", shell_complete=names_of(PLAN_RUNS, FAILED))
def retry(session: Session, run_name: str) -> int:
    """Try RUN again after it has failed: a new attempt of the same plan with the same inputs begins."""
    run = get_run(session, run_name)
    name = run["metadata"]["name"]
    if not _is_under_way(run):
        failed = _attempt(run)
        _check(run, name)
        if (run["spec"].get("retries") or 0) < failed:
            run = change_run(session, name, {"retries": failed})
        run = wait_for(session, PLAN_RUNS, run, lambda seen: _attempt(seen) > failed)
        if _attempt(run) <= failed:
            return _tell(session, run, f"planrun/{name} retry requested", NOT_TAKEN_UP)
    return _tell(session, run, f"planrun/{name} retried: attempt {_attempt(run)}")


def _attempt(run: Object) -> int:
    return int((run.get("status") or {}).get("generation") or 1)


def _is_under_way(run: Object) -> bool:
    """Whether the last retry that was asked for has begun and not ended: asking again changes nothing."""
    return run["spec"].get("retries") == _attempt(run) - 1 > 0 and phase_of(run) not in ENDED


def _check(run: Object, name: str) -> None:
    """Raises CliError for a run that has not failed, saying what to do instead."""
    match phase_of(run):
        case "Failed":
            return
        case "Succeeded":
            raise CliError("run_succeeded", f"run {name} has succeeded: start another run")
        case "Canceled":
            raise CliError("run_canceled", f"run {name} was canceled, which is final: start another run")
        case phase:
            message = f"run {name} has not ended: it is {phase}. Wait for its end, or cancel it and start another"
            raise CliError("run_not_ended", message)


def _tell(session: Session, run: Object, text: str, note: str = "") -> int:
    if session.as_json:
        told = {"run": run["metadata"]["name"], "phase": phase_of(run), "generation": _attempt(run)}
        session.out_json({"ok": True, **told})
        return 0
    session.out(text)
    if note:
        session.note(note)
    return 0
