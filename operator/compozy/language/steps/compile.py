"""The steps dialect: steps that run one after another, compiled to a chain of nodes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from rpds import HashTrieMap

from compozy.language.compiled import SOLVER, Block, CompiledPlan, Node, SolverSpec, Table, block_of
from compozy.language.problems import Problem
from compozy.language.steps.block import compile_steps_list
from compozy.language.steps.context import Surroundings
from compozy.language.steps.fields import Fields
from compozy.language.steps.template import TemplateValue


@dataclass(frozen=True, slots=True)
class StepsDialect:
    """Results by step id, and the inputs as `input`."""

    name: Literal["steps"] = "steps"
    asks_in_turn: bool = True

    def scope(self, inputs: Mapping[str, Any], generation: int) -> Table:  # noqa: ARG002
        """The inputs."""
        return HashTrieMap({"input": inputs})

    def record(
        self,
        scope: Table,
        node: str,
        status: str,
        output: Any,
        items: Sequence[Mapping[str, Any]] | None = None,  # noqa: ARG002 - steps have no lanes
    ) -> Table:
        """Only what has succeeded can be referred to."""
        return scope.insert(node, output) if status == "Succeeded" else scope


def compile_steps(values: Mapping[str, Any], around: Surroundings) -> CompiledPlan | None:
    """Compile `steps`, `output` and `solver`, reporting every problem found."""
    before = len(around.problems)
    ids = _ids(values["steps"])
    block = compile_steps_list(values["steps"], "steps", replace(around, top_ids=ids))
    after = around.knowing(*ids)
    output = _output(values, after)
    solver = _solver(values, after)
    if output is not None and solver is not None:
        message = "a plan has at most one of `solver` and `output`"
        around.problems.append(Problem("solver", "finish_choice", message))
    if block is None or len(around.problems) > before:
        return None
    return CompiledPlan(
        dialect=StepsDialect(),
        block=block if solver is None else _with_solver(block, solver),
        input_schema=values.get("input_schema"),
        output=output,
    )


def _ids(steps: Any) -> frozenset[str]:
    if not isinstance(steps, list):
        return frozenset()
    found = [step.get("id") for step in steps if isinstance(step, Mapping)]
    return frozenset(step_id for step_id in found if isinstance(step_id, str))


def _output(values: Mapping[str, Any], around: Surroundings) -> TemplateValue | None:
    if values.get("output") is None:
        return None
    return Fields("output", "output", around).value(values["output"], "")


def _solver(values: Mapping[str, Any], around: Surroundings) -> SolverSpec | None:
    if values.get("solver") is None:
        return None
    fields = Fields("solver", "solver", around)
    known = ("query_to_answer", "system_prompt", "data")
    read = fields.keys(values["solver"], known, required=("query_to_answer",))
    if read is None:
        return None
    query = fields.text(read, "query_to_answer")
    system, data = fields.text(read, "system_prompt"), fields.value(read, "data")
    return None if query is None else SolverSpec(query, data, system)


def _with_solver(block: Block, solver: SolverSpec) -> Block:
    node = Node(SOLVER, solver, "solver", (block.last,))
    return block_of({**block.nodes, SOLVER: node})
