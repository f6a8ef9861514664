"""Holding a run and letting it go on: `spec.paused`."""

from compozy.cli.changing import change_run
from compozy.cli.errors import CliError
from compozy.cli.feed import phase_of
from compozy.cli.find import get_run
from compozy.cli.session import Session
from compozy.cli.states import ENDED


def set_paused(session: Session, name: str, *, paused: bool) -> int:
    """Pauses or resumes a run; doing it again changes nothing. Raises CliError `run_ended`."""
    run = get_run(session, name)
    name, phase = run["metadata"]["name"], phase_of(run)
    if phase in ENDED:
        again = "try it again with `kubectl compozy retry`" if phase == "Failed" else "start another run"
        raise CliError("run_ended", f"run {name} has ended: {phase}. There is nothing to hold: {again}")
    if bool(run["spec"].get("paused")) is not paused:
        run = change_run(session, name, {"paused": paused})
    if session.as_json:
        session.out_json({"ok": True, "run": name, "paused": paused, "phase": phase_of(run)})
    else:
        session.out(f"planrun/{name} {'paused' if paused else 'resumed'}")
    return 0
