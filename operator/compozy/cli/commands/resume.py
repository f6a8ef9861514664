"""`kubectl compozy resume`: lets a paused run go on."""

import click

from compozy.cli.command import command
from compozy.cli.completion import GOING_ON, names_of
from compozy.cli.holding import set_paused
from compozy.cli.kube.resources import PLAN_RUNS
from compozy.cli.session import Session


@command("resume")
@click.argument("run_name", metavar="RUN", shell_complete=names_of(PLAN_RUNS, GOING_ON))
def resume(session: Session, run_name: str) -> int:
    """Let RUN go on after `pause`: it takes up the answers that came meanwhile."""
    return set_paused(session, run_name, paused=False)
