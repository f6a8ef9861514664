"""The kinds of nodes: what they compile to, and what is wrong with those that cannot be right."""

from __future__ import annotations

from typing import Any

import pytest

from compozy.language.compiled import (
    ApprovalSpec,
    BranchSpec,
    CallSpec,
    FanOutSpec,
    GateRoute,
    GateSpec,
    InputSpec,
    JudgeSpec,
    RunAgentSpec,
    RunLoopSpec,
    Strategy,
    SubLoopSpec,
    WaitSpec,
)
from support.graphs import collect, compiled, fan_out, found, node, problems, tool

pytestmark = pytest.mark.unit

ROUTED = "route_destination_invalid"
COMMAND = {"id": "tests", "type": "command", "check": "make test"}
JUDGE = {"id": "judge", "type": "agent-judge", "rubric": "Is it good?"}
HUMAN = {"id": "lead", "type": "human", "prompt": "Fine?"}


def spec(kind: str, **values: Any) -> Any:
    return compiled([node("a", kind, **values), tool("b"), tool("c")], "a>b a>c").nodes["a"].spec


def wrong(kind: str, **values: Any) -> list[tuple[str, str]]:
    told = found([node("a", kind, **values), tool("b"), tool("c")], "a>b a>c")
    return [(path.removeprefix("nodes[0]").lstrip("."), code) for path, code in told]


def lanes(**values: Any) -> FanOutSpec:
    plan = compiled([fan_out("f", **values), tool("a"), collect("j")], "f>a>j")
    found_spec = plan.nodes["f"].spec
    assert isinstance(found_spec, FanOutSpec)
    return found_spec


def test_branch() -> None:
    told = spec("branch", condition="inputs.go", on_eval_error="exit")
    assert isinstance(told, BranchSpec)
    assert (told.source, told.on_eval_error) == ("inputs.go", "exit")
    assert spec("branch", condition="inputs.go").on_eval_error == "fail"


def test_route() -> None:
    told = spec("route", routes=[{"when": "inputs.go", "to": "b"}], default="c")
    assert [(source, target) for source, _, target in told.routes] == [("inputs.go", "b")]
    assert told.default == "c"
    nodes = [node("a", "route", routes=[{"when": "inputs.go", "to": "b"}], default="c", on_error={"route": "d"})]
    assert found([*nodes, tool("b"), tool("c"), tool("d")], "a>b a>c a>d") == []


def test_wait() -> None:
    told = spec("wait", params={"for": "{{ .inputs.time }}"})
    assert isinstance(told, WaitSpec)
    assert told.duration is not None
    assert told.until is None
    assert spec("wait", params={"until": "2030-01-31T09:00:00Z"}).duration is None


def test_input() -> None:
    assert spec("input", input_ref="anything") == InputSpec("anything")


def test_run_loop() -> None:
    told = spec(
        "run-loop", params={"loop": "other", "inputs": {"x": 1}, "mode": "detach"}, on_parent_close="abandon"
    )
    assert isinstance(told, RunLoopSpec)
    assert (told.mode, told.on_parent_close) == ("detach", "abandon")
    assert told.inputs is not None
    assert told.inputs.render({}) == {"x": 1}
    told = spec("run-loop", params={"loop": "other"})
    assert (told.mode, told.on_parent_close, told.inputs) == ("await", "terminate", None)


def test_run_agent() -> None:
    params = {
        "agent": "a",
        "prompt": "p",
        "output_schema": {"n": "number"},
        "allowed_tools": ["x__*"],
        "max_turns": 3,
    }
    told = spec("run-agent", params=params)
    assert isinstance(told, RunAgentSpec)
    assert told.output_schema is not None
    assert (told.output_schema["required"], told.allowed_tools, told.max_turns) == (["n"], ("x__*",), 3)


@pytest.mark.parametrize("name", ["compozy__release_publish", "x", "a.b-c_D9", "mcp__git__commit"])
def test_any_other_action_is_a_tool(name: str) -> None:
    told = spec(name, params={"tag": "{{ .inputs.tag }}"})
    assert isinstance(told, CallSpec)
    assert told.tool == name
    assert told.input.render({"inputs": {"tag": "v1"}}) == {"tag": "v1"}


def test_sub_loop() -> None:
    body = {"nodes": [tool("x"), tool("y")], "edges": [{"from": "x", "to": "y"}]}
    told = spec("sub-loop", body=body)
    assert isinstance(told, SubLoopSpec)
    assert (list(told.body.nodes), told.stop_when, told.iteration_cap) == (["x", "y"], None, 1)
    told = spec("sub-loop", body=body, contract={"stop_when": "nodes.y.output.done"})
    assert (told.stop_source, told.iteration_cap) == ("nodes.y.output.done", 50)


def test_gate() -> None:
    told = spec(
        "gate",
        criteria=[
            COMMAND,
            {**JUDGE, "agent": "critic"},
            HUMAN,
            {"id": "scan", "type": "extension", "tool": "x__y"},
        ],
        verdict_policy="revise_until_clean",
        on_result={"pass": {"route": "branch", "branch": "b"}, "fail": "halt", "timeout": {"route": "c"}},
        max_revisions=64,
    )
    assert isinstance(told, GateSpec)
    assert [(criterion.id, type(criterion.spec)) for criterion in told.criteria] == [
        ("tests", CallSpec),
        ("judge", JudgeSpec),
        ("lead", ApprovalSpec),
        ("scan", CallSpec),
    ]
    assert told.on_result == {
        "pass": GateRoute("branch", "b"),
        "fail": GateRoute("halt"),
        "error": GateRoute("branch", "c"),
    }
    assert [(item.id, item.path) for item in told.body.nodes.values()][1] == (
        "judge",
        "graph.nodes[0].criteria[1]",
    )
    command = told.criteria[0].spec
    assert isinstance(command, CallSpec)
    assert (command.tool, command.input.render({})) == ("command", {"check": "make test"})


def test_a_gate_that_says_little() -> None:
    told = spec("gate", criteria=[COMMAND])
    assert (told.criteria[0].expect, told.max_revisions) == ("exit_zero", 10)
    assert told.on_result == {
        "pass": GateRoute("continue"),
        "fail": GateRoute("revise"),
        "error": GateRoute("halt"),
    }


def test_a_command_takes_values_as_words_of_the_shell() -> None:
    quoted = {**COMMAND, "check": "test -d {{ .inputs.dir | shellQuote }}{{ if .inputs.x }} -a x{{ end }}"}
    assert wrong("gate", criteria=[quoted]) == []
    for check in (
        "{{ .inputs.dir }}",
        "{{ shellQuote .inputs.dir | print }}",
        "{{ if .inputs.x }}{{ .inputs.x }}{{ end }}",
    ):
        expected = [("criteria[0].check", "gate_check_unquoted")]
        assert wrong("gate", criteria=[{**COMMAND, "check": check}]) == expected


def test_fan_out() -> None:
    told = lanes(
        collection="{{ .inputs.all }}",
        filter="svc != '' && at > 0",
        batch_size=1,
        max_parallel=1000,
        max_fan_out=10_000,
        strategy={"kind": "best_effort", "threshold": "66%", "missing": "acceptable"},
        bind_as="svc",
        index_as="at",
    )
    assert told.collection.render({"inputs": {"all": [1]}}) == [1]
    assert (told.filter_source, told.max_parallel, told.max_fan_out) == ("svc != '' && at > 0", 1000, 10_000)
    assert (told.strategy, told.bind_as, told.index_as) == (Strategy("best_effort", percent=66), "svc", "at")


@pytest.mark.parametrize(("profile", "width"), [(None, 4), ("delivery", 4), ("watch", 2)])
def test_the_profile_says_how_many_lanes_are_open(profile: str | None, width: int) -> None:
    more = {} if profile is None else {"profile": profile}
    plan = compiled([fan_out("f"), tool("a")], "f>a", **more)
    assert plan.nodes["f"].spec.max_parallel == width  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("written", "strategy"),
    [
        ("fail_fast", Strategy("fail_fast")),
        ({"kind": "race"}, Strategy("race")),
        ({"kind": "best_effort"}, Strategy("best_effort")),
        ({"kind": "best_effort", "threshold": "100%"}, Strategy("best_effort", percent=100)),
        ({"kind": "best_effort", "threshold": {"count": 2}}, Strategy("best_effort", count=2)),
    ],
)
def test_strategies(written: Any, strategy: Strategy) -> None:
    assert lanes(strategy=written).strategy == strategy


@pytest.mark.parametrize(
    ("values", "path", "code"),
    [
        ({"max_fan_out": None}, "max_fan_out", "fan_out_unbounded"),
        ({"max_fan_out": 0}, "max_fan_out", "fan_out_unbounded"),
        ({"max_fan_out": 10_001}, "max_fan_out", "fan_out_unbounded"),
        ({"max_fan_out": True}, "max_fan_out", "fan_out_unbounded"),
        ({"batch_size": 0}, "batch_size", "invalid_value"),
        ({"max_parallel": 0}, "max_parallel", "invalid_value"),
        ({"max_parallel": 1001}, "max_parallel", "invalid_value"),
        ({"collection": {}}, "collection", "invalid_type"),
        ({"collection": "text"}, "collection", "collection_not_a_list"),
        ({"collection": "{{ .inputs.a }} {{ .inputs.b }}"}, "collection", "collection_not_a_list"),
        ({"collection": "{{ .nodes.o.status }}"}, "collection", "collection_not_a_list"),
        ({"filter": "item +"}, "filter", "condition_invalid"),
        ({"filter": "index"}, "filter", "condition_not_bool"),
        ({"filter": "other == 1"}, "filter", "condition_invalid"),
        *(
            ({key: name}, key, "alias_invalid")
            for key in ("bind_as", "index_as")
            for name in ("inputs", "item", "index", "in", "string", "Upper", "a-b", 1)
        ),
        ({"bind_as": "x", "index_as": "x"}, "index_as", "alias_invalid"),
        *(
            ({"strategy": strategy}, "strategy", "strategy_invalid")
            for strategy in ("best_effort", "all", 1, {"kind": "race", "threshold": "50%"})
        ),
        ({"strategy": {}}, "strategy.kind", "strategy_invalid"),
        ({"strategy": {"kind": "best_effort", "missing": "fatal"}}, "strategy.missing", "strategy_invalid"),
        ({"strategy": {"kind": "best_effort", "wait": 1}}, "strategy.wait", "strategy_invalid"),
        *(
            (
                {"strategy": {"kind": "best_effort", "threshold": threshold}},
                "strategy.threshold",
                "strategy_invalid",
            )
            for threshold in ("0%", "101%", "50", 50, {"count": 0}, {"count": 1, "of": 2})
        ),
    ],
)
def test_fan_outs_that_cannot_be_right(values: dict[str, Any], path: str, code: str) -> None:
    nodes = [tool("o"), fan_out("f", **values), tool("a")]
    assert found(nodes, "o>f>a") == [(f"nodes[1].{path}", code)]


def test_what_must_be_there() -> None:
    nodes = [node("f", "fan-out"), tool("a")]
    assert sorted(found(nodes, "f>a")) == [
        ("nodes[0].collection", "missing_key"),
        ("nodes[0].max_fan_out", "fan_out_unbounded"),
    ]


def test_an_inner_fan_out_has_names_of_its_own() -> None:
    nodes = [fan_out("f", bind_as="x"), fan_out("g", bind_as="x"), tool("a")]
    assert found(nodes, "f>g>a") == [("nodes[1].bind_as", "alias_invalid")]
    nodes[1] = fan_out("g", bind_as="y", collection="{{ .x }}")
    nodes[2] = tool("a", p="{{ .x }}{{ .y }}")
    assert found(nodes, "f>g>a") == []


@pytest.mark.parametrize(
    ("kind", "values", "path", "code"),
    [
        ("branch", {}, "condition", "missing_key"),
        ("route", {"default": "b"}, "routes", "route_empty"),
        ("route", {"routes": [{"when": "inputs.x", "to": "b"}]}, "default", "route_default_required"),
        ("route", {"routes": [{"when": "inputs.x"}], "default": "b"}, "routes[0].to", "missing_key"),
        ("route", {"routes": [{"when": "inputs.x", "to": "z"}], "default": "b"}, "routes[0].to", ROUTED),
        ("route", {"routes": [{"when": "inputs.x", "to": "b"}], "default": ["c"]}, "default", ROUTED),
        (
            "route",
            {"routes": [{"when": "inputs.x", "to": "b"}], "default": "b"},
            "default",
            "route_destination_duplicate",
        ),
        (
            "route",
            {"routes": [{"when": "inputs.x", "to": "b"}], "default": "b"},
            "routes",
            "route_edge_undeclared",
        ),
        ("branch", {"condition": "true", "on_eval_error": "skip"}, "on_eval_error", "invalid_value"),
        ("branch", {"condition": "1 +"}, "condition", "condition_invalid"),
        ("wait", {}, "params", "wait_shape_invalid"),
        ("wait", {"params": {}}, "params", "wait_shape_invalid"),
        ("wait", {"params": {"for": "1h", "until": "2030-01-31T09:00:00Z"}}, "params", "wait_shape_invalid"),
        ("wait", {"params": {"for": "1h", "expect": {}}}, "params.expect", "wait_shape_invalid"),
        ("wait", {"params": {"event": {"kind": "x"}}}, "params.event", "wait_event_unsupported"),
        ("wait", {"params": {"for": "a while"}}, "params.for", "duration_invalid"),
        ("wait", {"params": {"until": "tomorrow"}}, "params.until", "duration_invalid"),
        ("wait", {"params": {"until": "2030-01-31"}}, "params.until", "duration_invalid"),
        ("input", {}, "input_ref", "missing_key"),
        ("run-loop", {}, "params", "invalid_type"),
        ("run-loop", {"params": {}}, "params.loop", "missing_key"),
        ("run-loop", {"params": {"loop": " "}}, "params.loop", "invalid_value"),
        ("run-loop", {"params": {"loop": "x", "mode": "fork"}}, "params.mode", "invalid_value"),
        ("run-loop", {"params": {"loop": "x", "inputs": []}}, "params.inputs", "invalid_type"),
        (
            "run-loop",
            {"params": {"loop": "x"}, "on_parent_close": "cancel"},
            "on_parent_close",
            "parent_close_invalid",
        ),
        ("run-agent", {"params": {"prompt": "p"}}, "params.agent", "missing_key"),
        (
            "run-agent",
            {"params": {"agent": "a", "prompt": "p", "max_turns": 0}},
            "params.max_turns",
            "invalid_value",
        ),
        (
            "run-agent",
            {"params": {"agent": "a", "prompt": "p", "allowed_tools": "x"}},
            "params.allowed_tools",
            "invalid_type",
        ),
        ("x__y", {"params": []}, "params", "invalid_type"),
        ("1__y", {}, "kind", "tool_name_invalid"),
        ("x y", {}, "kind", "tool_name_invalid"),
        ("goal", {}, "kind", "kind_unsupported"),
        ("sub-loop", {}, "body", "missing_key"),
        ("sub-loop", {"body": {}}, "body.nodes", "missing_key"),
        ("sub-loop", {"body": {"nodes": [{"id": "x"}]}}, "body.nodes[0].class", "class_mismatch"),
        ("sub-loop", {"body": {"nodes": [tool("x")]}, "contract": {}}, "contract.stop_when", "missing_key"),
        (
            "sub-loop",
            {"body": {"nodes": [tool("x")]}, "contract": {"stop_when": "true", "iteration_cap": 0}},
            "contract.iteration_cap",
            "iteration_cap_invalid",
        ),
        ("gate", {}, "criteria", "gate_criteria_required"),
        ("gate", {"criteria": [COMMAND], "max_revisions": 65}, "max_revisions", "gate_max_revisions_invalid"),
        ("gate", {"criteria": [COMMAND], "verdict_policy": "any"}, "verdict_policy", "invalid_value"),
        (
            "gate",
            {"criteria": [COMMAND], "verdict_policy": "revise_until_clean"},
            "verdict_policy",
            "verdict_policy_requires_judge",
        ),
        ("gate", {"criteria": [COMMAND, COMMAND]}, "criteria[1].id", "gate_criterion_duplicate"),
        ("gate", {"criteria": [HUMAN, {**HUMAN, "id": "two"}]}, "criteria[1].type", "gate_human_multiple"),
    ],
)
def test_nodes_that_cannot_be_right(kind: str, values: dict[str, Any], path: str, code: str) -> None:
    assert (path, code) in wrong(kind, **values)


@pytest.mark.parametrize(
    ("criterion", "path", "code"),
    [
        ("tests", "type", "gate_criterion_invalid"),
        ({"id": "x", "type": "vote"}, "type", "gate_criterion_invalid"),
        ({**COMMAND, "id": "X"}, "id", "gate_criterion_invalid"),
        ({**COMMAND, "check": ""}, "check", "gate_criterion_invalid"),
        ({**COMMAND, "expect": "fine"}, "expect", "gate_criterion_invalid"),
        ({**COMMAND, "expect": "stdout_contains"}, "contains", "gate_criterion_invalid"),
        ({**COMMAND, "contains": "ok"}, "contains", "gate_criterion_invalid"),
        ({**COMMAND, "metric": {}}, "metric", "gate_criterion_invalid"),
        ({"id": "x", "type": "agent-judge"}, "", "gate_criterion_invalid"),
        ({**JUDGE, "prompt": "p"}, "", "gate_criterion_invalid"),
        ({"id": "x", "type": "human"}, "prompt", "invalid_type"),
        ({**HUMAN, "responders": {"agents": 1}}, "responders.agents", "responder_policy_invalid"),
        ({**HUMAN, "expires": {"after": "1h", "route": "b"}}, "expires.route", "gate_criterion_invalid"),
        ({"id": "x", "type": "extension"}, "tool", "tool_name_invalid"),
        ({"id": "x", "type": "extension", "tool": "x__y", "inputs": 1}, "inputs", "invalid_type"),
    ],
)
def test_criteria_that_cannot_be_right(criterion: Any, path: str, code: str) -> None:
    place = f"criteria[0].{path}" if path else "criteria[0]"
    assert (place, code) in wrong("gate", criteria=[criterion])


@pytest.mark.parametrize(
    ("written", "path"),
    [
        ({"fail": "escalate"}, "fail"),
        ({"fail": "retry"}, "fail"),
        ({"fail": "branch"}, "fail"),
        ({"fail": {"route": "nowhere"}}, "fail"),
        ({"fail": {"route": "branch"}}, "fail"),
        ({"fail": {"route": "branch", "branch": "a"}}, "fail.branch"),
        ({"fail": {"route": "halt", "branch": "b"}}, "fail"),
        ({"fail": {"route": "halt", "terminal_status": "done"}}, "fail.terminal_status"),
        ({"fail": {"route": "halt", "reason_code": 1}}, "fail.reason_code"),
        ({"approval": "halt"}, "approval"),
        ({"maybe": "halt"}, "maybe"),
        ({"error": "halt", "timeout": "revise"}, "timeout"),
    ],
)
def test_results_that_cannot_be_right(written: dict[str, Any], path: str) -> None:
    assert wrong("gate", criteria=[COMMAND], on_result=written) == [(f"on_result.{path}", "gate_route_invalid")]


def test_results_that_can() -> None:
    written = {
        "approval": "escalate",
        "error": "halt",
        "timeout": "halt",
        "fail": {"route": "halt", "reason_code": "x"},
    }
    told = spec("gate", criteria=[COMMAND], on_result=written)
    assert told.on_result["fail"] == GateRoute("halt", None, "x")


@pytest.mark.parametrize(
    ("given", "path", "code", "named"),
    [
        ({"class": "control", "kind": "loop"}, "kind", "kind_unknown", "sub-loop"),
        ({"class": "source", "kind": "files"}, "kind", "kind_unsupported", "input"),
        ({"class": "source", "kind": "watch-source"}, "kind", "kind_unsupported", "start a run"),
        ({"class": "action", "kind": "ask"}, "class", "class_mismatch", "control"),
        ({"class": "control", "kind": "transform"}, "class", "class_mismatch", "action"),
        ({"class": "thing", "kind": "x__y"}, "class", "class_mismatch", "source"),
        ({"class": "action"}, "kind", "kind_unknown", "run-agent"),
        ({"class": "action", "kind": ["x"]}, "kind", "kind_unknown", "transform"),
    ],
)
def test_kinds_that_there_are_not(given: dict[str, Any], path: str, code: str, named: str) -> None:
    [problem] = [
        problem
        for problem in problems([{"id": "a", **given}])
        if (problem.path, problem.code) == (f"graph.nodes[0].{path}", code)
    ]
    assert named in problem.message
