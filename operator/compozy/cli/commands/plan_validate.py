"""`kubectl compozy plan validate`: all that is wrong with plan files at once, without a cluster."""

from typing import Any

import click

from compozy.cli.command import command
from compozy.cli.errors import EXIT_FAILED
from compozy.cli.planfile import PlanFile, read_plan
from compozy.cli.session import Session


@command("validate", connects=False)
@click.argument("files", nargs=-1, required=True, type=click.Path(), metavar="FILE...")
def validate(session: Session, files: tuple[str, ...]) -> int:
    """Find everything that is wrong with plan files; `-` reads one from stdin.

    Each problem is a line `file:line:column: path: message [code]`. Exit code 1 when there is any.
    """
    plans = [read_plan(file) for file in files]
    wrong = any(plan.problems for plan in plans)
    if session.as_json:
        reports = [_report(plan) for plan in plans]
        session.out_json(reports[0] if len(reports) == 1 else reports)
    else:
        for plan in plans:
            for line in plan.problem_lines() or [_fine(plan)]:
                session.out(line)
    return EXIT_FAILED if wrong else 0


def _fine(plan: PlanFile) -> str:
    count = "1 step" if plan.steps == 1 else f"{plan.steps} steps"
    return f"{plan.file}: ok, {count}"


def _report(plan: PlanFile) -> dict[str, Any]:
    return {
        "file": plan.file,
        "plan": plan.name,
        "steps": plan.steps,
        "ok": not plan.problems,
        "problems": [
            {
                "path": problem.path,
                "code": problem.code,
                "message": problem.message,
                "line": problem.line,
                "column": problem.column,
            }
            for problem in plan.problems
        ],
    }
