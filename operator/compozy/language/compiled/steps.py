"""What the steps of the steps dialect compile to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from compozy.language.compiled.protocols import Condition, Renderable, TextTemplate

if TYPE_CHECKING:
    from compozy.language.compiled.nodes import Block
    from compozy.language.compiled.plan import CompiledPlan


@dataclass(frozen=True, slots=True)
class ExitSpec:
    """End the run when a gate holds."""

    kind: ClassVar[str] = "exit"

    when: Condition | None
    status: TextTemplate
    message: TextTemplate | None
    output: Renderable | None
    infer: InferSpec | None = None


@dataclass(frozen=True, slots=True)
class InferSpec:
    """A gate that a model judges."""

    question: TextTemplate
    model: TextTemplate | None = None


@dataclass(frozen=True, slots=True)
class DecideSpec:
    """Take one of two branches."""

    kind: ClassVar[str] = "decide"

    gate: Condition | InferSpec
    then: Block
    otherwise: Block | None


@dataclass(frozen=True, slots=True)
class FilterSpec:
    """Keep the elements for which a gate holds."""

    kind: ClassVar[str] = "filter"

    over: Renderable
    gate: Condition | InferSpec
    concurrency: int = 1


@dataclass(frozen=True, slots=True)
class MapSpec:
    """Do the same for every element."""

    kind: ClassVar[str] = "map"

    over: Renderable
    do: Block
    concurrency: int = 1


@dataclass(frozen=True, slots=True)
class ReduceSpec:
    """Carry one value through every element, strictly one after the other."""

    kind: ClassVar[str] = "reduce"

    over: Renderable
    do: Block
    initial: Renderable | None = None


@dataclass(frozen=True, slots=True)
class AgentSpec:
    """Let a model work on a task with tools."""

    kind: ClassVar[str] = "agent"

    prompt: TextTemplate
    output_schema: Mapping[str, Any]
    tools: tuple[str, ...] | None = None
    max_iterations: int = 8
    model: TextTemplate | None = None
    system_prompt: TextTemplate | None = None


@dataclass(frozen=True, slots=True)
class PlanCallSpec:
    """Run another plan as a step of this one."""

    name: str
    input: Renderable
    plan: CompiledPlan | None
    """None where the plan was not there to be compiled."""

    @property
    def kind(self) -> str:
        """The name that the plan is called by, for messages."""
        return f"plan__{self.name}"


@dataclass(frozen=True, slots=True)
class SolverSpec:
    """Let a model write the run's answer from what the steps have found."""

    kind: ClassVar[str] = "solver"

    query_to_answer: TextTemplate
    data: Renderable | None = None
    system_prompt: TextTemplate | None = None
