"""`kubectl compozy plan explore`: follows every path that answers can open, without a cluster."""

from typing import TYPE_CHECKING, Any

import click

from compozy.cli.command import command
from compozy.cli.commands.plan_test import report, show
from compozy.cli.errors import EXIT_FAILED, CliError
from compozy.cli.planfile import require_plan
from compozy.cli.session import Session
from compozy.cli.values import read_inputs

if TYPE_CHECKING:
    from compozy.plantest.exploring.report import Report
    from compozy.plantest.exploring.tracer import Fault
    from compozy.plantest.junit import Outcome

_MAX_RUNS = 2000


@command("explore", connects=False)
@click.argument("file", type=click.Path(), metavar="FILE")
@click.option("--input", "pairs", multiple=True, metavar="K=V", help="One input; the others are generated.")
@click.option("--max-runs", type=click.IntRange(min=1), default=_MAX_RUNS, show_default=True, help="When to stop.")
@click.option("--junit", type=click.Path(dir_okay=False), metavar="FILE", help="Write a report in JUnit XML.")
def explore(session: Session, file: str, pairs: tuple[str, ...], max_runs: int, junit: str | None) -> int:
    """Follow every path that answers can open, with answers generated from the schemas.

    Finds steps that no answer reaches, templates that can fail, and defaults that do not fit. Exit code 1 when
    it finds any.
    """
    from compozy.language.problems import InputsInvalid
    from compozy.plantest.explore import explore as follow

    plan, document, compiled = require_plan(file)
    inputs = read_inputs(None, pairs, compiled.input_schema)
    try:
        found = follow(compiled, document.spec, inputs, max_runs=max_runs)
    except InputsInvalid as invalid:
        raise CliError("inputs_invalid", "no inputs that fit could be made", invalid.problems) from invalid
    outcomes = _outcomes(file, found)
    if junit is not None:
        report(junit, "plan explore", outcomes)
    if session.as_json:
        session.out_json(_as_json(plan.name, found))
    else:
        show(session, outcomes)
        _summary(session, found)
    return EXIT_FAILED if found.faults else 0


def _outcomes(file: str, found: "Report") -> "list[Outcome]":
    from compozy.plantest.junit import Outcome

    return [
        Outcome(file, check.place.label, tuple(_line(fault) for fault in check.faults)) for check in found.checks
    ]


def _line(fault: "Fault") -> str:
    where = f"{fault.field}: " if fault.field else ""
    way = ""
    if fault.situation is not None:
        told = [decision.told for decision in fault.situation.decisions]
        way = f" — when {'; '.join(told)}" if told else "" if fault.situation.attended else " — when unattended"
    return f"{where}{fault.message} [{fault.code}]{way}"


def _summary(session: Session, found: "Report") -> None:
    for check in found.checks:
        for note in check.notes:
            session.out(f"  note: {check.place.label}: {note}")
    for ending in found.endings:
        step = f" at {ending.step}" if ending.step else ""
        session.out(f"  {ending.runs} x {ending.phase}{step}: {ending.message}")
    for limit in found.limits:
        session.out(f"  limit: {limit}")
    count = len(found.faults)
    session.out(f"{found.runs} runs over {found.paths} paths, {count} fault{'' if count == 1 else 's'}")


def _as_json(name: str | None, found: "Report") -> dict[str, Any]:
    return {
        "plan": name,
        "ok": not found.faults,
        "runs": found.runs,
        "paths": found.paths,
        "complete": found.complete,
        "limits": list(found.limits),
        "faults": [
            {
                "step": fault.place.label,
                "path": fault.place.path,
                "field": fault.field,
                "code": fault.code,
                "message": fault.message,
                "inputs": dict(fault.situation.inputs) if fault.situation else None,
                "decisions": [item.told for item in fault.situation.decisions] if fault.situation else [],
            }
            for fault in found.faults
        ],
        "endings": [
            {
                "phase": item.phase,
                "reason": item.reason,
                "step": item.step,
                "message": item.message,
                "runs": item.runs,
            }
            for item in found.endings
        ],
    }
