"""Calls by name in a steps plan: tools, and other plans."""

from collections.abc import Mapping
from typing import Any

from compozy.language.compiled import CallSpec, CompiledPlan, PlanCallSpec
from compozy.language.keys import type_name
from compozy.language.steps.context import MAX_PLAN_DEPTH
from compozy.language.steps.fields import Fields
from compozy.language.steps.template import TemplateValue

PLAN_PREFIX = "plan__"


def compile_call(tool: str, data: Any, fields: Fields) -> CallSpec | None:
    """Compile the call of a tool; its input is free, with templates."""
    rendered = _input(data, fields)
    return None if rendered is None else CallSpec(tool, rendered)


def compile_plan_call(tool: str, data: Any, fields: Fields) -> PlanCallSpec | None:
    """Compile the call of another plan. Circles, and calls more than eight deep, are refused."""
    name = tool.removeprefix(PLAN_PREFIX)
    rendered = _input(data, fields)
    before = len(fields.problems)
    plan = _called(name, fields)
    if rendered is None or len(fields.problems) > before:
        return None
    return PlanCallSpec(name, rendered, plan)


def _input(data: Any, fields: Fields) -> TemplateValue | None:
    if not isinstance(data, Mapping):
        fields.report("", "invalid_type", f"must be an object, not {type_name(data)}")
        return None
    return fields.value(data, "")


def _called(name: str, fields: Fields) -> CompiledPlan | None:
    around = fields.around
    if around.plan_source is None:
        return None
    if name in around.calls:
        ring = " → ".join((*around.calls[around.calls.index(name) :], name))
        fields.report("", "plan_cycle", f"plans call each other in a circle: {ring}")
        return None
    if len(around.calls) >= MAX_PLAN_DEPTH:
        fields.report("", "plan_depth", f"plans call plans more than {MAX_PLAN_DEPTH} deep")
        return None
    spec = around.plan_source(name)
    if spec is None and around.trusts_unknown:
        return None
    if spec is None:
        fields.report("", "plan_unknown", f"there is no plan `{name}`")
        return None
    return around.compile_plan(name, spec, around)
