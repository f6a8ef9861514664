"""A run as a tree: lanes, turns, questions in their places, and what is due next."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import pytest

from compozy.cli.drawing.planned import draw_plan
from compozy.cli.drawing.standing import put_run
from compozy.cli.main import run
from compozy.cli.runtree import NOWHERE, Places, places_of, tree_of
from compozy.cli.states import lane_counts
from compozy.cli.treelines import tree_lines
from compozy.engine.snapshot import to_status
from compozy.hosts.local import Host
from compozy.language.compile import compile_plan

from .conftest import Team

pytestmark = pytest.mark.unit

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)
OK = {"status": "Succeeded"}
RUNNING = {"status": "Running"}


BODY = {
    "nodes": [
        {"id": "b"},
        {"id": "each", "kind": "fan-out"},
        {"id": "inner"},
        {"id": "a", "body": {"nodes": [{}]}},
    ],
    "edges": [{"from": "each", "to": "inner"}, {"from": "nobody", "to": None}, 7],
}
GRAPH = {"nodes": [{"id": "z"}, {"id": "sub", "kind": "sub-loop", "body": BODY}, "broken"]}


def question(name: str, node: str, item: int | None = None, **fields: Any) -> dict[str, Any]:
    spec = {"run": "rel", "generation": 1, "node": node, "prompt": f"About {name}?", **fields.pop("spec", {})}
    if item is not None:
        spec["item"] = item
    metadata = {"name": name, "uid": name, "creationTimestamp": "2026-05-01T11:50:00Z"}
    return {"apiVersion": "v", "kind": "HumanRequest", "metadata": metadata, "spec": spec, **fields}


def drawn(
    order: Sequence[str], nodes: dict[str, Any], *asked: dict[str, Any], places: Places = NOWHERE
) -> list[str]:
    return list(tree_lines(tree_of(order, nodes, asked), NOW, places))


def test_a_tree_says_what_waits_for_whom_since_when() -> None:
    nodes = {
        "E0": {"status": "Succeeded", "output": {"a": 1}, "completedAt": "2026-05-01T11:58:00Z"},
        "E10": {"status": "Pending"},
        "E2": {"status": "Failed", "reason": "ask_declined", "message": "nobody\nwanted"},
    }
    asked = [
        question("q1", "E1/do.1", 1, spec={"expiresAt": "2026-05-01T13:00:00Z"}),
        question(
            "q0",
            "E1/do.0",
            0,
            status={"state": "Answered", "resolvedAt": "2026-05-01T11:59:00Z"},
            response={"responder": "bob"},
        ),
        question(
            "q2", "E1/do.2", 2, spec={"responders": {"users": ["ann"], "groups": ["ops"], "agents": "allow"}}
        ),
        question("q3", "E1/do.3", 3, response={"responder": "bob"}),
    ]
    assert drawn(["E0", "E1"], nodes, *asked) == [
        '├─ ✓ E0  Succeeded  2m ago  {"a": 1}',
        "├─ ? E1  Waiting",
        "│  └─ ? do  Waiting  3 waiting, 1 answered",
        "│     ├─ ✓ item 0  Answered",
        "│     │  └─ “About q0?”  humanrequest/q0  answered by bob 60s ago",
        "│     ├─ ? item 1  Waiting",
        "│     │  └─ “About q1?”  humanrequest/q1  waits for somebody since 10m, expires in 60m",
        "│     ├─ ? item 2  Waiting",
        "│     │  └─ “About q2?”  humanrequest/q2  waits for ann or group ops or agents since 10m",
        "│     └─ ? item 3  Waiting",
        "│        └─ “About q3?”  humanrequest/q3  answered by bob, not yet taken up",
        "├─ ✗ E2  Failed  (ask_declined)  nobody wanted",
        "└─ · E10  Pending",
    ]


@pytest.mark.parametrize(
    ("responders", "told"),
    [
        ({}, "somebody"),
        ({"agents": "allow"}, "an agent"),
        ({"approvals": 2}, "2 people"),
        ({"approvals": 2, "agents": "allow"}, "2 people or agents"),
        ({"approvals": 2, "users": ["ann"], "groups": ["ops"]}, "2 of ann or group ops"),
        ({"approvals": 2, "users": ["ann"], "agents": "allow"}, "2 of ann or agents"),
    ],
)
def test_for_how_many_of_whom_a_question_waits(responders: dict[str, Any], told: str) -> None:
    (line,) = drawn([], {}, question("q", "E0", spec={"responders": responders}))[1:]
    assert line == f"   └─ “About q?”  humanrequest/q  waits for {told} since 10m"


def test_who_has_approved_is_told_while_it_waits_and_after() -> None:
    approvals = [{"responder": "ann", "groups": ["ops"]}, {"responder": "cat\x1b"}]
    asked = {"spec": {"responders": {"approvals": 3, "groups": ["ops"]}}, "approvals": approvals}
    waits = drawn([], {}, question("q", "E0", **asked))[1]
    assert waits.endswith(
        "waits for 3 of group ops since 10m, needs 3 people; 2 have approved: ann (ops), cat\\x1b"
    )
    response = {"decision": "approve", "responder": "bob", "groups": ["ops"], "note": "ship it"}
    status = {"state": "Answered", "resolvedAt": "2026-05-01T11:59:00Z"}
    ended = drawn([], {}, question("q", "E0", **asked, response=response, status=status))[1]
    assert ended.endswith("answered by bob (ops) 60s ago, “ship it”, 3 of 3 approvals: ann (ops), cat\\x1b")


def test_a_question_of_a_lane_stands_under_its_node_and_item() -> None:
    nodes = {
        "services": {**RUNNING, "lanes": {"total": 40, "succeeded": 10, "failed": 1, "canceled": 1}},
        "choose": {"status": "Waiting", "items": {"3": {"status": "Waiting"}, "0": OK}},
    }
    assert drawn(["services", "choose", "gather"], nodes, question("q", "choose", 3)) == [
        "├─ … services  Running  12/40 lanes done, 1 failed, 1 canceled",
        "├─ ? choose  Waiting  1 waiting, 1 succeeded",
        "│  ├─ ✓ item 0  Succeeded",
        "│  └─ ? item 3  Waiting",
        "│     └─ “About q?”  humanrequest/q  waits for somebody since 10m",
        "└─ · gather  Pending",
    ]


def test_a_node_that_only_its_lanes_tell_of() -> None:
    nodes = {"choose": {"items": {"0": OK, "1": {"status": "Running"}}}}
    assert drawn(["choose"], nodes)[0] == "└─ … choose  Running  1 running, 1 succeeded"


def test_fan_outs_in_fan_outs() -> None:
    nodes = {
        "outer": RUNNING,
        "outer.2/inner": RUNNING,
        "outer.2/choose": {**RUNNING, "items": {"2": {"status": "Waiting"}}},
    }
    assert drawn(["outer", "choose", "inner", "end"], nodes, question("q", "outer.2/choose", 2)) == [
        "├─ … outer  Running  1 waiting",
        "│  └─ ? item 2  Waiting",
        "│     ├─ … choose  Running  1 waiting",
        "│     │  └─ ? item 2  Waiting",
        "│     │     └─ “About q?”  humanrequest/q  waits for somebody since 10m",
        "│     └─ … inner  Running",
        "└─ · end  Pending",
    ]


def test_turns_of_a_loop() -> None:
    places = places_of({"graph": GRAPH})
    nodes = {
        "sub": {**RUNNING, "items": {"0": OK}},
        "sub/b": {"items": {"0": OK, "1": OK}},
        "sub/1/each": RUNNING,
        "sub/1/inner": {"items": {"4": {"status": "Waiting"}}},
    }
    assert drawn(places.order, nodes, question("q", "sub/1/inner", 4), places=places) == [
        "├─ · z  Pending",
        "└─ … sub  Running  1 waiting, 1 succeeded",
        "   ├─ ✓ b  Succeeded  2 succeeded",
        "   │  ├─ ✓ iteration 0  Succeeded",
        "   │  └─ ✓ iteration 1  Succeeded",
        "   ├─ · a  Pending",
        "   ├─ ✓ iteration 0  Succeeded",
        "   └─ ? iteration 1  Waiting",
        "      ├─ … each  Running",
        "      └─ ? inner  Waiting  1 waiting",
        "         └─ ? item 4  Waiting",
        "            └─ “About q?”  humanrequest/q  waits for somebody since 10m",
    ]


def test_of_many_lanes_those_are_shown_that_wait_or_failed() -> None:
    states = dict.fromkeys(range(1000), "Succeeded")
    states |= dict.fromkeys(range(500, 512), "Waiting") | {7: "Failed", 900: "Failed", 12: "Running"}
    nodes = {"choose": {**RUNNING, "items": {str(number): {"status": state} for number, state in states.items()}}}
    lines = drawn([], nodes)
    shown = [line[6:] for line in lines[1:-1]]
    assert shown == [
        *(f"? item {number}  Waiting" for number in range(500, 512)),
        "✗ item 7  Failed",
        "✗ item 900  Failed",
        "… item 12  Running",
        *(f"✓ item {number}  Succeeded" for number in range(5)),
    ]
    assert lines[-1] == "   └─ … 980 more: 980 succeeded"


def test_of_too_many_that_wait_the_rest_is_counted() -> None:
    states = ["Waiting"] * 50 + ["Succeeded"] * 950
    nodes = {
        "choose": {**RUNNING, "items": {str(number): {"status": state} for number, state in enumerate(states)}}
    }
    assert drawn([], nodes)[-1] == "   └─ … 980 more: 950 succeeded, 30 waiting"


def test_what_takes_a_while() -> None:
    nodes = {
        "call": {**RUNNING, "startedAt": "2026-05-01T11:59:00Z", "attempt": 3, "until": "2026-05-01T12:05:00Z"},
        "child": {**RUNNING, "run": "rel-child"},
        "done": {**OK, "until": "2026-05-01T11:00:00Z", "outputRef": {"name": "x", "bytes": 20000}},
    }
    assert drawn([], nodes) == [
        "├─ … call  Running  attempt 3  since 60s  until 2026-05-01T12:05:00Z (in 5m)",
        "├─ … child  Running  run: rel-child",
        "└─ ✓ done  Succeeded  an output of 20000 bytes",
    ]


def test_a_failure_that_the_plan_foresaw_is_no_success() -> None:
    handled = {**OK, "reason": "tool_unavailable", "message": "there is no tool"}
    nodes = {
        "deploy": {**handled, "route": "fix"},
        "notify": {"items": {"0": OK, "1": handled}},
        "gate": {**OK, "reason": "request_expired", "route": "late"},
    }
    assert drawn(["deploy", "notify", "gate"], nodes) == [
        "├─ ! deploy  Failed but handled  (tool_unavailable)  → fix  there is no tool",
        "├─ ! notify  Failed but handled  1 failed but handled, 1 succeeded",
        "│  ├─ ✓ item 0  Succeeded",
        "│  └─ ! item 1  Failed but handled  (tool_unavailable)  there is no tool",
        "└─ ✓ gate  Succeeded  (request_expired)",
    ]


def test_what_a_run_stores_of_a_foreseen_failure_tells_it_from_a_success() -> None:
    tool = {"class": "action", "kind": "server__tool", "params": {}, "on_error": {"allow_fail": True}}
    done = {"class": "action", "kind": "transform", "params": {"map": {"a": {"value": 1}}}}
    plan = compile_plan({"graph": {"nodes": [{"id": "call", **tool}, {"id": "done", **done}], "edges": []}})
    nodes = to_status(plan, Host(lambda: NOW).run(plan, {}))["nodes"]
    assert [line.split("  ")[:2] for line in drawn(["call", "done"], nodes)] == [
        ["├─ ! call", "Failed but handled"],
        ["└─ ✓ done", "Succeeded"],
    ]


@pytest.mark.parametrize(
    ("spec", "order", "loops"),
    [
        ({"steps": [{"id": "b"}, {"id": "a"}, "broken"]}, ["b", "a"], []),
        ({"graph": GRAPH}, ["z", "sub", "sub/b", "sub/each", "sub/inner", "sub/a"], ["a", "b", "each", "sub"]),
        ({"graph": []}, [], []),
        ({}, [], []),
        (None, [], []),
    ],
)
def test_steps_keep_the_order_of_their_author(spec: Any, order: list[str], loops: list[str]) -> None:
    places = places_of(spec)
    assert (places.order, sorted(places.loops)) == (order, loops)


@pytest.mark.parametrize(
    ("lanes", "text"),
    [
        ({"total": 3, "succeeded": 0, "failed": 0, "canceled": 0}, "0/3 lanes done"),
        ({"total": 3, "succeeded": 1, "failed": 0, "canceled": 2}, "3/3 lanes done, 2 canceled"),
    ],
)
def test_lanes_are_counted(lanes: dict[str, int], text: str) -> None:
    assert lane_counts(lanes) == text


def test_a_tree_and_a_picture_tell_the_same_of_lanes() -> None:
    kinds = {"each": "fan-out", "agree": "ask", "ship": "transform", "join": "collect", "late": "ask"}
    edges = [("each", "agree"), ("agree", "ship"), ("ship", "join"), ("join", "late")]
    graph = {
        "nodes": [{"id": name, "kind": kind} for name, kind in kinds.items()],
        "edges": [{"from": source, "to": target} for source, target in edges],
    }
    nodes = {
        "each": {**RUNNING, "lanes": {"total": 5, "succeeded": 1, "failed": 1, "canceled": 0}},
        "agree": {"items": {"0": OK, "1": {"status": "Failed"}}},
        "ship": {"items": {"0": OK}},
        "late": {"status": "Waiting"},
    }
    asked = [question("q2", "agree", 2), question("q3", "agree", 3)]
    places = places_of({"graph": graph})
    drawing = draw_plan({"graph": graph}, "rel")
    put_run(drawing, "Running", nodes, asked, NOW)
    told = "2/5 lanes done, 1 failed, 2 waiting"
    assert drawing.groups["each"].told == told
    assert drawn(places.order, nodes, *asked, places=places)[0] == f"├─ … each  Running  {told}"


class TestDescribe:
    @pytest.fixture(autouse=True)
    def _run(self, team: Team) -> None:
        team.put("controllerrevisions", "page", data={"nodes": {"b": OK}})
        team.put("controllerrevisions", "frozen", data={"spec": {"graph": {"nodes": [{"id": "b"}, {"id": "a"}]}}})
        team.put(
            "planruns",
            "rel",
            spec={"planRef": {"name": "p"}},
            status={
                "phase": "Running",
                "revision": "frozen",
                "nodes": {"a": RUNNING},
                "pages": [{"name": "page", "cells": 1}],
                "deadline": "2126-05-01T13:00:00.5Z",
            },
        )

    def test_reads_all_of_the_run_in_the_order_of_its_plan(
        self, team: Team, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert run(["describe", "rel"]) == 0
        assert capsys.readouterr().out.splitlines()[-2:] == ["├─ ✓ b  Succeeded", "└─ … a  Running"]
        assert run(["describe", "rel", "-o", "json"]) == 0
        told = json.loads(capsys.readouterr().out)
        assert told["run"]["status"]["nodes"] == {"a": RUNNING, "b": OK}

    def test_so_does_a_list_for_programs(self, team: Team, capsys: pytest.CaptureFixture[str]) -> None:
        assert run(["runs", "-o", "json"]) == 0
        (listed,) = json.loads(capsys.readouterr().out)["items"]
        assert listed["status"]["nodes"] == {"a": RUNNING, "b": OK}

    @pytest.mark.parametrize(
        ("deadline", "expires", "told"),
        [
            ("2126-05-01T13:00:00.5Z", None, "goes on by itself in"),
            ("2126-05-01T13:00:00.5Z", "2126-05-01T13:00:00Z", "choose item 3 closes in"),
            ("2126-05-01T13:00:00.5Z", "2126-05-01T13:00:01Z", "goes on by itself in"),
            (None, "2126-05-01T13:00:01Z", "choose item 3 closes in"),
            (None, None, "no question has a deadline"),
        ],
    )
    def test_says_what_is_next(
        self,
        team: Team,
        capsys: pytest.CaptureFixture[str],
        deadline: str | None,
        expires: str | None,
        told: str,
    ) -> None:
        team.objects["planruns", "rel"]["status"]["deadline"] = deadline
        asked = question("q", "choose", 3, spec={"expiresAt": expires})
        team.put("humanrequests", "q", spec=asked["spec"])
        assert run(["describe", "rel"]) == 0
        (line,) = [one for one in capsys.readouterr().out.splitlines() if one.startswith("Next:")]
        assert "00.5Z" not in line
        assert told in line

    def test_nothing_is_next_in_a_run_that_has_ended(self, team: Team, capsys: pytest.CaptureFixture[str]) -> None:
        team.objects["planruns", "rel"]["status"]["phase"] = "Failed"
        assert run(["describe", "rel"]) == 0
        assert "Next:" not in capsys.readouterr().out
