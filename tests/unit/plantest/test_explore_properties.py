"""Exploring never crashes, and reaches what a run can reach."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compozy.language.compile import compile_plan
from compozy.language.problems import PlanInvalid
from compozy.plantest.explore import explore
from support import plan_texts, plans

pytestmark = pytest.mark.unit

FIELD = st.sampled_from(
    [
        {"type": "string"},
        {"type": "integer", "minimum": 1, "maximum": 3},
        {"type": "boolean"},
        {"enum": ["a", "b"]},
        {"type": "number"},
    ]
)
OPS = st.sampled_from(["eq", "ne", "gt", "lt", "empty", "not_empty", "contains"])
VALUES = st.sampled_from(
    ["{{E0.answer.x}}", "{{E0.answered}}", "{{E0.reason}}", "{{input.y}}", 1, "a", True, None]
)


@st.composite
def specs(draw):
    ask = {"prompt": "Q {{input.y}}?", "output_schema": {"properties": {"x": draw(FIELD)}}}
    gate = {"value": draw(VALUES), "op": draw(OPS), "to": draw(VALUES)}
    steps = [
        {"id": "E0", "tool_name": "ask", "input": ask},
        {
            "id": "E1",
            "tool_name": "decide",
            "input": {
                "if": gate,
                "then": {"tool_name": "a__b", "input": {}},
                "else": {"tool_name": "ask", "input": ask},
            },
        },
        {
            "id": "E2",
            "tool_name": "map",
            "input": {"over": ["{{E1.result}}"], "do": {"tool_name": "a__c", "input": {}}},
        },
    ]
    return {"steps": steps, "inputSchema": {"type": "object", "properties": {"y": draw(FIELD)}}}


@settings(max_examples=60, deadline=None)
@given(specs())
def test_any_plan_is_explored_within_its_bounds_and_the_same_way_twice(spec):
    try:
        plan = compile_plan(json.loads(json.dumps(spec)))
    except ValueError:
        return
    first, second = explore(plan, spec, max_runs=60), explore(plan, spec, max_runs=60)
    assert first == second
    assert 0 < first.runs <= 60
    assert first.paths <= first.runs


@settings(max_examples=60, deadline=None)
@given(plan_texts.plans())
def test_plans_with_unknown_inputs_and_tools_are_explored(plan):
    spec = {key: value for key, value in plan.items() if key != "name"}
    try:
        compiled = compile_plan(spec)
    except PlanInvalid:
        return
    report = explore(compiled, spec, max_runs=40)
    assert report.runs > 0
    assert {check.place.label for check in report.checks} >= {step["id"] for step in spec["steps"]}
    assert {fault.place.label for fault in report.faults} <= {check.place.label for check in report.checks}


def test_a_map_of_questions_is_explored():
    spec = plans.spec(plans.NESTED)
    report = explore(compile_plan(spec), spec, {"names": ["a", "b"]})
    assert {check.place.label for check in report.checks if check.reached} >= {"E0", "E1", "E1/then", "E2"}
