"""`kubectl compozy plan fmt`: plan files in normal form."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from compozy.cli.command import command
from compozy.cli.editing import problem_lines, problems_json, write_text
from compozy.cli.errors import EXIT_FAILED
from compozy.cli.output.text import clean
from compozy.cli.saving import save
from compozy.cli.session import Session
from compozy.cli.textfile import STDIN, read_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from compozy.language.problems import Problem


@dataclass(frozen=True, slots=True)
class _Formatted:
    """What became of a file; `text` is None where it cannot be formatted."""

    file: str
    before: str
    text: str | None
    problems: "Sequence[Problem]"

    @property
    def differs(self) -> bool:
        return self.text is not None and self.text != self.before


@command("fmt", connects=False)
@click.argument("files", nargs=-1, required=True, type=click.Path(), metavar="FILE...")
@click.option("--check", is_flag=True, help="Save nothing; list the files that would change, exit code 1 if any.")
def fmt(session: Session, files: tuple[str, ...], check: bool) -> int:
    """Rewrite plan files in normal form: snake_case keys, two columns a level. Comments stay.

    Lists the files that it changed. `-` reads stdin and writes stdout. A file that is not YAML is left alone and
    its problems are told; the others are formatted all the same.
    """
    results = [_format(file) for file in files]
    for result in results:
        if result.differs and result.file != STDIN and not check:
            save(result.file, str(result.text))
    if session.as_json:
        reports = [_report(result, check=check) for result in results]
        session.out_json(reports[0] if len(reports) == 1 else reports)
    else:
        _tell(session, results, check=check)
    wrong = any(result.text is None or (check and result.differs) for result in results)
    return EXIT_FAILED if wrong else 0


def _format(file: str) -> _Formatted:
    from compozy.language.authoring.format import format_text
    from compozy.language.problems import PlanInvalid

    before = read_text(file)
    try:
        return _Formatted(file, before, format_text(before), ())
    except PlanInvalid as invalid:
        return _Formatted(file, before, None, invalid.problems)


def _tell(session: Session, results: list[_Formatted], *, check: bool) -> None:
    for result in results:
        for line in problem_lines(result.file, result.problems):
            session.note(line)
        if result.file == STDIN and not check:
            write_text(result.text or "")
        elif result.differs:
            session.out(clean(result.file))


def _report(result: _Formatted, *, check: bool) -> dict[str, Any]:
    report: dict[str, Any] = {"ok": result.text is not None, "file": result.file, "changed": result.differs}
    saves = result.differs and result.file != STDIN and not check
    report["savedTo"] = result.file if saves else None
    if result.file == STDIN and not check:
        report["text"] = result.text
    if result.problems:
        report["problems"] = problems_json(result.problems)
    return report
