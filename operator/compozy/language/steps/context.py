"""What the compiler of a step may know of its surroundings."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from compozy.language.compiled import CompiledPlan
from compozy.language.problems import Problem

PlanSource = Callable[[str], Mapping[str, Any] | None]
"""The spec of a plan by name; None where there is none."""

MAX_PLAN_DEPTH = 8
"""How deep plans may call plans."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Where a list of steps or a body stands."""

    problems: list[Problem]
    compile_plan: Callable[[str, Mapping[str, Any], "Surroundings"], CompiledPlan | None]
    """Compiles another plan; reports its problems as problems of the call."""
    plan_source: PlanSource | None = None
    """None where no other plans can be looked up: calls of plans are then taken on trust."""
    trusts_unknown: bool = False
    """Whether a plan that cannot be found is taken on trust, and only its call fails."""
    calls: tuple[str, ...] = ()
    """The plans that are being compiled, outermost first."""
    top_ids: frozenset[str] = frozenset()
    """Every id at the top level of the plan: a body may not use them."""
    place: str = "top"
    """`top`, `do` for the body of an iteration, `branch` for one of a decide."""
    roots: set[str] = field(default_factory=lambda: {"input"})
    """What templates may refer to; grows while a list of steps is read."""

    def within(self, place: str, *bindings: str) -> "Surroundings":
        """The surroundings of a body."""
        return replace(self, place=place, roots=self.roots | set(bindings))

    def knowing(self, *ids: str) -> "Surroundings":
        """The surroundings after some steps."""
        return replace(self, roots=self.roots | set(ids))
