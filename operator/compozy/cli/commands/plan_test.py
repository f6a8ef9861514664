"""`kubectl compozy plan test`: runs the cases beside plans, without a cluster."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

import click

from compozy.cli.checks import counted, show, write_report
from compozy.cli.command import command
from compozy.cli.errors import EXIT_BAD_INPUT, EXIT_FAILED, CliError
from compozy.cli.output.text import clean
from compozy.cli.session import Session

if TYPE_CHECKING:
    from compozy.plantest.junit import Outcome

_SUFFIX = ".test.yaml"


@command("test", connects=False)
@click.argument("paths", nargs=-1, type=click.Path(), metavar="[PATH...]")
@click.option("-k", "only", metavar="TEXT", default="", help="Only cases with this in their name.")
@click.option("--junit", type=click.Path(dir_okay=False), metavar="FILE", help="Write a report in JUnit XML.")
def test(session: Session, paths: tuple[str, ...], only: str, junit: str | None) -> int:
    """Run the cases of NAME.test.yaml files, of the files beside plans, or of whole directories.

    Without PATH, those of the current directory. Exit code 1 when a case does not end as it must, 65 when a file
    cannot be read.
    """
    outcomes: list[Outcome] = []
    unreadable: list[str] = []
    for file in _files(paths or (".",)):
        outcomes += _outcomes(file, only, unreadable)
    if not outcomes and not unreadable:
        raise CliError("bad_input", "there is no such case; cases are in files named like release.test.yaml")
    if junit is not None:
        write_report(session, junit, "plan test", outcomes)
    _tell(session, outcomes, unreadable)
    if unreadable:
        return EXIT_BAD_INPUT
    return EXIT_FAILED if any(outcome.faults for outcome in outcomes) else 0


def _files(paths: Sequence[str]) -> Iterator[Path]:
    """The files of cases that some paths mean, each once."""
    found: dict[Path, None] = {}
    for name in paths:
        path = Path(name)
        if path.is_dir():
            found.update(dict.fromkeys(sorted(path.glob(f"*{_SUFFIX}"))))
        elif path.name.endswith(_SUFFIX):
            found.setdefault(path)
        else:
            found.setdefault(path.with_name(f"{path.stem}{_SUFFIX}"))
    return iter(found)


def _outcomes(file: Path, only: str, unreadable: list[str]) -> "Iterator[Outcome]":
    from compozy.plantest.cases import load_cases
    from compozy.plantest.junit import Outcome
    from compozy.plantest.model import CasesInvalid
    from compozy.plantest.runner import run_case

    try:
        cases = load_cases(file)
    except CasesInvalid as invalid:
        unreadable += [f"{invalid.file}:{problem}" for problem in invalid.problems]
        return
    for case in cases:
        if only.lower() in case.name.lower():
            begun = perf_counter()
            differences = run_case(case).differences
            yield Outcome(str(file), case.name, differences, seconds=perf_counter() - begun)


def _tell(session: Session, outcomes: "Sequence[Outcome]", unreadable: Sequence[str]) -> None:
    failed = sum(bool(outcome.faults) for outcome in outcomes)
    passed = len(outcomes) - failed
    if session.as_json:
        session.out_json(
            {
                "ok": not failed and not unreadable,
                "passed": passed,
                "failed": failed,
                "cases": [_as_json(outcome) for outcome in outcomes],
                "unreadable": list(unreadable),
            }
        )
        return
    show(session, outcomes)
    for line in unreadable:
        session.note(clean(line))
    told = f"{passed} passed, {failed} failed"
    session.out(f"{told}, {counted(len(unreadable), 'problem')} in files" if unreadable else told)


def _as_json(outcome: "Outcome") -> dict[str, object]:
    return {
        "file": outcome.group,
        "name": outcome.name,
        "ok": not outcome.faults,
        "differences": list(outcome.faults),
    }
