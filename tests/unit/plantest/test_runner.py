"""What a case says where a run differs from what must follow."""

import pytest
import yaml
from hypothesis import given

from compozy.plantest.cases import load_cases
from compozy.plantest.compare import json_differences
from compozy.plantest.runner import run_case
from support.language_strategies import json_values

pytestmark = pytest.mark.unit

ASKING = """
steps:
  - id: E0
    tool_name: ask
    input: { prompt: "Go, {{input.who}}?", output_schema: { properties: { ok: { type: boolean } } } }
  - { id: E1, tool_name: a__b, input: {} }
output: { ok: "{{E0.answer.ok}}", found: "{{E1.n}}" }
"""
GOING_WELL = {
    "inputs": {"who": "Ada"},
    "answers": {"E0": {"payload": {"ok": True}}},
    "tools": {"a__b": {"output": {"n": [1, 2]}}},
}


def run(tmp_path, expect, **case):
    path = tmp_path / "x.test.yaml"
    whole = {"name": "a", "expect": expect, **GOING_WELL, **case}
    path.write_text(yaml.safe_dump({"plan": yaml.safe_load(ASKING), "cases": [whole]}))
    [loaded] = load_cases(path)
    return run_case(loaded)


@pytest.mark.parametrize(
    "expect",
    [
        {"phase": "Succeeded", "output": {"ok": True, "found": [1, 2]}, "steps_executed": 2, "exit": None},
        {"asked": ["E0"], "called": ["a__b"]},
        {"asked": [{"path": "E0", "prompt": "Go, Ada?"}]},
        {"nodes": {"E1": {"status": "Succeeded"}}, "message": "2 steps", "reason": "completed"},
    ],
)
def test_what_follows_as_it_must_passes(tmp_path, expect):
    result = run(tmp_path, expect)
    assert (result.differences, result.passed) == ((), True)
    assert result.state.output == {"ok": True, "found": [1, 2]}


@pytest.mark.parametrize(
    ("expect", "difference"),
    [
        ({"phase": "Failed"}, 'phase: expected "Failed", got "Succeeded"'),
        ({"output": {"ok": True, "found": [1, 3]}}, "output.found[1]: expected 3, got 2"),
        ({"output": {"ok": True}}, "output.found: expected nothing, got [1,2]"),
        ({"output": {"ok": 1, "found": [1, 2]}}, "output.ok: expected 1, got true"),
        ({"message": "3 steps"}, 'message: expected a text with "3 steps", got "2 steps executed"'),
        ({"exit": {"status": "success"}}, 'exit: expected {"status":"success"}, got null'),
        ({"steps_executed": 1}, "steps_executed: expected 1, got 2"),
        ({"asked": []}, 'asked: expected [], got ["E0"]'),
        ({"asked": [{"path": "E0", "prompt": "Go?"}]}, 'asked[0].prompt: expected "Go?", got "Go, Ada?"'),
        ({"called": ["c__d"]}, 'called: expected ["c__d"], got ["a__b"]'),
        ({"nodes": {"E0": {"status": "Failed"}}}, 'nodes.E0.status: expected "Failed", got "Succeeded"'),
        (
            {"nodes": {"E9": {"status": "Failed"}}},
            'nodes.E9: expected {"status":"Failed"}, but it was never entered or its block is over',
        ),
        ({"inputs_problems": ["who"]}, 'inputs_problems: expected ["who"], got []'),
        ({"problems": [{"path": "steps", "code": "x"}]}, 'problems: expected ["steps [x]"], got []'),
    ],
)
def test_each_difference_names_its_path(tmp_path, expect, difference):
    assert run(tmp_path, expect).differences == (difference,)


@pytest.mark.parametrize(
    ("case", "differences"),
    [
        ({"answers": {}}, ["no answer for E0 in `answers`: Go, Ada?"]),
        (
            {"answers": {**GOING_WELL["answers"], "E7": "decline"}},
            ["answers.E7: never asked"],
        ),
        (
            {"tools": {"a__b": [{"output": {"n": [1, 2]}}, {"output": 1}], "c__d": {"output": 1}}},
            ["tools.a__b[1]: never called", "tools.c__d: never called"],
        ),
        (
            {"tools": {}},
            [
                'phase: expected "Succeeded", got "Failed"',
                "the run failed: plan failed at step E1 (a__b): there is no tool `a__b` here [tool_unavailable]",
                "E1 called a__b, which has no stub in `tools`",
            ],
        ),
        (
            {"plan": {"steps": [{"id": "E0", "tool_name": "aks", "input": {}}]}},
            ["the plan was refused:", "  steps[0].tool_name: "],
        ),
        (
            {"plan": {**yaml.safe_load(ASKING), "input_schema": {"required": ["when"]}}},
            ["the inputs were refused:", "  when: "],
        ),
    ],
)
def test_a_case_that_does_not_fit_its_plan_says_why(tmp_path, case, differences):
    found = run(tmp_path, {"phase": "Succeeded"}, **case).differences
    assert len(found) == len(differences)
    assert all(line.startswith(begins) for line, begins in zip(found, differences, strict=True))


def test_a_star_stands_for_any_index_and_the_path_itself_comes_first(tmp_path):
    ask = {"prompt": "{{item}}?", "output_schema": {"properties": {"n": {"type": "integer"}}}}
    do = [{"id": "B0", "tool_name": "ask", "input": ask}]
    plan = {
        "steps": [{"id": "E0", "tool_name": "map", "input": {"over": [1, 2, 3], "do": do}}],
        "output": "{{E0.results}}",
    }
    answers = {"E0/do.*/B0": {"payload": {"n": 0}}, "E0/do.1/B0": {"payload": {"n": 9}}}
    results = [{"answer": {"n": n}, "answered": True} for n in (0, 9, 0)]
    assert run(tmp_path, {"output": results}, plan=plan, answers=answers, tools={}).differences == ()


@given(json_values)
def test_a_value_does_not_differ_from_itself(value):
    assert list(json_differences("x", value, value)) == []


@given(json_values)
def test_a_value_differs_from_one_that_has_more_around_it(value):
    assert list(json_differences("x", value, [value])) != []
