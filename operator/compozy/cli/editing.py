"""What all commands that edit a plan file have in common: reading, refusing, saving and telling the result."""

import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import click

from compozy.cli.errors import CliError
from compozy.cli.output.text import clean
from compozy.cli.planfile import invalid_plan
from compozy.cli.saving import save
from compozy.cli.session import Session
from compozy.cli.textfile import STDIN, read_text
from compozy.cli.values import parse_value, split_pair

if TYPE_CHECKING:
    from compozy.language.authoring.edits import Edited
    from compozy.language.problems import Problem

file_argument = click.argument("file", type=click.Path(), metavar="FILE")
"""The plan file; `-` reads stdin and writes stdout."""
dry_run_option = click.option("--dry-run", is_flag=True, help="Print the result to stdout and save nothing.")


def edit(session: Session, file: str, make: "Callable[[str], Edited]", *, dry_run: bool) -> int:
    """Makes an edit of a file and tells the result. Raises CliError; then nothing has been saved."""
    before = read_text(file)
    edited = _made(file, before, make)
    saves = file != STDIN and not dry_run
    if saves and edited.text != before:
        save(file, edited.text)
    _tell(session, file, edited, saves=saves)
    return 0


def pairs(arguments: Sequence[str]) -> dict[str, Any]:
    """`KEY=VALUE` arguments; a value is JSON where it can be, else text. Raises CliError `bad_input`."""
    given = {}
    for argument in arguments:
        key, value = split_pair("the argument", argument)
        given[key] = parse_value(value)
    return given


def problem_lines(file: str, problems: "Sequence[Problem]") -> list[str]:
    """Each problem as `file:line:column: path: message [code]`."""
    return [clean(f"{file}:{problem}") for problem in problems]


def problems_json(problems: "Sequence[Problem]") -> list[dict[str, Any]]:
    """Problems for programs."""
    return [
        {
            "path": problem.path,
            "code": problem.code,
            "message": problem.message,
            "line": problem.line,
            "column": problem.column,
        }
        for problem in problems
    ]


def write_text(text: str) -> None:
    """Prints a document as it is, for a file or a pipe."""
    sys.stdout.write(text)
    sys.stdout.flush()


def _made(file: str, before: str, make: "Callable[[str], Edited]") -> "Edited":
    from compozy.language.authoring.changes import AuthoringError
    from compozy.language.authoring.edits import EditRefused
    from compozy.language.problems import PlanInvalid

    try:
        return make(before)
    except PlanInvalid as invalid:
        raise invalid_plan(problem_lines(file, invalid.problems), invalid.problems) from invalid
    except EditRefused as refused:
        raise _refusal(file, refused.introduced, refused.existing) from refused
    except AuthoringError as error:
        raise CliError("bad_input", str(error)) from error


def _refusal(file: str, introduced: "Sequence[Problem]", existing: "Sequence[Problem]") -> CliError:
    count = "1 problem" if len(introduced) == 1 else f"{len(introduced)} problems"
    details = {problem.path or "plan": f"{problem.message} [{problem.code}]" for problem in introduced}
    extra: dict[str, object] = {"problemsIntroduced": problems_json(introduced)}
    if existing:
        extra["preExistingProblems"] = problems_json(existing)
    message = f"the edit would introduce {count}; nothing is saved"
    return CliError("edit_refused", message, details, extra=extra, lines=problem_lines(file, introduced))


def _tell(session: Session, file: str, edited: "Edited", *, saves: bool) -> None:
    if session.as_json:
        session.out_json(_result(file, edited, saves=saves))
        return
    if saves:
        count = "1 step" if edited.steps == 1 else f"{edited.steps} steps"
        session.out(clean(f"{file}: saved, {count}"))
    else:
        write_text(edited.text)
    for line in problem_lines(file, edited.existing):
        session.note(f"{line} (was there before)")


def _result(file: str, edited: "Edited", *, saves: bool) -> dict[str, Any]:
    result: dict[str, Any] = {"ok": True}
    if edited.step_id is not None:
        result |= {"id": edited.step_id, "index": edited.index}
    result |= {"steps": edited.steps, "savedTo": file if saves else None}
    if not saves:
        result["text"] = edited.text
    if edited.existing:
        result["preExistingProblems"] = problems_json(edited.existing)
    return result
