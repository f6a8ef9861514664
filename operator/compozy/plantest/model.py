"""A case: a plan, what happens to a run of it, and what must follow."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from compozy.language.document import PlanDocument
from compozy.language.problems import Problem
from compozy.language.steps.context import PlanSource
from compozy.requests.outcome import Outcome


@dataclass(frozen=True, slots=True)
class Stub:
    """What one call gives: an output, or the text of its failure."""

    output: Any = None
    error: str | None = None
    """None where the call succeeds."""
    code: str | None = None
    """Of an error: its code, such as `transport`; None for that of the kind of call."""


@dataclass(frozen=True, slots=True)
class Stubs:
    """What the calls of one tool give."""

    results: tuple[Stub, ...]
    in_turn: bool
    """Whether each result is for one call; otherwise the only one is for all."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question that must be put."""

    path: str
    prompt: str | None = None
    """None where any prompt will do."""


@dataclass(frozen=True, slots=True)
class Expectation:
    """What must follow. Only what the author wrote is compared."""

    problems: tuple[tuple[str, str], ...] | None = None
    """Path and code of every problem for which the plan is refused."""
    inputs_problems: tuple[str, ...] | None = None
    """Paths of every problem for which the inputs are refused."""
    values: Mapping[str, Any] = field(default_factory=dict)
    """Of the run: `phase`, `reason`, `message`, `exit`, `output`, `answer`, `steps_executed`."""
    nodes: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """By path: `status`, `output`, `reason`, `message`, `route`."""
    asked: tuple[Question, ...] | None = None
    called: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Case:
    """One case of a file."""

    name: str
    file: str
    line: int
    """Line of the case in its file, counted from 1."""
    document: PlanDocument | None
    """The plan; None where it is not even a plan document."""
    refused: tuple[Problem, ...]
    """Why the plan is not even a plan document."""
    source: PlanSource | None
    """Finds plans that it calls."""
    trusts_unknown: bool
    """Whether a plan that is not found may be in a cluster; a case that gives `plans` knows them all."""
    expect: Expectation
    rule: str | None = None
    """The sentence that the case shows."""
    attended: bool = True
    inputs: Mapping[str, Any] = field(default_factory=dict)
    answers: Mapping[str, Outcome] = field(default_factory=dict)
    """By the path of the step or node that asks, in which `*` stands for the index of any element; in a fan-out by
    node and item, `choose[3]`."""
    tools: Mapping[str, Stubs] = field(default_factory=dict)
    """By the name of the tool; `agent:`, `infer:` or `solver:` and the role for what a model does."""
    plans: Mapping[str, dict[str, Any]] = field(default_factory=dict)
    """Specs of plans that are called, by name, where the case gives them."""


class CasesInvalid(ValueError):
    """A file of cases that cannot be read: carries every problem found."""

    def __init__(self, file: str, problems: list[Problem]) -> None:
        self.file = file
        self.problems = tuple(problems)
        super().__init__("\n".join(f"{file}:{problem}" for problem in problems))
