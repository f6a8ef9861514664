"""A plan's `spec` to its compiled form, or every problem it has."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from compozy.language.compiled import CompiledPlan
from compozy.language.durations import seconds_of
from compozy.language.errors import format_path
from compozy.language.graph.compile import compile_graph
from compozy.language.keys import camel, read_keys
from compozy.language.plan_keys import PLAN_KEYS
from compozy.language.problems import PlanInvalid, Problem
from compozy.language.schema import check_schema
from compozy.language.shapes.bounds import json_faults
from compozy.language.steps.compile import compile_steps
from compozy.language.steps.context import PlanSource, Surroundings
from compozy.language.values import MAX_DEPTH
from compozy.language.yaml_text import MAX_VALUES

FAN_OUT_WIDTH: Final[Mapping[str, int]] = {"delivery": 4, "watch": 2}
"""By profile: how many lanes of a fan-out are open at a time where it does not say. The published defaults."""


def compile_plan(
    spec: Mapping[str, Any], plan_source: PlanSource | None = None, *, trusts_unknown: bool = False
) -> CompiledPlan:
    """Compile the `spec` of a Plan, in either dialect.

    Args:
        spec: what to compile.
        plan_source: finds plans that this one calls. Without it calls of plans are taken on trust, and fail
            when they run.
        trusts_unknown: whether a plan that `plan_source` does not find may be somewhere else.

    Raises:
        PlanInvalid: with every problem found, in the order of the plan.
    """
    problems: list[Problem] = []
    around = Surroundings(problems, _compile_called, plan_source, trusts_unknown)
    plan = _compile(spec, around)
    if problems or plan is None:
        raise PlanInvalid(problems)
    return plan


def _compile(spec: Mapping[str, Any], around: Surroundings) -> CompiledPlan | None:
    problems = around.problems
    if found := _unusable(spec):
        problems += found
        return None
    values = read_keys(spec, "", PLAN_KEYS, problems)
    dialects = [name for name in ("steps", "graph") if values.get(name) is not None]
    if len(dialects) != 1:
        message = f"a plan has exactly one of `steps` and `graph`; this one has {len(dialects) or 'neither'}"
        problems.append(Problem("", "dialect", message))
        return None
    profile = values.get("profile", "delivery")
    if not isinstance(profile, str) or profile not in FAN_OUT_WIDTH:
        problems.append(Problem("profile", "invalid_value", "must be `delivery` or `watch`"))
    _check_input_schema(values, dialects[0], problems)
    expire_after = _expire_after(values.get("requests"), problems)
    if dialects[0] == "steps":
        plan = compile_steps(values, around)
    else:
        plan = compile_graph(values, problems, max_parallel=FAN_OUT_WIDTH.get(str(profile), 1))
    return None if plan is None else replace(plan, request_expire_after=expire_after)


def _unusable(spec: Mapping[str, Any]) -> list[Problem]:
    """What is no value of a plan at all. Whatever walks or prints a part of it later relies on this."""
    faults = json_faults(spec, MAX_DEPTH, MAX_VALUES)
    return [Problem(format_path(pointer), "invalid_value", message) for pointer, message in faults.items()]


def _compile_called(name: str, spec: Mapping[str, Any], around: Surroundings) -> CompiledPlan | None:
    inner: list[Problem] = []
    calls = (*around.calls, name)
    plan = _compile(spec, Surroundings(inner, _compile_called, around.plan_source, around.trusts_unknown, calls))
    for problem in inner:
        prefixed = (
            problem if problem.path.startswith("plan__") else replace(problem, path=f"plan__{name}.{problem.path}")
        )
        around.problems.append(prefixed)
    return plan


def _check_input_schema(values: dict[str, Any], dialect: str, problems: list[Problem]) -> None:
    schema = values.get("input_schema")
    if schema is not None:
        path = camel("input_schema")
        found = [Problem(path, "invalid_type", "must be a JSON Schema object")]
        if isinstance(schema, Mapping):
            found = check_schema(schema, path)
        if found:
            problems += found
            values["input_schema"] = None  # what refers to the inputs is not held against a broken schema
    if values.get("inputs") is not None and (dialect == "steps" or schema is not None):
        message = "`inputs` belongs to graph plans without `inputSchema`; declare the inputs in one place"
        problems.append(Problem("inputs", "duplicate_key", message))
    if values.get("solver") is not None and dialect == "graph":
        problems.append(Problem("solver", "unknown_key", "`solver` belongs to steps plans"))


def _expire_after(requests: Any, problems: list[Problem]) -> float | None:
    if requests is None:
        return None
    values = read_keys(requests, "requests", ("expire_after",), problems)
    if values.get("expire_after") is None:
        return None
    return seconds_of(values["expire_after"], "requests.expireAfter", problems)
