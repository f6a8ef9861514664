"""The tables of the grammar say what the compilers read."""

from __future__ import annotations

import re
from typing import Any

import pytest

from compozy.language.authoring import grammar
from compozy.language.authoring.grammar import (
    CALL,
    CONTROL,
    GATE,
    IDENTITY,
    OPERATIONS,
    REQUESTS,
    SOLVER,
    SPEC,
    STEP,
)
from compozy.language.authoring.places import known_mappings
from compozy.language.authoring.source import Source
from compozy.language.compile import compile_plan
from compozy.language.document import parse_document
from compozy.language.problems import PlanInvalid, Problem

pytestmark = pytest.mark.unit

UNKNOWN = "zzzz"
CALLED = {"tool_name": "x__y", "input": {}}


def problems(spec: dict[str, Any]) -> list[Problem]:
    with pytest.raises(PlanInvalid) as caught:
        compile_plan(spec)
    return list(caught.value.problems)


def step(tool: str, data: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"steps": [{"id": "a", "tool_name": tool, "input": data, **more}]}


def allowed(found: list[Problem]) -> set[str]:
    """The keys that the message about the unknown one lists."""
    [message] = [problem.message for problem in found if UNKNOWN in problem.path and problem.code != "missing_key"]
    return set(re.split(r", | and ", message.split("allowed: ")[1]))


MAPPINGS: dict[str, tuple[grammar.Table, dict[str, Any]]] = {
    **{tool: (table, step(tool, {UNKNOWN: 1})) for tool, table in CONTROL.items()},
    "a step": (STEP, step("x__y", {}, **{UNKNOWN: 1})),
    "a call": (CALL, step("map", {"over": [], "do": {**CALLED, UNKNOWN: 1}})),
    "solver": (SOLVER, {"steps": [{"id": "a", **CALLED}], "solver": {UNKNOWN: 1, "query_to_answer": "q"}}),
    "requests": (REQUESTS, {"steps": [{"id": "a", **CALLED}], "requests": {UNKNOWN: 1}}),
    "spec": (SPEC, {"steps": [{"id": "a", **CALLED}], UNKNOWN: 1}),
}


@pytest.mark.parametrize(("table", "spec"), MAPPINGS.values(), ids=MAPPINGS)
def test_the_keys_are_those_that_are_read(table: grammar.Table, spec: dict[str, Any]) -> None:
    assert allowed(problems(spec)) == set(table)


def test_the_keys_of_a_bare_document() -> None:
    with pytest.raises(PlanInvalid) as caught:
        parse_document(f"{UNKNOWN}: 1\nsteps: []\n")
    assert allowed(list(caught.value.problems)) == {*IDENTITY, *SPEC}


@pytest.mark.parametrize("tool", CONTROL)
def test_the_required_keys_are_those_that_are_missed(tool: str) -> None:
    missed = {
        problem.path.rsplit(".", 1)[-1] for problem in problems(step(tool, {})) if problem.code == "missing_key"
    }
    assert missed == {name for name, field in CONTROL[tool].items() if field.required}


def test_the_gate() -> None:
    def gate(**keys: Any) -> dict[str, Any]:
        return step("exit", {"status": "success", "when": {"value": 1, "op": "eq", "to": 1, **keys}})

    assert set(GATE) == {"value", "op", "to"}
    compile_plan(gate())
    assert problems(gate(**{UNKNOWN: 1}))
    [problem] = problems(gate(op="zzzz"))
    assert set(re.split(r", ", problem.message.split("one of ")[1])) == set(OPERATIONS)


def test_every_tool_that_stands_alone_is_in_the_table() -> None:
    [problem] = problems(step(UNKNOWN, {}))
    listed = problem.message.split("write ")[1].split(", \n")[0].split(", or")[0]
    assert set(listed.split(", ")) == set(CONTROL)


def test_where_the_grammar_ends() -> None:
    text = """
graph: { nodes: [{ id: a, params: { toolName: x } }] }
steps:
  - { id: a, tool_name: x__y, input: { do: { tool_name: ask, input: { prompt: p } } } }
  - { id: b, tool_name: ask, input: { default: { tool_name: ask, input: {} }, output_schema: { steps: [] } } }
  - { id: c, tool_name: map, input: { over: { tool_name: ask }, do: [{ id: d, tool_name: exit, input: {} }] } }
  - x
output: { steps: [{ id: a }] }
"""
    paths = [".".join(map(str, known.path)) for known in known_mappings(Source(text).root)]
    inner = ["steps.2.input.do.0", "steps.2.input.do.0.input"]
    assert paths == ["", "steps.0", "steps.1", "steps.1.input", "steps.2", "steps.2.input", *inner]
