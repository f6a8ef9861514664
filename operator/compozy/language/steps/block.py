"""Lists of steps and bodies: ids, tool names, and what may stand where."""

import re
from collections.abc import Callable, Mapping
from typing import Any

from compozy.language.compiled import Block, Node, NodeSpec, block_of
from compozy.language.keys import read_keys, type_name
from compozy.language.problems import Problem
from compozy.language.steps.agent import compile_agent
from compozy.language.steps.ask import compile_ask
from compozy.language.steps.call import PLAN_PREFIX, compile_call, compile_plan_call
from compozy.language.steps.context import Surroundings
from compozy.language.steps.exit import compile_exit
from compozy.language.steps.fields import Fields

RESERVED = frozenset({"input", "item", "index", "accumulator", "length"})
"""Roots of templates that no step may be named after."""

_ID = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,62}", re.ASCII)
_PLAIN_TOOL = "plan_and_execute"

Compiler = Callable[[Any, Fields], NodeSpec | None]


def compile_steps_list(steps: Any, path: str, around: Surroundings) -> Block | None:
    """Compile steps that run one after another; None where there is none that can be right."""
    if not isinstance(steps, list) or not steps:
        around.problems.append(Problem(path, "invalid_type", "must be a list with at least one step"))
        return None
    around = around.knowing()
    nodes: dict[str, Node] = {}
    seen: set[str] = set()
    previous: tuple[str, ...] = ()
    for index, step in enumerate(steps):
        node, step_id = _step(step, f"{path}[{index}]", around, seen, previous)
        if node is not None:
            nodes[node.id] = node
            previous = (node.id,)
        if step_id is not None:
            # Later steps may refer to it even where it cannot be right itself: one fault, one problem.
            around.roots.add(step_id)
    return block_of(nodes) if nodes else None


def compile_body(body: Any, path: str, around: Surroundings) -> Block | None:
    """Compile `then`, `else` or `do`: one call without an id, or a list of steps."""
    if isinstance(body, list):
        return compile_steps_list(body, path, around)
    if not isinstance(body, Mapping):
        message = f"must be one call or a list of steps, not {type_name(body)}"
        around.problems.append(Problem(path, "invalid_type", message))
        return None
    known, required = ("tool_name", "input", "reasoning"), ("tool_name", "input")
    values = read_keys(body, path, known, around.problems, required)
    spec = _spec(values, path, path.rsplit(".", 1)[-1], around)
    return None if spec is None else block_of({"": Node("", spec, path)})


def _step(
    step: Any, path: str, around: Surroundings, seen: set[str], previous: tuple[str, ...]
) -> tuple[Node | None, str | None]:
    known, required = ("id", "tool_name", "input", "reasoning"), ("id", "tool_name", "input")
    values = read_keys(step, path, known, around.problems, required)
    step_id = _step_id(values.get("id"), f"{path}.id", around, seen)
    spec = _spec(values, path, step_id or path, around)
    node = None if spec is None or step_id is None else Node(step_id, spec, path, previous)
    return node, step_id


def _step_id(value: Any, path: str, around: Surroundings, seen: set[str]) -> str | None:
    if value is None:
        return None
    code, message = "", ""
    if not isinstance(value, str) or not _ID.fullmatch(value):
        code = "step_id_invalid"
        message = "a step id is a letter or `_`, then up to 62 of letters, digits and `_`"
    elif value in RESERVED:
        code, message = "step_id_reserved", f"`{value}` is a template root; choose another id"
    elif value in seen or (around.place != "top" and value in around.top_ids):
        code, message = "duplicate_step_id", f"the id `{value}` is used twice; ids are unique"
    if code:
        around.problems.append(Problem(path, code, message))
        return None
    seen.add(value)
    return str(value)


def _spec(values: Mapping[str, Any], path: str, name: str, around: Surroundings) -> NodeSpec | None:
    tool = values.get("tool_name")
    if "tool_name" not in values or "input" not in values:
        return None
    build = _compiler(tool)
    if build is None:
        around.problems.append(Problem(f"{path}.tool_name", "tool_unknown", _unknown_tool(tool)))
        return None
    fault = _misplaced(str(tool), around.place)
    if fault:
        around.problems.append(Problem(f"{path}.tool_name", "step_misplaced", fault))
        return None
    return build(values["input"], Fields(name, f"{path}.input", around))


def _compiler(tool: Any) -> Compiler | None:
    # The iterating kinds hold bodies, so they are imported where they are used: they import this module.
    from compozy.language.steps.decide import compile_decide
    from compozy.language.steps.iterate import compile_filter, compile_map, compile_reduce

    control: Mapping[str, Compiler] = {
        "agent": compile_agent,
        "ask": compile_ask,
        "decide": compile_decide,
        "exit": compile_exit,
        "filter": compile_filter,
        "map": compile_map,
        "reduce": compile_reduce,
    }
    if not isinstance(tool, str) or tool.startswith("workbench__"):
        return None
    if tool in control:
        return control[tool]
    if tool.startswith(PLAN_PREFIX):
        return lambda data, fields: compile_plan_call(tool, data, fields)
    if "__" in tool or tool == _PLAIN_TOOL:
        return lambda data, fields: compile_call(tool, data, fields)
    return None


def _misplaced(tool: str, place: str) -> str:
    if place == "top":
        return ""
    if tool in ("decide", "map", "reduce"):
        return f"`{tool}` never nests in a body; put it into a plan of its own and call `plan__<name>`"
    if tool == "exit" and place != "branch":
        return "`exit` may stand at the top level and in a branch of `decide`, not in the body of an iteration"
    return ""


def _unknown_tool(tool: Any) -> str:
    return (
        f"there is no tool `{tool}`: write exit, agent, ask, decide, filter, map, reduce, "
        "or a namespaced tool such as `server__tool` or `plan__name`"
    )
