"""`kubectl compozy plan test`: runs the cases beside plans, without a cluster."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from compozy.cli.command import command
from compozy.cli.errors import EXIT_FAILED, CliError
from compozy.cli.session import Session

if TYPE_CHECKING:
    from compozy.plantest.junit import Outcome


@command("test", connects=False)
@click.argument("paths", nargs=-1, type=click.Path(), metavar="[PATH...]")
@click.option("-k", "only", metavar="TEXT", default="", help="Only cases with this in their name.")
@click.option("--junit", type=click.Path(dir_okay=False), metavar="FILE", help="Write a report in JUnit XML.")
def test(session: Session, paths: tuple[str, ...], only: str, junit: str | None) -> int:
    """Run the cases of NAME.test.yaml files, of the files beside plans, or of whole directories.

    Without PATH, those of the current directory. Exit code 1 when a case does not end as it must.
    """
    outcomes = [outcome for file in _files(paths or (".",)) for outcome in _outcomes(file, only)]
    if not outcomes:
        raise CliError("bad_input", "there is no such case; cases are in files named like release.test.yaml")
    if junit is not None:
        report(junit, "plan test", outcomes)
    failed = sum(bool(outcome.faults) for outcome in outcomes)
    if session.as_json:
        session.out_json(
            {"ok": not failed, "passed": len(outcomes) - failed, "failed": failed, "cases": _as_json(outcomes)}
        )
    else:
        show(session, outcomes)
        session.out(f"{len(outcomes) - failed} passed, {failed} failed")
    return EXIT_FAILED if failed else 0


def _files(paths: Sequence[str]) -> Iterator[Path]:
    for name in paths:
        path = Path(name)
        if path.is_dir():
            yield from sorted(path.glob("*.test.yaml"))
        elif path.name.endswith(".test.yaml"):
            yield path
        else:
            yield path.with_name(f"{path.stem}.test.yaml")


def _outcomes(file: Path, only: str) -> "Iterator[Outcome]":
    from compozy.plantest.cases import load_cases
    from compozy.plantest.junit import Outcome
    from compozy.plantest.model import CasesInvalid
    from compozy.plantest.runner import run_case

    try:
        cases = load_cases(file)
    except CasesInvalid as invalid:
        lines = [f"{invalid.file}:{problem}" for problem in invalid.problems]
        raise CliError("bad_input", f"{file} cannot be read as cases", lines=lines) from invalid
    for case in cases:
        if only.lower() in case.name.lower():
            yield Outcome(str(file), case.name, run_case(case).differences)


def report(path: str, suite: str, outcomes: "Sequence[Outcome]") -> None:
    """Write a report in JUnit XML. Raises CliError."""
    from compozy.plantest.junit import write_junit

    try:
        write_junit(Path(path), suite, outcomes)
    except OSError as error:
        raise CliError("bad_input", f"cannot write {path}: {error.strerror}") from error


def show(session: Session, outcomes: "Sequence[Outcome]") -> None:
    """Print outcomes as a test runner does."""
    for group in dict.fromkeys(outcome.group for outcome in outcomes):
        session.out(group)
        for outcome in outcomes:
            if outcome.group != group:
                continue
            session.out(f"  {'✗' if outcome.faults else '✓'} {outcome.name}")
            for fault in outcome.faults:
                session.out(f"      {fault}")


def _as_json(outcomes: "Sequence[Outcome]") -> list[dict[str, object]]:
    return [
        {
            "file": outcome.group,
            "name": outcome.name,
            "ok": not outcome.faults,
            "differences": list(outcome.faults),
        }
        for outcome in outcomes
    ]
