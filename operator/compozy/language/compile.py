"""A plan's `spec` to its compiled form, or every problem it has."""

from collections.abc import Mapping
from typing import Any

from compozy.language.compiled import CompiledPlan
from compozy.language.durations import seconds_of
from compozy.language.graph.compile import compile_graph
from compozy.language.keys import camel, read_keys
from compozy.language.problems import PlanInvalid, Problem
from compozy.language.schema import check_schema
from compozy.language.steps.compile import compile_steps

_KEYS = ("description", "profile", "input_schema", "inputs", "steps", "graph", "output", "requests")


def compile_plan(spec: Mapping[str, Any]) -> CompiledPlan:
    """Compile the `spec` of a Plan, in either dialect.

    Raises:
        PlanInvalid: with every problem found, in the order of the plan.
    """
    problems: list[Problem] = []
    values = read_keys(spec, "", _KEYS, problems)
    dialects = [name for name in ("steps", "graph") if values.get(name) is not None]
    if len(dialects) != 1:
        message = "a plan has exactly one of `steps` and `graph`"
        raise PlanInvalid([*problems, Problem("", "dialect", f"{message}; this one has {len(dialects)}")])
    if values.get("profile", "delivery") not in ("delivery", "watch"):
        problems.append(Problem("profile", "invalid_value", "must be `delivery` or `watch`"))
    _check_input_schema(values, dialects[0], problems)
    expire_after = _expire_after(values.get("requests"), problems)
    build = compile_steps if dialects[0] == "steps" else compile_graph
    plan = build(values, expire_after, problems)
    if problems or plan is None:
        raise PlanInvalid(problems)
    return plan


def _check_input_schema(values: dict[str, Any], dialect: str, problems: list[Problem]) -> None:
    schema = values.get("input_schema")
    if schema is not None:
        path = camel("input_schema")
        if isinstance(schema, Mapping):
            problems += check_schema(schema, path)
        else:
            problems.append(Problem(path, "invalid_type", "must be a JSON Schema object"))
            values["input_schema"] = None
    if values.get("inputs") is not None and (dialect == "steps" or schema is not None):
        message = "`inputs` belongs to graph plans without `inputSchema`; declare the inputs in one place"
        problems.append(Problem("inputs", "duplicate_key", message))


def _expire_after(requests: Any, problems: list[Problem]) -> float | None:
    if requests is None:
        return None
    values = read_keys(requests, "requests", ("expire_after",), problems)
    if values.get("expire_after") is None:
        return None
    return seconds_of(values["expire_after"], "requests.expireAfter", problems)
