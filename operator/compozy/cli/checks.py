"""Results of `plan test` and `plan explore`, shown as test runners show theirs."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from compozy.cli.errors import CliError
from compozy.cli.output.text import clean, pad, width
from compozy.cli.session import Session

if TYPE_CHECKING:
    from compozy.plantest.junit import Outcome

_WIDEST_NAME = 60
"""Details stand in one column, beside names up to this wide."""


def show(session: Session, outcomes: "Sequence[Outcome]") -> None:
    """Print one line for each outcome, under the name of its file, and below it what is wrong."""
    for group in dict.fromkeys(outcome.group for outcome in outcomes):
        members = [outcome for outcome in outcomes if outcome.group == group]
        session.out(clean(group))
        column = max(min(width(clean(outcome.name)), _WIDEST_NAME) for outcome in members)
        for outcome in members:
            name, detail = clean(outcome.name), clean(outcome.detail)
            told = f"{pad(name, column)}   {detail}" if detail else name
            session.out(f"  {'✗' if outcome.faults else '✓'} {told}")
            for fault in outcome.faults:
                session.out(f"      {_indented(fault)}")


def _indented(line: str) -> str:
    """A line that is safe to print and keeps its indentation."""
    return " " * (len(line) - len(line.lstrip(" "))) + clean(line)


def counted(count: int, thing: str) -> str:
    """`1 fault`, `2 faults`."""
    return f"{count} {thing}" if count == 1 else f"{count} {thing}s"


def write_report(session: Session, file: str, suite: str, outcomes: "Sequence[Outcome]") -> None:
    """Write a report in JUnit XML. Raises CliError."""
    from compozy.plantest.junit import to_junit

    try:
        Path(file).write_text(to_junit(suite, outcomes, session.now()), "utf-8")
    except OSError as error:
        raise CliError("bad_input", f"cannot write {file}: {error.strerror}") from error
