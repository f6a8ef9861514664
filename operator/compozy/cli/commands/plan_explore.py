"""`kubectl compozy plan explore`: follows every path that answers can open, without a cluster."""

from collections.abc import Iterator
from time import perf_counter
from typing import TYPE_CHECKING, Any

import click

from compozy.cli.checks import counted, show, write_report
from compozy.cli.command import command
from compozy.cli.errors import EXIT_FAILED, CliError
from compozy.cli.output.text import clean
from compozy.cli.planfile import require_plan
from compozy.cli.session import Session
from compozy.cli.values import read_inputs

if TYPE_CHECKING:
    from compozy.language.document import PlanDocument
    from compozy.plantest.exploring.report import Report
    from compozy.plantest.exploring.tracer import Fault, Situation
    from compozy.plantest.junit import Outcome
    from compozy.plantest.model import Stubs

_MAX_RUNS = 2000
_SHOWN_DECISIONS = 8
"""How many of the things that lead to a fault a line for people shows, the last ones."""


@command("explore", connects=False)
@click.argument("file", type=click.Path(), metavar="FILE")
@click.option("--input", "pairs", multiple=True, metavar="K=V", help="One input; the others are generated.")
@click.option("--tools", type=click.Path(), metavar="FILE", help="What calls give, as `tools` of a case has it.")
@click.option("--max-runs", type=click.IntRange(min=1), default=_MAX_RUNS, show_default=True, help="When to stop.")
@click.option("--junit", type=click.Path(dir_okay=False), metavar="FILE", help="Write a report in JUnit XML.")
def explore(
    session: Session, file: str, pairs: tuple[str, ...], tools: str | None, max_runs: int, junit: str | None
) -> int:
    """Follow every path that answers can open, with answers generated from the schemas.

    Finds steps that no answer reaches, templates that can fail, and defaults that do not fit. Exit code 1 when
    it finds any.
    """
    from compozy.language.problems import InputsInvalid
    from compozy.plantest.explore import explore as follow

    plan, document, compiled = require_plan(file)
    inputs = read_inputs(None, pairs, compiled.input_schema)
    stubs = _stubs(tools) if tools is not None else {}
    begun = perf_counter()
    try:
        found = follow(compiled, document.spec, inputs, stubs, max_runs)
    except InputsInvalid as invalid:
        raise CliError("inputs_invalid", "no inputs that fit could be made", invalid.problems) from invalid
    seconds = (perf_counter() - begun) / len(found.checks)
    outcomes = _outcomes(file, document, found, seconds)
    if junit is not None:
        write_report(session, junit, "plan explore", outcomes)
    if session.as_json:
        session.out_json(_as_json(plan.name, document, found))
    else:
        show(session, outcomes)
        _summary(session, found)
    return EXIT_FAILED if found.faults else 0


def _stubs(file: str) -> "dict[str, Stubs]":
    from compozy.plantest.cases import load_stubs
    from compozy.plantest.model import CasesInvalid

    try:
        return load_stubs(file)
    except CasesInvalid as invalid:
        lines = [clean(f"{invalid.file}:{problem}") for problem in invalid.problems]
        raise CliError("bad_input", f"{file} cannot be read as tools", lines=lines) from invalid


def _outcomes(file: str, document: "PlanDocument", found: "Report", seconds: float) -> "list[Outcome]":
    from compozy.plantest.junit import Outcome

    return [
        Outcome(
            file,
            check.place.label,
            tuple(line for fault in check.faults for line in _lines(file, document, fault)),
            check.place.kind,
            seconds,
        )
        for check in found.checks
    ]


def _lines(file: str, document: "PlanDocument", fault: "Fault") -> Iterator[str]:
    line, _ = fault.place.position(document, fault.field)
    field = f"{fault.field}: " if fault.field else ""
    yield (
        f"{file}:{line}: {field}{fault.message} [{fault.code}]"
        if line
        else f"{field}{fault.message} [{fault.code}]"
    )
    if fault.situation is not None:
        for told in _told(fault.situation):
            yield f"  when {told}"


def _told(situation: "Situation") -> Iterator[str]:
    from compozy.language.values import dump_json

    if situation.inputs:
        yield f"the inputs are {dump_json(dict(situation.inputs))}"
    if not situation.attended:
        yield "nobody can be asked"
    hidden = len(situation.decisions) - _SHOWN_DECISIONS
    if hidden > 0:
        yield f"{counted(hidden, 'thing')} happened before"
    for decision in situation.decisions[-_SHOWN_DECISIONS:]:
        yield f"{decision.label}: {decision.told}"


def _summary(session: Session, found: "Report") -> None:
    for check in found.checks:
        for note in check.notes:
            session.out(clean(f"note: {check.place.label}: {note}"))
    for ending in found.endings:
        step = f" at {ending.step}" if ending.step else ""
        # How many steps a graph has executed differs with the lanes and turns of its runs.
        told = f" after {ending.last}" if ending.last else f"{step}: {ending.message}"
        session.out(clean(f"{counted(ending.runs, 'run')} {ending.phase}{told}"))
    for limit in found.limits:
        session.out(clean(f"limit: {limit}"))
    runs, paths = counted(found.runs, "run"), counted(found.paths, "path")
    session.out(f"{runs} over {paths}, {counted(len(found.faults), 'fault')}")


def _as_json(name: str | None, document: "PlanDocument", found: "Report") -> dict[str, Any]:
    return {
        "plan": name,
        "ok": not found.faults,
        "runs": found.runs,
        "paths": found.paths,
        "complete": found.complete,
        "limits": list(found.limits),
        "faults": [_fault_as_json(document, fault) for fault in found.faults],
        "notes": [{"step": check.place.label, "note": note} for check in found.checks for note in check.notes],
        "endings": [
            {
                "phase": ending.phase,
                "reason": ending.reason,
                "step": ending.step,
                "last": ending.last,
                "message": ending.message,
                "runs": ending.runs,
                "case": ending.situation.as_case(),
            }
            for ending in found.endings
        ],
    }


def _fault_as_json(document: "PlanDocument", fault: "Fault") -> dict[str, Any]:
    line, column = fault.place.position(document, fault.field)
    situation = fault.situation
    return {
        "step": fault.place.label,
        "path": fault.place.path,
        "line": line,
        "column": column,
        "field": fault.field,
        "code": fault.code,
        "message": fault.message,
        "inputs": dict(situation.inputs) if situation else None,
        "decisions": [item.told for item in situation.decisions] if situation else [],
        "case": situation.as_case() if situation else None,
    }
