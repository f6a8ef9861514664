"""What can be wrong with a plan or with its inputs: every problem has a path, a code and a message."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong with a plan."""

    path: str
    """Where, as a path into the plan, such as `steps[1].input.when`."""
    code: str
    """A stable identifier of the kind of problem."""
    message: str
    """What is wrong and what to write instead."""
    line: int | None = None
    """Line in the file, counted from 1, where the plan came from a file."""
    column: int | None = None
    """Column in the file, counted from 1."""

    def __str__(self) -> str:
        where = self.path or "plan"
        if self.line is not None:
            where = f"{self.line}:{self.column}: {where}"
        return f"{where}: {self.message} [{self.code}]"


class PlanInvalid(ValueError):
    """The plan cannot be right: carries every problem found."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems: tuple[Problem, ...] = tuple(problems)
        super().__init__("; ".join(str(problem) for problem in self.problems))


class InputsInvalid(ValueError):
    """The inputs of a run are missing or do not fit the plan's input schema."""

    def __init__(self, problems: Mapping[str, str], schema: Mapping[str, Any]) -> None:
        self.problems = dict(problems)
        self.schema = dict(schema)
        super().__init__(faults_line(self.problems))


def faults_line(faults: Mapping[str, str]) -> str:
    """Return in one line what is wrong with a value, by path."""
    return "; ".join(f"{path}: {message}" for path, message in faults.items())
