"""`kubectl compozy pause`: holds a run."""

import click

from compozy.cli.command import command
from compozy.cli.completion import GOING_ON, names_of
from compozy.cli.holding import set_paused
from compozy.cli.kube.resources import PLAN_RUNS
from compozy.cli.session import Session


@command("pause")
@click.argument("run_name", metavar="RUN", shell_complete=names_of(PLAN_RUNS, GOING_ON))
def pause(session: Session, run_name: str) -> int:
    """Hold RUN: nothing new starts and no question expires, until `resume`. Answers are kept."""
    return set_paused(session, run_name, paused=True)
