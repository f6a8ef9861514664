"""What is in a picture: shapes, frames and links of a plan, and where a run stands in it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compozy.cli.drawing.data import to_data
from compozy.cli.drawing.dot import to_dot
from compozy.cli.drawing.lanes import fan_out_bodies
from compozy.cli.drawing.mermaid import to_mermaid
from compozy.cli.drawing.model import Drawing
from compozy.cli.drawing.planned import draw_plan
from compozy.cli.drawing.standing import put_run

pytestmark = pytest.mark.unit

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)
OK: dict[str, Any] = {"status": "Succeeded"}
WAITING = {"status": "Waiting"}
SKIPPED = {"status": "Skipped"}


def graph(*nodes: dict[str, Any], edges: str = "") -> dict[str, Any]:
    """A graph plan; edges as `a>b b>c`."""
    pairs = [dict(zip(("from", "to"), edge.split(">"), strict=True)) for edge in edges.split()]
    return {"graph": {"nodes": list(nodes), "edges": pairs}}


def node(name: str, kind: str = "transform", **fields: Any) -> dict[str, Any]:
    return {"id": name, "kind": kind, **fields}


def request(name: str, at: str, item: int | None = None, **spec: Any) -> dict[str, Any]:
    told = {"node": at, **({} if item is None else {"item": item}), **spec}
    return {"metadata": {"name": name, "creationTimestamp": "2026-05-01T11:50:00Z"}, "spec": told}


def stood(spec: dict[str, Any], nodes: dict[str, Any], *asked: dict[str, Any], phase: str = "Running") -> Drawing:
    drawing = draw_plan(spec, "rel")
    put_run(drawing, phase, nodes, asked, NOW)
    return drawing


def links(drawing: Drawing) -> dict[str, Any]:
    return {f"{link.source}>{link.target}": (link.label, link.kind) for link in drawing.links}


def taken(drawing: Drawing) -> dict[str, bool | None]:
    return {f"{link.source}>{link.target}": link.taken for link in drawing.links}


def states(drawing: Drawing) -> dict[str, str | None]:
    return {shape.id: shape.status for shape in drawing.shapes.values()}


ROUTES = [{"when": "inputs.a", "to": "b"}, {"when": "inputs.c", "to": "c"}]
LANES = graph(
    node("f", "fan-out", collection="{{ .inputs.all }}"),
    node("ask", "ask", params={"prompt": "Which?", "expires": {"after": "1h", "route": "late"}}),
    node("do"),
    node("late"),
    node("c", "collect"),
    node("end"),
    edges="f>ask ask>do ask>late do>c late>c c>end",
)
LOOP = graph(
    node(
        "sub",
        "sub-loop",
        contract={"stop_when": "nodes.b.output.ok"},
        body={"nodes": [node("a"), node("b")], "edges": [{"from": "a", "to": "b"}]},
    ),
    node("end"),
    edges="sub>end",
)
GATE = graph(
    node(
        "g",
        "gate",
        criteria=[{"id": "tests", "type": "command", "check": "make test"}, {"id": "boss", "type": "human"}],
        on_result={"pass": "continue", "fail": {"route": "branch", "branch": "repair"}},
    ),
    node("next"),
    node("repair"),
    edges="g>next g>repair",
)
STEPS = {
    "steps": [
        {"id": "E0", "tool_name": "ask", "input": {"prompt": "Which?"}},
        {
            "id": "E1",
            "toolName": "decide",
            "input": {
                "if": {"value": "{{E0.answered}}", "op": "eq", "to": True},
                "then": [{"id": "B0", "tool_name": "s__a", "input": {}}, {"id": "B1", "tool_name": "s__b"}],
                "else": {"tool_name": "exit", "input": {"message": "no"}},
            },
        },
        {
            "id": "E2",
            "tool_name": "map",
            "input": {"over": "{{input.x}}", "do": {"tool_name": "ask", "input": {}}},
        },
        {"id": "E3", "tool_name": "plan__child", "input": {}},
    ],
    "solver": {"query_to_answer": "q"},
}


class TestAPlan:
    def test_ways_are_labelled_with_what_leads_there(self) -> None:
        ask = node("a", "ask", params={"expires": {"after": "72h", "route": "d"}})
        route = node("r", "route", routes=ROUTES, default="d")
        review = {"when": "true", "on_reject": {"route": "d"}}
        action = node("b", "s__tool", review=review, onError={"route": "c"})
        drawing = draw_plan(
            graph(ask, route, action, node("br", "branch", condition="x"), node("c"), node("d"),
                  edges="a>r a>d r>b r>c r>d b>d b>c b>br br>c"), "p"
        )  # fmt: skip
        assert links(drawing) == {
            "a>r": ("", "flow"),
            "a>d": ("expires after 72h", "exception"),
            "r>b": ("inputs.a", "flow"),
            "r>c": ("inputs.c", "flow"),
            "r>d": ("default", "flow"),
            "b>d": ("rejected", "exception"),
            "b>c": ("on error", "exception"),
            "b>br": ("", "flow"),
            "br>c": ("true", "flow"),
        }

    def test_a_way_for_exceptions_that_is_the_only_one_is_the_usual_one(self) -> None:
        ask = node("a", "ask", params={"expires": {"after": "72h", "route": "b"}})
        assert links(draw_plan(graph(ask, node("b"), edges="a>b"), "p")) == {
            "a>b": ("also expires after 72h", "flow")
        }

    def test_two_ways_to_one_node_share_a_label(self) -> None:
        action = node("a", "s__t", review={"on_reject": {"route": "b"}}, on_error={"route": "b"})
        drawing = draw_plan(graph(action, node("b"), node("c"), edges="a>b a>c"), "p")
        assert links(drawing)["a>b"] == ("rejected, on error", "exception")

    def test_a_fan_out_has_a_frame_around_its_body(self) -> None:
        drawing = draw_plan(LANES, "p")
        assert {shape.id: shape.group for shape in drawing.shapes.values()} == {
            "f": None, "ask": "f", "do": "f", "late": "f", "c": None, "end": None,
        }  # fmt: skip
        assert drawing.groups["f"].title == "for each of {{ .inputs.all }}"

    def test_of_fan_outs_in_fan_outs_the_innermost_holds_a_node(self) -> None:
        nodes = [
            node("o", "fan-out"),
            node("i", "fan-out"),
            node("x"),
            node("ic", "collect"),
            node("oc", "collect"),
        ]
        drawing = draw_plan(graph(*nodes, edges="o>i i>x x>ic ic>oc"), "p")
        assert {shape.id: shape.group for shape in drawing.shapes.values()} == {
            "o": None, "i": "o", "x": "i", "ic": "o", "oc": None,
        }  # fmt: skip
        assert (drawing.groups["i"].parent, drawing.groups["o"].parent) == ("o", None)

    def test_a_sub_loop_and_a_gate_hold_what_is_inside_of_them(self) -> None:
        drawing = draw_plan(LOOP, "p")
        assert {shape.id: shape.group for shape in drawing.shapes.values()} == {
            "sub": None, "end": None, "sub/a": "sub", "sub/b": "sub",
        }  # fmt: skip
        assert drawing.groups["sub"].title == "again until nodes.b.output.ok"
        assert links(drawing)["sub>sub/a"] == ("", "body")
        gate = draw_plan(GATE, "p")
        assert {shape.id: shape.form for shape in gate.shapes.values()} == {
            "g": "gate", "next": "action", "repair": "action", "g/tests": "action", "g/boss": "person",
        }  # fmt: skip
        assert links(gate)["g>repair"] == ("fail", "flow")

    def test_steps_are_a_chain_with_their_bodies_in_frames(self) -> None:
        drawing = draw_plan(STEPS, "p")
        assert {shape.id: (shape.form, shape.group) for shape in drawing.shapes.values()} == {
            "E0": ("person", None),
            "E1": ("choice", None),
            "E1/then/B0": ("action", "E1/then"),
            "E1/then/B1": ("action", "E1/then"),
            "E1/else": ("gate", "E1/else"),
            "E2": ("spread", None),
            "E2/do": ("person", "E2/do"),
            "E3": ("nested", None),
            "@solver": ("action", None),
        }
        assert links(drawing) == {
            "E0>E1": ("", "flow"),
            "E1>E2": ("", "flow"),
            "E2>E3": ("", "flow"),
            "E3>@solver": ("", "flow"),
            "E1>E1/then/B0": ("then", "body"),
            "E1/then/B0>E1/then/B1": ("", "flow"),
            "E1>E1/else": ("else", "body"),
            "E2>E2/do": ("each", "body"),
        }
        assert drawing.shapes["E1"].notes == ["{{E0.answered}} eq true"]


def test_brackets_match_also_where_edges_run_in_circles() -> None:
    kinds = {"f": "fan-out", "a": "x", "c": "collect", "g": "fan-out"}
    assert fan_out_bodies(kinds, [("f", "a"), ("a", "f"), ("a", "c"), ("g", "a"), ("c", "a")]) == {
        "f": ["a"],
        "g": ["f", "a"],
    }


class TestARun:
    def test_a_route_was_taken_and_the_others_not(self) -> None:
        spec = graph(
            node("r", "route", routes=ROUTES, default="d"), node("b"), node("c"), node("d"), edges="r>b r>c r>d"
        )
        drawing = stood(spec, {"r": {**OK, "route": "c"}, "b": SKIPPED, "c": {"status": "Running"}})
        assert taken(drawing) == {"r>b": False, "r>c": True, "r>d": False}
        assert states(drawing) == {"r": "Succeeded", "b": "Skipped", "c": "Running", "d": "Pending"}

    @pytest.mark.parametrize(
        ("told", "usual", "exceptional"),
        [
            (OK, True, False),
            ({**OK, "route": "late"}, False, True),
            ({"status": "Failed"}, False, False),
            ({"status": "Canceled"}, False, False),
            (SKIPPED, False, False),
            (WAITING, None, None),
            (None, None, None),
        ],
    )
    def test_ways_for_exceptions(self, told: Any, usual: bool | None, exceptional: bool | None) -> None:
        ask = node("a", "ask", params={"expires": {"after": "1h", "route": "late"}})
        spec = graph(ask, node("b"), node("late"), edges="a>b a>late")
        drawing = stood(spec, {"a": told} if told else {})
        assert taken(drawing) == {"a>b": usual, "a>late": exceptional}

    def test_what_comes_after_a_branch_that_does_not_hold_is_not_taken(self) -> None:
        spec = graph(node("a", "branch"), node("b"), edges="a>b")
        assert taken(stood(spec, {"a": {**OK, "output": {"taken": False}}})) == {"a>b": False}
        assert taken(stood(spec, {"a": {**OK, "output": {"taken": True}}})) == {"a>b": True}

    def test_lanes_are_put_together(self) -> None:
        nodes = {
            "f": {
                "status": "Running",
                "lanes": {"total": 40, "succeeded": 10, "failed": 1, "canceled": 1},
                "items": {"0": {"status": "Failed"}, "1": OK},
            },
            "ask": {"status": "Running", "items": {"0": OK, "1": {**OK, "route": "late"}, "3": WAITING}},
            "do": {"items": {"0": {"status": "Failed"}, "1": SKIPPED}},
            "late": {"status": "Running", "items": {"0": SKIPPED, "1": OK}},
        }
        asked = [request("q3", "ask", 3, responders={"users": ["ann"]}), request("q4", "ask", 4)]
        drawing = stood(LANES, nodes, *asked)
        assert drawing.groups["f"].told == "12/40 lanes done, 1 failed, 1 canceled, 2 waiting"
        assert states(drawing) == {
            "f": "Running", "ask": "Waiting", "do": "Failed", "late": "Succeeded",
            "c": "Pending", "end": "Pending",
        }  # fmt: skip
        assert taken(drawing) == {
            "f>ask": True, "ask>do": True, "ask>late": True, "do>c": False, "late>c": True, "c>end": None,
        }  # fmt: skip
        assert drawing.shapes["ask"].told == [
            "2 waiting, 2 succeeded",
            "item 3: waits for ann since 10m",
            "item 4: waits for somebody since 10m",
        ]

    def test_a_fan_out_over_nothing(self) -> None:
        nodes = {"f": {**OK, "lanes": {"total": 0, "succeeded": 0, "failed": 0, "canceled": 0}}, "c": OK}
        drawing = stood(LANES, nodes)
        assert [states(drawing)[name] for name in ("ask", "do", "late", "c")] == [*["Skipped"] * 3, "Succeeded"]
        assert taken(drawing)["f>ask"] is False
        assert drawing.groups["f"].told == "0/0 lanes done"

    def test_lanes_of_lanes(self) -> None:
        nodes = [node("o", "fan-out"), node("i", "fan-out"), node("x", "ask"), node("ic", "collect")]
        spec = graph(*nodes, node("oc", "collect"), edges="o>i i>x x>ic ic>oc")
        lanes = {"total": 2, "succeeded": 1, "failed": 0, "canceled": 0}
        told = {
            "o": {"status": "Running", "lanes": {**lanes, "succeeded": 0}},
            "i": {
                "status": "Running",
                "items": {"0": {"status": "Running", "lanes": lanes}, "1": {**OK, "lanes": lanes}},
            },
            "o.0/x": {"status": "Running", "items": {"0": OK}},
            "o.1/x": OK | {"items": {"0": OK, "1": OK}},
        }
        drawing = stood(spec, told, request("q", "o.0/x", 1))
        assert drawing.shapes["x"].items == {
            "0.0": "Succeeded",
            "0.1": "Waiting",
            "1.0": "Succeeded",
            "1.1": "Succeeded",
        }
        assert (drawing.groups["o"].told, drawing.groups["i"].told) == (
            "0/2 lanes done, 1 waiting",
            "2/4 lanes done, 1 waiting",
        )

    def test_of_turns_the_last_one_is_shown(self) -> None:
        turns = {"0": OK, "10": {"status": "Failed"}, "2": OK}
        drawing = stood(LOOP, {"sub": {"status": "Running", "items": {"0": OK}}, "sub/a": {"items": turns}})
        assert (states(drawing)["sub"], states(drawing)["sub/a"]) == ("Running", "Failed")
        assert drawing.shapes["sub/a"].items == {}

    def test_lanes_in_turns_and_turns_in_lanes(self) -> None:
        inner = [node("f", "fan-out"), node("x", "ask")]
        body = {"nodes": inner, "edges": [{"from": "f", "to": "x"}]}
        again = node("sub", "sub-loop", contract={"stop_when": "true"}, body=body)
        told = {"sub/0/x": {"items": {"0": OK, "1": OK}}, "sub/1/x": {"items": {"0": OK}}}
        drawing = stood(graph(again), told, request("q", "sub/1/x", 1))
        assert drawing.shapes["sub/x"].items == {"0": "Succeeded", "1": "Waiting"}
        again["body"] = {"nodes": [node("x", "ask")]}
        told = {"f.0/sub/x": {"items": {"0": OK, "1": WAITING}}, "f.1/sub/x": {"items": {"0": OK}}}
        drawing = stood(graph(node("f", "fan-out"), again, edges="f>sub"), told)
        assert drawing.shapes["sub/x"].items == {"0": "Waiting", "1": "Succeeded"}

    @pytest.mark.parametrize(
        ("decided", "then", "otherwise"),
        [
            ({"branch": "then"}, "Succeeded", "Skipped"),
            ({"branch": "else"}, "Skipped", "Succeeded"),
            ({"branch": None}, "Skipped", "Skipped"),
        ],
    )
    def test_what_bodies_have_found_follows_from_their_step(self, decided: Any, then: str, otherwise: str) -> None:
        drawing = stood(STEPS, {"E0": OK, "E1": {**OK, "output": decided}, "E2": {**OK, "output": []}})
        found = states(drawing)
        assert (found["E1/then/B0"], found["E1/else"], found["E2/do"]) == (then, otherwise, "Skipped")
        assert taken(drawing)["E1/then/B0>E1/then/B1"] is (then == "Succeeded")

    def test_an_exit_leaves_the_rest_out(self) -> None:
        steps = [{"id": name, "tool_name": "exit"} for name in ("E0", "E1")]
        drawing = stood({"steps": steps}, {"E0": {**OK, "reason": "exit_fired"}}, phase="Succeeded")
        assert (states(drawing)["E1"], taken(drawing)) == ("Skipped", {"E0>E1": False})

    def test_a_question_of_an_element_is_not_counted_twice(self) -> None:
        drawing = stood(STEPS, {"E2": {"status": "Running"}, "E2/do.0": OK}, request("q", "E2/do.1", 1))
        assert drawing.shapes["E2/do"].items == {"0": "Succeeded", "1": "Waiting"}

    def test_a_question_of_a_called_plan_is_shown_at_its_step(self) -> None:
        drawing = stood(STEPS, {"E3": {"status": "Running"}}, request("q", "E3/inner", None))
        assert states(drawing)["E3"] == "Waiting"
        assert drawing.shapes["E3"].told == ["waits for somebody since 10m"]

    def test_what_takes_a_while_and_what_went_wrong(self) -> None:
        spec = graph(node("a", "s__t"), node("b", "run-loop"), node("c", "wait"))
        told = {
            "a": {"status": "Failed", "reason": "attempt_timeout", "message": "too\nslow", "attempt": 3},
            "b": {"status": "Running", "run": "child"},
            "c": {"status": "Waiting", "until": "2026-05-01T12:05:00Z"},
        }
        drawing = stood(spec, told)
        assert [drawing.shapes[name].told for name in "abc"] == [
            ["attempt_timeout: too slow", "attempt 3"],
            ["run: child"],
            ["until 2026-05-01T12:05:00Z (in 5m)"],
        ]

    def test_a_failure_that_the_plan_foresaw_is_no_success(self) -> None:
        handled = {**OK, "reason": "tool_unavailable", "message": "no tool"}
        spec = graph(node("a", "s__t"), node("b", "fan-out"), node("c", "s__t"), node("d"), edges="b>c")
        told = {"a": handled, "c": {"items": {"0": OK, "1": handled}}, "d": {**OK, "reason": "request_expired"}}
        drawing = stood(spec, told)
        assert [drawing.shapes[name].told for name in "acd"] == [
            ["Failed but handled", "tool_unavailable: no tool"],
            ["1 failed but handled, 1 succeeded"],
            [],
        ]
        assert [drawing.shapes[name].is_handled for name in "acd"] == [True, True, False]
        assert "! a<br/>" in to_mermaid(drawing).replace("#33;", "!")
        assert states(drawing)["a"] == "Succeeded"

    def test_for_programs(self) -> None:
        told = {
            "ask": {"status": "Waiting", "items": {"0": WAITING}},
            "f": {"status": "Running", "lanes": {"total": 1}},
        }
        data = to_data(stood(LANES, told, request("q", "ask", 0)))
        assert data["nodes"][:2] == [
            {"id": "f", "kind": "fan-out", "status": "Running", "lanes": {"total": 1}},
            {
                "id": "ask",
                "kind": "ask",
                "status": "Waiting",
                "within": "f",
                "items": {"0": "Waiting"},
                "waiting": [
                    {
                        "request": "q",
                        "item": 0,
                        "for": "somebody",
                        "since": "2026-05-01T11:50:00Z",
                        "expires": None,
                    }
                ],
            },
        ]
        assert data["edges"][0] == {"from": "f", "to": "ask", "label": "", "kind": "flow", "taken": True}
        plan = to_data(draw_plan(LANES, "p"))
        assert {item["status"] for item in plan["nodes"]} == {edge["taken"] for edge in plan["edges"]} == {None}


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=4),
    max_leaves=10,
)
KINDS = ["ask", "route", "fan-out", "collect", "sub-loop", "gate", "branch", "wait", "s__t", None, 3]
KEYS = [
    "params",
    "routes",
    "default",
    "review",
    "on_error",
    "on_result",
    "criteria",
    "body",
    "contract",
    "condition",
]
NODES = st.lists(
    st.fixed_dictionaries(
        {"id": st.sampled_from(["a", "b", "c", "d", 1, None]), "kind": st.sampled_from(KINDS)},
        optional=dict.fromkeys(KEYS, ANYTHING),
    )
    | ANYTHING,
    max_size=6,
)
EDGES = st.lists(
    st.fixed_dictionaries({"from": st.sampled_from("abcde"), "to": st.sampled_from("abcde")}) | ANYTHING,
    max_size=8,
)
STATES = ["Pending", "Ready", "Waiting", "Running", "Succeeded", "Failed", "Skipped", "Canceled"]
TOLD = st.fixed_dictionaries(
    {},
    optional={
        "status": st.sampled_from(STATES),
        "items": st.dictionaries(
            st.integers(0, 3).map(str), st.sampled_from(STATES).map(lambda state: {"status": state}), max_size=3
        ),
        "lanes": st.just({"total": 3, "succeeded": 1, "failed": 0, "canceled": 0}),
        "route": st.sampled_from("abcd"),
    },
)
PATHS = st.sampled_from(["a", "b", "c", "d", "a/b", "a.0/b", "a/0/b", "b.1/c", "a/do.1", "x/y"])


@given(NODES, EDGES, st.dictionaries(PATHS, TOLD), st.lists(st.tuples(PATHS, st.none() | st.integers(0, 3))),
       st.sampled_from(["Running", "Failed", "Succeeded"]))  # fmt: skip
def test_whatever_is_written_is_drawn(
    nodes: Any, edges: Any, told: dict[str, Any], asked: list[tuple[str, int | None]], phase: str
) -> None:
    for spec in ({"graph": {"nodes": nodes, "edges": edges}}, {"steps": nodes}, {"graph": nodes}):
        drawing = stood(spec, told, *(request("q", path, item) for path, item in asked), phase=phase)
        assert None not in states(drawing).values()
        assert phase == "Running" or None not in taken(drawing).values()
        assert to_mermaid(drawing).count(":::") == len(drawing.shapes)
        assert to_dot(drawing).count(" -> ") >= len(drawing.links)
        to_data(drawing)
