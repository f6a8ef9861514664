"""Graphs in the JSON Schema for editors: it refuses nothing that the compiler takes, and much that it refuses."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema import Draft7Validator

from compozy.language.json_schema.document import plan_schema
from support.graphs import ask, collect, fan_out, found, graph, made, node, places_in, tool, with_value

pytestmark = pytest.mark.unit

VALIDATOR = Draft7Validator(plan_schema())

GATE = node(
    "a",
    "gate",
    criteria=[
        {"id": "one", "type": "command", "check": "true", "expect": "stdout_contains", "contains": "ok"},
        {"id": "two", "type": "agent-judge", "agent": "x", "rubric": "y"},
        {
            "id": "three",
            "type": "human",
            "prompt": "p",
            "responders": {"agents": "allow"},
            "expires": {"after": "1h"},
        },
        {"id": "four", "type": "extension", "tool": "x__y", "inputs": {}},
    ],
    verdict_policy="revise_until_clean",
    on_result={"pass": {"route": "b"}, "fail": {"route": "branch", "branch": "c"}, "approval": "escalate"},
    max_revisions=3,
)
ENVELOPE = {
    "timeout": "1s",
    "deadline": "1m30s",
    "retry": {"max_attempts": 1, "backoff": {"base": "1s", "max": "2s"}, "non_retryable": ["x"]},
    "on_error": {"allow_fail": True},
    "produces": {"x": "string"},
    "review": {
        "when": "true",
        "prompt": "p",
        "decisions": ["approve", "respond"],
        "responders": {"users": ["x"]},
        "expires": {"after": "1h", "route": "b"},
    },
}
RIGHT: list[dict[str, Any]] = [
    ask("a", context={}, responders={"initiator": "deny"}, expires={"after": "1h"}, when_unanswered="fail"),
    node("a", "route", routes=[{"when": "inputs.x", "to": "b"}], default="c"),
    node("a", "branch", condition="inputs.x", on_eval_error="exit"),
    fan_out(
        "a", filter="true", strategy={"kind": "best_effort", "threshold": {"count": 1}}, bind_as="x", index_as="y"
    ),
    fan_out("a", collection="{{ .inputs.all }}", max_parallel=2, batch_size=3, strategy="race"),
    GATE,
    node("a", "wait", params={"until": "2030-01-31T09:00:00Z"}),
    node(
        "a",
        "sub-loop",
        body={"nodes": [tool("x")], "edges": []},
        contract={"stop_when": "true", "iteration_cap": 2},
    ),
    {**made("a", x=1, y={"from": "inputs.y"}, z={"template": "t"}), **ENVELOPE},
    node("a", "run-loop", params={"loop": "x", "inputs": {}, "mode": "detach"}, on_parent_close="abandon"),
    node("a", "run-agent", params={"agent": "x", "prompt": "y", "output_schema": {"z": "string"}, "max_turns": 2}),
    node("a", "input", input_ref="x"),
    {**tool("a", anything=[1]), **ENVELOPE},
]


def plan(first: Any) -> dict[str, Any]:
    return graph([first, tool("b"), tool("c")], "a>b a>c")


@pytest.mark.parametrize("given_node", RIGHT, ids=lambda item: str(item["kind"]))
def test_nodes_that_are_right(given_node: dict[str, Any]) -> None:
    assert found([given_node, tool("b"), tool("c")], "a>b a>c") == []
    assert list(VALIDATOR.iter_errors(plan(given_node))) == []


def test_a_collect() -> None:
    whole = graph([fan_out("f"), tool("a"), {**collect("j"), "on_error": {"route": "z"}}, tool("z")], "f>a>j>z")
    assert list(VALIDATOR.iter_errors(whole)) == []


WRONG: list[dict[str, Any]] = [
    {"id": "a", "class": "control"},
    {"id": "A", "class": "action", "kind": "x__y"},
    node("a", "goal"),
    node("a", "9x"),
    {"id": "a", "class": "action", "kind": "ask", "params": {"prompt": "p", "expect": {"x": "string"}}},
    {**tool("a"), "review": {"decisions": ["approve", "approve"]}},
    {**tool("a"), "timeout": "soon"},
    {**tool("a"), "on_error": {"route": "b", "allow_fail": True}},
    {**tool("a"), "on_parent_close": "abandon"},
    {**ask("a"), "review": {}},
    ask("a", colour=1),
    ask("a", expires={"route": "b"}),
    node("a", "route", routes=[], default="b"),
    node("a", "branch"),
    fan_out("a", max_fan_out=0),
    node("a", "fan-out", collection=[]),
    fan_out("a", strategy="best_effort"),
    fan_out("a", strategy={"kind": "race", "threshold": "50%"}),
    node("a", "gate", criteria=[]),
    node("a", "gate", criteria=[{"id": "x", "type": "vote"}]),
    {**GATE, "on_result": {"fail": "escalate"}},
    node("a", "wait", params={"for": "1h", "until": "x"}),
    node("a", "wait", params={"event": {}}),
    node("a", "sub-loop", body={"nodes": []}),
    node("a", "transform", params={"map": {"x": {"from": "a", "value": 1}}}),
    node("a", "run-loop", params={"inputs": {}}),
    node("a", "run-agent", params={"agent": "x"}),
    node("a", "input"),
]


@pytest.mark.parametrize("given_node", WRONG)
def test_nodes_that_are_wrong(given_node: dict[str, Any]) -> None:
    assert found([given_node, tool("b"), tool("c")], "a>b a>c")
    assert list(VALIDATOR.iter_errors(plan(given_node)))


@pytest.mark.parametrize(
    ("declared", "fits"),
    [
        ({"type": "runtime"}, True),
        ({"type": "ref", "ref": {"kind": "secret"}}, True),
        ({"type": "ref"}, False),
        ({"type": "string", "ref": {"kind": "secret"}}, False),
        ({"type": "ref", "ref": {"kind": "agent"}}, False),
        ({"type": "text"}, False),
    ],
)
def test_inputs(declared: dict[str, Any], fits: bool) -> None:
    whole = graph([tool("a")], inputs={"x": declared})
    assert (list(VALIDATOR.iter_errors(whole)) == []) is fits
    assert (found([tool("a")], inputs={"x": declared}) == []) is fits


values = st.sampled_from(
    [
        *(True, False, 0, 1, 5, 70, -1, 1.5, "", [], ["x"], {}),
        *("b", "c", "true", "1h", "x__y", "allow", "race", "50%", "halt", "fail", "await", "exit_zero", "abandon"),
        *({"route": "b"}, {"after": "1h"}, {"x": "string"}, {"count": 2}),
    ]
)
"""Null is not among them: it says nothing to the compiler, and an editor may warn of it."""


@settings(max_examples=300, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(st.data())
def test_editors_refuse_nothing_that_can_run(data: st.DataObject) -> None:
    example = data.draw(st.sampled_from(RIGHT))
    changed = with_value(example, data.draw(st.sampled_from(places_in(example))), data.draw(values))
    if not found([changed, tool("b"), tool("c")], "a>b a>c"):
        assert list(VALIDATOR.iter_errors(plan(changed))) == []
