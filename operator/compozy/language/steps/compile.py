"""The steps dialect: steps that run one after another, compiled to a chain of nodes."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from compozy.language.compiled import (
    CompiledPlan,
    Node,
    NodeResult,
    NodeSpec,
    Renderable,
    Scope,
    dependents_of,
)
from compozy.language.keys import read_keys
from compozy.language.problems import Problem
from compozy.language.steps.ask import compile_ask
from compozy.language.steps.exit import compile_exit
from compozy.language.steps.fields import Fields

RESERVED = frozenset({"input", "item", "index", "accumulator", "length"})
"""Roots of templates that no step may be named after."""

_ID = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_KINDS: Mapping[str, Callable[[Any, Fields], NodeSpec | None]] = {"ask": compile_ask, "exit": compile_exit}


@dataclass(frozen=True, slots=True)
class StepsDialect:
    """Results by step id, and the inputs as `input`."""

    name: Literal["steps"] = "steps"

    def scope(self, inputs: Mapping[str, Any], results: Mapping[str, NodeResult], generation: int) -> Scope:  # noqa: ARG002
        """`input` and the output of every step that has succeeded."""
        return {"input": inputs} | {
            step_id: result.output for step_id, result in results.items() if result.status == "Succeeded"
        }


def compile_steps(
    values: Mapping[str, Any], expire_after: float | None, problems: list[Problem]
) -> CompiledPlan | None:
    """Compile `steps`, reporting every problem found."""
    steps = values["steps"]
    if not isinstance(steps, list) or not steps:
        problems.append(Problem("steps", "invalid_type", "must be a list with at least one step"))
        return None
    nodes: dict[str, Node] = {}
    ids: set[str] = set()
    previous: tuple[str, ...] = ()
    for index, step in enumerate(steps):
        node = _step(step, f"steps[{index}]", ids, previous, problems)
        if node is not None:
            nodes[node.id] = node
            previous = (node.id,)
    output = _output(values.get("output"), ids, problems)
    if problems:
        return None
    return CompiledPlan(
        dialect=StepsDialect(),
        nodes=nodes,
        dependents=dependents_of(nodes),
        input_schema=values.get("input_schema"),
        output=output,
        request_expire_after=expire_after,
    )


def _step(
    step: Any, path: str, earlier: set[str], previous: tuple[str, ...], problems: list[Problem]
) -> Node | None:
    """Compile one step; its id joins the earlier ones even where the step itself cannot be right."""
    known, required = ("id", "tool_name", "input", "reasoning"), ("id", "tool_name", "input")
    values = read_keys(step, path, known, problems, required)
    step_id = _step_id(values.get("id"), f"{path}.id", earlier, problems)
    tool = values.get("tool_name")
    build = _KINDS.get(tool) if isinstance(tool, str) else None
    if build is None:
        if "tool_name" in values:
            problems.append(Problem(f"{path}.tool_name", "tool_unknown", _unknown_tool(tool)))
        return None
    if "input" not in values:
        return None
    known_roots = frozenset(earlier - {step_id} if step_id else earlier) | {"input"}
    fields = Fields(step_id or path, f"{path}.input", known_roots, problems)
    spec = build(values["input"], fields)
    return None if spec is None or step_id is None else Node(step_id, spec, path, previous)


def _step_id(value: Any, path: str, earlier: set[str], problems: list[Problem]) -> str | None:
    if value is None:
        return None
    if not isinstance(value, str) or not _ID.fullmatch(value):
        message = "a step id starts with a letter or `_`, then letters, digits and `_`"
        problems.append(Problem(path, "step_id_invalid", message))
        return None
    if value in RESERVED:
        message = f"`{value}` is a template root; choose another id"
        problems.append(Problem(path, "step_id_reserved", message))
        return None
    if value in earlier:
        message = f"the id `{value}` is used twice; ids are unique"
        problems.append(Problem(path, "duplicate_step_id", message))
        return None
    earlier.add(value)
    return value


def _unknown_tool(tool: Any) -> str:
    return f"there is no tool `{tool}`; known: {', '.join(sorted(_KINDS))}"


def _output(value: Any, ids: set[str], problems: list[Problem]) -> Renderable | None:
    if value is None:
        return None
    return Fields("output", "output", frozenset(ids) | {"input"}, problems).template(value, "")
