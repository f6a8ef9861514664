"""The JSON Schema for editors: what it accepts and refuses, and that the file of it is current."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from jsonschema import Draft7Validator

from compozy.language.compile import compile_plan
from compozy.language.document import parse_document
from compozy.language.json_schema.__main__ import main
from compozy.language.json_schema.document import plan_schema
from compozy.language.json_schema.steps import PLACES
from compozy.language.keys import camel
from compozy.language.problems import PlanInvalid
from compozy.language.yaml_text import load
from support.documents import ROOT, graph_plan, steps_plan
from support.plan_texts import plans
from support.plans import GRAPH, NESTED, STEPS, STEPS_FAIL, TWO_QUESTIONS

pytestmark = pytest.mark.unit

VALIDATOR = Draft7Validator(plan_schema())


def faults(value: Any) -> list[str]:
    return [error.message for error in VALIDATOR.iter_errors(value)]


def compiles(text: str) -> bool:
    try:
        compile_plan(parse_document(text).spec)
    except PlanInvalid:
        return False
    return True


def test_it_is_a_schema_and_all_its_references_lead_somewhere() -> None:
    schema = plan_schema()
    Draft7Validator.check_schema(schema)
    used: set[str] = set()

    def collect(part: Any) -> None:
        if isinstance(part, dict):
            used.update([part["$ref"]] if isinstance(part.get("$ref"), str) else [])
            for item in part.values():
                collect(item)
        elif isinstance(part, list):
            for item in part:
                collect(item)

    collect(schema)
    assert used == {f"#/definitions/{name}" for name in schema["definitions"]}


def test_the_examples() -> None:
    for name in ("release", "deploy"):
        assert faults(load((ROOT / "examples" / f"{name}.yaml").read_text("utf-8")).value) == []


def test_the_printed_plans() -> None:
    assert faults(load(steps_plan()).value) == []
    assert faults(load(graph_plan()).value) == []


@pytest.mark.parametrize("text", [STEPS, STEPS_FAIL, NESTED, GRAPH, TWO_QUESTIONS])
def test_plans_of_both_dialects(text: str) -> None:
    value = load(text).value
    assert faults(value) == []
    spec = {camel(key): item for key, item in value.items()}
    manifest = {"apiVersion": "compozy.dev/v1alpha1", "kind": "Plan", "metadata": {"name": "x"}, "spec": spec}
    assert faults(manifest) == []


@settings(max_examples=60, deadline=None)
@given(plans())
def test_generated_plans(plan: dict[str, Any]) -> None:
    assert faults(plan) == []


ASK = "id: a, tool_name: ask, input: { prompt: p, output_schema: { properties: { x: { type: string } } }"
GATED = "when: { value: 1, op: eq, to: 1 }"
CALL = "tool_name: x__y, input: {}"
EMPTY = f"{{ {CALL} }}"
NODE = "{ id: a, class: action, kind: transform, params: { map: { a: { value: 1 } } } }"


def steps(*written: str) -> str:
    return "steps: [" + ", ".join(f"{{ {step} }}" for step in written) + "]\n"


def one(tool: str, given: str) -> str:
    """A plan of one step."""
    return steps(f"id: a, tool_name: {tool}, input: {{ {given} }}")


RIGHT = {
    "every control step": steps(
        "id: a, tool_name: exit, input: { status: '{{input.x}}' }",
        "id: b, tool_name: agent, input: { prompt: p, output_schema: {}, tools: ['x__*'], max_iterations: 1 }",
        f"id: c, tool_name: decide, input: {{ infer: q, model: m, then: [{{ id: d, {CALL} }}], else: {EMPTY} }}",
        "id: e, tool_name: filter, input: { over: [], where: { value: '{{item}}', op: empty }, concurrency: 2 }",
        f"id: f, tool_name: map, input: {{ over: [], concurrency: 2, do: {{ {CALL} }} }}",
        f"id: g, tool_name: reduce, input: {{ over: '{{{{f.results}}}}', initial: 0, do: [{{ id: h, {CALL} }}] }}",
        "id: i, tool_name: plan__other, input: { any: thing }",
        "id: j, tool_name: plan_and_execute, input: {}, reasoning: why",
    ),
    "an enum of any primitives": one(
        "ask", "prompt: p, output_schema: { properties: { x: { enum: [1, a, null] } } }"
    ),
    "an exit in a branch": one("decide", "infer: q, then: { tool_name: exit, input: { status: error } }"),
    "a solver": steps(f"id: a, {CALL}") + "solver: { query_to_answer: q, data: { x: '{{a}}' } }\n",
    "an output of any kind": steps(f"id: a, {CALL}") + "output: '{{a}}'\n",
}

WRONG = {
    "neither dialect": "name: x\n",
    "both dialects": steps(f"id: a, {CALL}") + f"graph: {{ nodes: [{NODE}] }}\n",
    "an unknown key": steps(f"id: a, {CALL}") + "colour: red\n",
    "no steps": "steps: []\n",
    "solver and output": steps(f"id: a, {CALL}") + "solver: { query_to_answer: q }\noutput: {}\n",
    "inputs in steps": steps(f"id: a, {CALL}") + "inputs: { x: { type: string } }\n",
    "a profile that there is not": steps(f"id: a, {CALL}") + "profile: slow\n",
    "a step without an id": steps(CALL),
    "a step without an input": steps("id: a, tool_name: x__y"),
    "an unknown key of a step": steps(f"id: a, colour: red, {CALL}"),
    "a hyphen in an id": steps(f"id: a-b, {CALL}"),
    "a reserved id": steps(f"id: item, {CALL}"),
    "an unknown tool": steps("id: a, tool_name: aks, input: {}"),
    "infer is no step": steps("id: a, tool_name: infer, input: {}"),
    "a tool of the workbench": steps("id: a, tool_name: workbench__x, input: {}"),
    "an input that is no object": steps("id: a, tool_name: x__y, input: []"),
    "an ask without a prompt": one("ask", "output_schema: { properties: { x: { type: string } } }"),
    "an ask without a schema": one("ask", "prompt: p"),
    "an answer that is no object": one("ask", "prompt: p, output_schema: { type: string }"),
    "an answer with a list": one("ask", "prompt: p, output_schema: { properties: { x: { type: array } } }"),
    "an answer without properties": one("ask", "prompt: p, output_schema: { type: object, properties: {} }"),
    "a default that is missing": steps(f"{ASK}, when_unanswered: default }}"),
    "a default that is never used": steps(f"{ASK}, default: {{ x: a }} }}"),
    "another way to be unanswered": steps(f"{ASK}, when_unanswered: skip }}"),
    "an unknown key of an ask": steps(f"{ASK}, prompts: x }}"),
    "an exit without a status": steps("id: a, tool_name: exit, input: {}"),
    "an exit with a status that there is not": one("exit", "status: fine"),
    "an exit with two gates": one("exit", f"status: success, infer: q, {GATED}"),
    "a gate with an unknown operation": one("exit", "status: success, when: { value: 1, op: is }"),
    "a gate without a value": one("exit", "status: success, when: { op: eq, to: 1 }"),
    "a gate with another key": one("exit", "status: success, when: { value: 1, op: eq, not: 1 }"),
    "an agent without tools": one("agent", "prompt: p, output_schema: {}, tools: []"),
    "an agent without rounds": one("agent", "prompt: p, output_schema: {}, max_iterations: 0"),
    "a decide without a gate": one("decide", f"then: {{ {CALL} }}"),
    "a decide without a branch": one("decide", "infer: q"),
    "a filter with two gates": one("filter", "over: [], infer: q, where: { value: 1, op: empty }"),
    "no concurrency": one("map", f"over: [], concurrency: 0, do: {{ {CALL} }}"),
    "a reduce with concurrency": one("reduce", f"over: [], concurrency: 1, do: {{ {CALL} }}"),
    "a map in a map": one("map", f"over: [], do: {{ tool_name: map, input: {{ over: [], do: {{ {CALL} }} }} }}"),
    "an exit in a map": one("map", "over: [], do: { tool_name: exit, input: { status: error } }"),
    "an empty body": one("map", "over: [], do: []"),
    "an id in a single call": one("map", f"over: [], do: {{ id: b, {CALL} }}"),
    "a wrong ask in a body": one("map", "over: [], do: { tool_name: ask, input: { prompt: p } }"),
    "a solver without a question": steps(f"id: a, {CALL}") + "solver: { data: {} }\n",
    "a graph without nodes": "graph: { edges: [] }\n",
    "a node without a kind": "graph: { nodes: [{ id: a, class: action }] }\n",
    "a graph with a solver": f"graph: {{ nodes: [{NODE}] }}\nsolver: {{ query_to_answer: q }}\n",
    "a manifest of another kind": "apiVersion: compozy.dev/v1alpha1\nkind: Agent\nspec: { steps: [] }\n",
    "a manifest without a plan": "apiVersion: compozy.dev/v1alpha1\nkind: Plan\nmetadata: {}\n",
}  # fmt: skip


@pytest.mark.parametrize("text", RIGHT.values(), ids=RIGHT)
def test_right_ones(text: str) -> None:
    assert compiles(text)
    assert faults(load(text).value) == []


@pytest.mark.parametrize("text", WRONG.values(), ids=WRONG)
def test_wrong_ones_are_refused_as_they_are_when_the_plan_is_loaded(text: str) -> None:
    assert not compiles(text)
    assert faults(load(text).value) != []


def test_what_may_stand_where() -> None:
    assert {place: set(tools) for place, tools in PLACES.items()} == {
        "top": {"exit", "agent", "ask", "decide", "filter", "map", "reduce"},
        "branch": {"exit", "agent", "ask", "filter"},
        "do": {"agent", "ask", "filter"},
    }


def test_every_key_is_explained() -> None:
    for name, definition in plan_schema()["definitions"].items():
        if name not in ("manifest", "graph", "answer_schema"):
            for key, says in definition.get("properties", {}).items():
                assert says["description"].endswith("."), f"{name}.{key}"


def test_the_file_is_current(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--check", "--file", str(ROOT / "docs" / "plan.schema.json")]) == 0
    copy = tmp_path / "plan.schema.json"
    assert main(["--check", "--file", str(copy)]) == 1
    assert main(["--file", str(copy)]) == 0
    assert main(["--check", "--file", str(copy)]) == 0
    copy.write_text(copy.read_text("utf-8") + " ", "utf-8")
    capsys.readouterr()
    assert main(["--check", "--file", str(copy)]) == 1
    assert "differs" in capsys.readouterr().err
