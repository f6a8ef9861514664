"""A plan from a file: read, checked and, where something is wrong, told with the place in the file."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from compozy.cli.errors import CliError
from compozy.cli.output.text import clean
from compozy.cli.textfile import STDIN, read_text

if TYPE_CHECKING:
    from compozy.language.compiled import CompiledPlan
    from compozy.language.document import PlanDocument
    from compozy.language.problems import Problem
    from compozy.language.steps.context import PlanSource


@dataclass(frozen=True, slots=True)
class PlanFile:
    """What became of a file: a document and its compiled form, as far as it got, and what is wrong."""

    file: str
    document: "PlanDocument | None"
    compiled: "CompiledPlan | None"
    problems: "Sequence[Problem]"

    @property
    def name(self) -> str | None:
        """The plan's own name, else one made of the file's."""
        from compozy.language.document import object_name

        if self.document is not None and self.document.name:
            return self.document.name
        return None if self.file == STDIN else object_name(Path(self.file).stem)

    @property
    def steps(self) -> int:
        """How many steps or nodes the author wrote."""
        return count_steps(self.document.spec) if self.document is not None else 0

    def problem_lines(self) -> list[str]:
        """Each problem as `file:line:column: path: message [code]`."""
        return [clean(f"{self.file}:{problem}") for problem in self.problems]


def count_steps(spec: dict[str, Any]) -> int:
    """How many steps or nodes a plan's `spec` has, at the top level."""
    steps = spec.get("steps")
    if not isinstance(steps, list):
        graph = spec.get("graph")
        steps = graph.get("nodes") if isinstance(graph, dict) else None
    return len(steps) if isinstance(steps, list) else 0


def read_plan(file: str) -> PlanFile:
    """Reads and compiles a plan. Problems are in the result; a file that cannot be read raises CliError."""
    from compozy.language.compile import compile_plan
    from compozy.language.document import parse_document
    from compozy.language.problems import PlanInvalid

    text = read_text(file)
    document: PlanDocument | None = None
    try:
        document = parse_document(text)
        compiled = compile_plan(document.spec, source_beside(file), trusts_unknown=True)
    except PlanInvalid as invalid:
        placed = document.with_positions(invalid.problems) if document is not None else invalid.problems
        return PlanFile(file, document, None, tuple(placed))
    return PlanFile(file, document, compiled, ())


def source_beside(file: str) -> "PlanSource":
    """Finds plans that a plan calls among the files beside it; stdin has none beside it."""
    from compozy.plantest.files import plans_beside

    return plans_beside(Path(file)) if file != STDIN else lambda _: None


def require_plan(file: str) -> "tuple[PlanFile, PlanDocument, CompiledPlan]":
    """A plan that can run. Raises CliError `plan_invalid` with every problem."""
    plan = read_plan(file)
    if plan.document is None or plan.compiled is None:
        raise invalid_plan(plan.problem_lines(), plan.problems)
    return plan, plan.document, plan.compiled


def invalid_plan(lines: Sequence[str], problems: "Sequence[Problem]") -> CliError:
    """The error that shows every problem of a plan."""
    count = "1 problem" if len(lines) == 1 else f"{len(lines)} problems"
    details = {problem.path or "plan": f"{problem.message} [{problem.code}]" for problem in problems}
    return CliError("plan_invalid", f"the plan has {count}", details, lines=lines)
