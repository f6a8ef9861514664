"""`kubectl compozy run`: starts a run, follows it and, on a terminal, asks its questions.

Stdout carries only what the run delivers. Without a terminal nobody can be asked here, so the run is
unattended and every question resolves at once as its plan declares.
"""

import json
import sys
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import click

from compozy.cli.command import command
from compozy.cli.completion import names_of
from compozy.cli.errors import EXIT_INTERRUPTED, CliError
from compozy.cli.find import get_plan
from compozy.cli.kube.client import Object
from compozy.cli.kube.errors import UnreachableError
from compozy.cli.kube.resources import API_VERSION, PLAN_RUNS, PLANS
from compozy.cli.output.text import clean
from compozy.cli.planfile import invalid_plan, require_plan
from compozy.cli.session import Session
from compozy.cli.suggestions import run_inputs
from compozy.cli.textfile import STDIN
from compozy.cli.values import read_inputs

if TYPE_CHECKING:
    from compozy.language.compiled import CompiledPlan

_LONGEST_BASE = 57
"""Longest base of a generated name: with a dash and five characters it makes 63."""

_ATTENDANCE = {"attended": "Attended", "unattended": "Unattended"}


@command("run")
@click.argument("plan_name", metavar="[PLAN]", required=False, shell_complete=names_of(PLANS))
@click.option(
    "-f",
    "--filename",
    "file",
    type=click.Path(),
    metavar="FILE",
    help="Run the plan of this file; `-` reads stdin.",
)
@click.option(
    "--input",
    "pairs",
    multiple=True,
    metavar="K=V",
    help="One input. Can be given again.",
    shell_complete=run_inputs,
)
@click.option("--inputs", "document", metavar="JSON", help="The inputs: JSON, @FILE, or - for stdin.")
@click.option("--name", metavar="NAME", help="Name of the run. Default: the plan's with five characters more.")
@click.option("--local", "here", is_flag=True, help="Run the plan of a file in this process, without a cluster.")
@click.option("--detach", is_flag=True, help="Start the run and return at once; others answer its questions.")
@click.option(
    "--attendance",
    type=click.Choice(list(_ATTENDANCE), case_sensitive=False),
    help="Whether people can be asked. Default: attended on a terminal or with --detach.",
)
def run(
    session: Session,
    plan_name: str | None,
    file: str | None,
    pairs: tuple[str, ...],
    document: str | None,
    name: str | None,
    here: bool,
    detach: bool,
    attendance: str | None,
) -> int:
    """Start a run of PLAN, or of the plan in a file, follow it and answer its questions.

    Exit code 0 done, 1 failed, 3 inputs missing or invalid, 4 an exit gate with status error.
    """
    if bool(plan_name) == bool(file):
        raise click.UsageError("say what to run: PLAN, or -f FILE")
    if file == STDIN and document == STDIN:
        raise click.UsageError("stdin can be the plan or the inputs, not both")
    if here and (detach or not file):
        raise click.UsageError("--local runs the plan of -f FILE, to its end: leave out PLAN and --detach")
    title, spec, compiled = _from_file(file) if file else _from_cluster(session, plan_name or "")
    inputs = read_inputs(document, pairs, compiled.input_schema)
    _check_inputs(compiled, inputs)
    if here:
        from compozy.cli.local import run_here

        attended = attendance != "unattended" and STDIN not in (file, document)
        return run_here(session, title, compiled, inputs, file or STDIN, attended=attended)
    asks = not detach and STDIN not in (file, document) and _person_is_here(session)
    attending = _attendance(attendance, may_be_asked=asks or detach)
    body = _manifest(title, name, {**spec, "inputs": inputs, **attending}, session)
    created = session.client.create(PLAN_RUNS, session.namespace, body)
    if detach:
        _print_started(session, created)
        return 0
    return _follow(session, created, title, asks=asks and attending != {"attendance": "Unattended"})


def _from_file(file: str) -> "tuple[str, Object, CompiledPlan]":
    """The plan goes into the run itself: there need not be a Plan object."""
    plan, document, compiled = require_plan(file)
    return plan.name or "run", {"plan": document.spec}, compiled


def _from_cluster(session: Session, name: str) -> "tuple[str, Object, CompiledPlan]":
    from compozy.language.compile import compile_plan
    from compozy.language.problems import PlanInvalid

    plan = get_plan(session, name)
    try:
        compiled = compile_plan(plan["spec"])
    except PlanInvalid as invalid:
        lines = [clean(f"{plan['metadata']['name']}:{problem}") for problem in invalid.problems]
        raise invalid_plan(lines, invalid.problems) from invalid
    found = plan["metadata"]["name"]
    return found, {"planRef": {"name": found}}, compiled


def _check_inputs(compiled: "CompiledPlan", inputs: Mapping[str, Any]) -> None:
    """Nothing is created for inputs that do not fit. Raises CliError `inputs_invalid`."""
    from compozy.language.problems import InputsInvalid

    try:
        compiled.resolve_inputs(inputs)
    except InputsInvalid as invalid:
        lines = list(_faults(invalid.problems, invalid.schema))
        # The whole schema is for programs and logs; a person needs what is missing.
        if not sys.stderr.isatty():
            lines.append("schema: " + json.dumps(invalid.schema, ensure_ascii=False))
        raise CliError(
            "inputs_invalid",
            "the inputs do not fit the plan: give each as --input NAME=VALUE",
            invalid.problems,
            extra={"schema": invalid.schema},
            lines=lines,
        ) from invalid


def _faults(problems: Mapping[str, str], schema: Mapping[str, Any]) -> Iterator[str]:
    """A line for each input that is missing or does not fit, with what it means and what can be given."""
    from compozy.requests.forms import fields

    form = {field.name: field for field in fields(schema)}
    for name, problem in problems.items():
        field = form.get(name)
        label = f" — {field.description}" if field and field.description else ""
        yield f"{name}: {problem}{label}{f' [{field.hint}]' if field else ''}"


def _person_is_here(session: Session) -> bool:
    from compozy.cli.asking import person_is_here

    return person_is_here(session)


def _attendance(asked: str | None, *, may_be_asked: bool) -> dict[str, str]:
    """What the run's spec says about people; nothing where the cluster's own settings decide."""
    if asked is not None:
        return {"attendance": _ATTENDANCE[asked.lower()]}
    return {} if may_be_asked else {"attendance": "Unattended"}


def _manifest(title: str, name: str | None, spec: Object, session: Session) -> Object:
    named = {"name": name} if name else {"generateName": f"{title[:_LONGEST_BASE]}-"}
    return {
        "apiVersion": API_VERSION,
        "kind": PLAN_RUNS.kind,
        "metadata": {**named, "namespace": session.namespace},
        "spec": {**spec, "startedBy": session.identity.username},
    }


def _print_started(session: Session, created: Object) -> None:
    name = created["metadata"]["name"]
    if session.as_json:
        session.out_json({"run": name})
    else:
        session.out(f"planrun/{name} started")


def _follow(session: Session, created: Object, title: str, *, asks: bool) -> int:
    from compozy.cli.following import follow
    from compozy.cli.interview import NobodyHere
    from compozy.cli.progress import Progress
    from compozy.cli.result import deliver
    from compozy.cli.stored import Stored

    name = created["metadata"]["name"]
    progress = Progress(session)
    progress.started(created, title)
    try:
        ended = follow(session, created, progress, asks=asks)
    except KeyboardInterrupt:
        session.note(f"\nThe run goes on. {_afterwards(session, name)}")
        return EXIT_INTERRUPTED
    except NobodyHere as error:
        message = f"the input has ended and the run goes on. {_afterwards(session, name)}"
        raise CliError("unreachable", message) from error
    except UnreachableError as error:
        raise CliError("unreachable", f"{error}. The run goes on. {_afterwards(session, name)}") from error
    progress.ended(ended)
    return deliver(session, Stored(session).whole(ended), title)


def _afterwards(session: Session, name: str) -> str:
    """How to go on with a run that is no longer followed."""
    place = f"{name} -n {session.namespace}"
    return clean(f"See it: kubectl compozy describe {place}. End it: kubectl compozy cancel {place}")
