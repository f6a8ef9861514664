"""What templates and conditions may name, and which paths lead somewhere by what is declared."""

from __future__ import annotations

from typing import Any

import pytest

from support.graphs import ask, collect, fan_out, found, made, node, problems, tool

pytestmark = pytest.mark.unit

INPUTS = {
    "env": {"type": "string"},
    "ready": {"type": "boolean"},
    "count": {"type": "number"},
    "fast": {"type": "runtime"},
}
LIST_OF = {"type": "object", "properties": {"all": {"type": "array", "items": {"properties": {"name": {}}}}}}
OPEN = {"type": "object", "properties": {"a": {}}, "additionalProperties": True}
BY_REFERENCE = {
    "$ref": "#/$defs/whole",
    "$defs": {
        "whole": {"allOf": [{"properties": {"a": {"$ref": "#/$defs/part"}}}, {"properties": {"b": {}}}]},
        "part": {"type": "object", "properties": {"deep": {"type": "string"}}},
    },
}
EITHER = {"anyOf": [{"properties": {"a": {}}}, {"properties": {"b": {}}}]}
MAYBE = {"type": ["object", "null"], "properties": {"a": {"type": ["string", "null"]}}}

BEFORE: list[dict[str, Any]] = [
    ask("question"),
    node("shaped", "x__y", produces={"url": "string", "more": {"size": "number"}}),
    node("open", "x__y", produces=OPEN),
    node("referring", "x__y", produces=BY_REFERENCE),
    node("either", "x__y", produces=EITHER),
    node("maybe", "x__y", produces=MAYBE),
    node("unknown", "x__y"),
    node("agent", "run-agent", params={"agent": "a", "prompt": "p", "output_schema": {"score": "number"}}),
    node("child", "run-loop", params={"loop": "other"}),
    node("detached", "run-loop", params={"loop": "other", "mode": "detach"}),
    node("nap", "wait", params={"for": "1h"}),
    node("check", "gate", criteria=[{"id": "t", "type": "command", "check": "true"}]),
    node("loop", "sub-loop", body={"nodes": [made("inner", x=1)]}),
    node("given", "input", input_ref="env"),
    node("choice", "route", routes=[{"when": "inputs.ready", "to": "z"}], default="else_"),
    node("asked", "branch", condition="inputs.ready"),
]
MADE = made(
    "made",
    text={"template": "{{ .inputs.count }}"},
    same={"from": "nodes.shaped.output.more"},
    whole={"from": "nodes.shaped.output"},
    written={"value": {"deep": [1]}},
)
EDGES = " ".join(f"{item['id']}>z" for item in [*BEFORE, MADE]) + " shaped>made choice>else_"


def reading(expression: str) -> list[tuple[str, str]]:
    """What is wrong with a template of a node that comes after all the others."""
    nodes = [*BEFORE, MADE, tool("z", x=f"{{{{ {expression} }}}}"), tool("else_")]
    return [code for _, code in found(nodes, EDGES, inputs=INPUTS)]  # type: ignore[misc]


@pytest.mark.parametrize(
    "path",
    [
        ".inputs.env",
        ".inputs",
        ".inputs.fast.speed",
        ".generation",
        ".trigger",
        "json .nodes",
        ".nodes.question",
        ".nodes.question.status",
        ".nodes.question.output",
        ".nodes.question.output.env",
        ".nodes.shaped.output.more.size",
        ".nodes.open.output.other.thing",
        ".nodes.referring.output.a.deep",
        ".nodes.referring.output.b.any",
        ".nodes.either.output.b.c",
        ".nodes.maybe.output.a",
        ".nodes.unknown.output.any.thing",
        ".nodes.agent.output.score",
        ".nodes.child.output.any",
        ".nodes.detached.output.run",
        ".nodes.nap.output.until",
        ".nodes.check.output.outcome",
        ".nodes.check.output.criteria",
        ".nodes.loop.output.iterations",
        ".nodes.loop.output.output.inner.x",
        ".nodes.given.output",
        ".nodes.choice.output.matched_when",
        ".nodes.asked.output.taken",
        ".nodes.made.output.text",
        ".nodes.made.output.same.size",
        ".nodes.made.output.whole.url",
        ".nodes.made.output.written.deep",
        "range .nodes.made.output.written.deep }}{{ .any.thing }}{{ end",
    ],
)
def test_paths_that_lead_somewhere(path: str) -> None:
    assert reading(path) == []


@pytest.mark.parametrize(
    ("path", "code"),
    [
        (".inputs.nope", "unknown_reference"),
        (".input.env", "unknown_reference"),
        (".nodes.nope.output", "unknown_reference"),
        (".nodes.z.output", "unknown_reference"),
        (".nodes.else_.output", "unknown_reference"),
        (".nodes.inner.output", "unknown_reference"),
        (".item", "item_outside_fanout"),
        (".index", "item_outside_fanout"),
        (".inputs.env.x", "unresolvable_path"),
        (".inputs.fast.colour", "unresolvable_path"),
        (".trigger.x", "unresolvable_path"),
        (".generation.x", "unresolvable_path"),
        (".nodes.question.answer", "unresolvable_path"),
        (".nodes.question.items", "unresolvable_path"),
        (".nodes.question.status.x", "unresolvable_path"),
        (".nodes.question.output.enviroment", "unresolvable_path"),
        (".nodes.shaped.output.more.weight", "unresolvable_path"),
        (".nodes.shaped.output.url.x", "unresolvable_path"),
        (".nodes.referring.output.c", "unresolvable_path"),
        (".nodes.referring.output.a.nope", "unresolvable_path"),
        (".nodes.maybe.output.b", "unresolvable_path"),
        (".nodes.maybe.output.a.x", "unresolvable_path"),
        (".nodes.agent.output.nope", "unresolvable_path"),
        (".nodes.detached.output.id", "unresolvable_path"),
        (".nodes.nap.output.for", "unresolvable_path"),
        (".nodes.check.output.criteria.t", "unresolvable_path"),
        (".nodes.loop.output.inner", "unresolvable_path"),
        (".nodes.loop.output.output.inner.y", "unresolvable_path"),
        (".nodes.given.output.x", "unresolvable_path"),
        (".nodes.choice.output.when", "unresolvable_path"),
        (".nodes.asked.output.yes", "unresolvable_path"),
        (".nodes.made.output.nope", "unresolvable_path"),
        (".nodes.made.output.text.x", "unresolvable_path"),
        (".nodes.made.output.same.url", "unresolvable_path"),
        (".nodes.made.output.written.deep.x", "unresolvable_path"),
        ("with .nodes.made }}{{ .output.nope }}{{ end", "unresolvable_path"),
    ],
)
def test_paths_that_lead_nowhere(path: str, code: str) -> None:
    assert reading(path) == [code]


def test_a_problem_is_told_at_the_string_that_has_it() -> None:
    nodes = [ask("a"), tool("b", x=[{"y": "{{ .nodes.a.output.nope }}"}])]
    [problem] = problems(nodes, "a>b")
    assert problem.path == "graph.nodes[1].params.x[0].y"
    assert problem.message == "`nodes.a.output.nope` leads nowhere: `nodes.a.output` has no `nope`; there is env"


def test_inputs_are_open_where_none_are_declared() -> None:
    assert found([tool("a", x="{{ .inputs.anything }}")]) == []
    assert found([tool("a", x="{{ .inputs.x }}")], inputs={}) == [("nodes[0].params.x", "unknown_reference")]
    schema = {"type": "object", "properties": {"a": {}}, "additionalProperties": True}
    assert found([tool("a", x="{{ .inputs.x }}")], inputSchema=schema) == []


LANES = [
    tool("o"),
    fan_out("f", bind_as="service", index_as="place", collection="{{ .inputs.all }}"),
    tool("a"),
    tool("b"),
    tool("side"),
    collect("j"),
    tool("z"),
]
LANE_EDGES = "o>f>a>b>j>z a>side"
SERVICES = {"inputSchema": LIST_OF}


def in_lanes(where: str, expression: str, **changes: Any) -> list[str]:
    """What is wrong where one node of the lanes, or around them, has a template."""
    nodes = [dict(item) for item in LANES]
    for item in nodes:
        if item["id"] == where:
            item["params"] = {"x": f"{{{{ {expression} }}}}"}
        if item["id"] == "f":
            item.update(changes)
    return [code for _, code in found(nodes, LANE_EDGES, **SERVICES)]


@pytest.mark.parametrize(
    ("where", "path"),
    [
        *(
            ("b", path)
            for path in (".item", ".index", ".service.name", ".place", ".nodes.a.output", ".nodes.o.output")
        ),
        *(("z", path) for path in (".nodes.b.output", ".nodes.b.items", ".nodes.b.status", ".nodes.side.items")),
        *(("z", path) for path in (".nodes.j.output.coverage_rate", ".nodes.f.output.count", ".nodes.o.output")),
    ],
)
def test_what_lanes_know(where: str, path: str) -> None:
    assert in_lanes(where, path) == []


@pytest.mark.parametrize(
    ("where", "path", "code"),
    [
        ("b", ".nodes.a.items", "unresolvable_path"),
        ("b", ".nodes.f.output", "unknown_reference"),
        ("b", ".nodes.j.output", "unknown_reference"),
        ("b", ".nodes.side.output", "unknown_reference"),
        ("b", ".service.nmae", "unresolvable_path"),
        ("b", ".index.x", "unresolvable_path"),
        ("o", ".nodes.a.output", "unknown_reference"),
        ("o", ".item", "item_outside_fanout"),
        ("z", ".service", "item_outside_fanout"),
        ("z", ".place", "item_outside_fanout"),
        ("z", ".nodes.b.items.output", "unresolvable_path"),
        ("z", ".nodes.j.output.items", "unresolvable_path"),
    ],
)
def test_what_lanes_do_not_know(where: str, path: str, code: str) -> None:
    assert in_lanes(where, path) == [code]


def test_a_batch_is_a_list_but_a_filter_sees_every_element() -> None:
    assert in_lanes("b", ".service.name", batch_size=2) == ["unresolvable_path"]
    assert in_lanes("b", ".service", batch_size=2, filter="service.name != ''") == []
    assert in_lanes("b", ".service", filter="place > 0 && item.name != '' && index > 0") == []
    assert in_lanes("b", ".service", filter="service.nmae != ''") == ["unresolvable_path"]


def test_the_winner_of_a_race_is_what_the_collect_gives_out() -> None:
    nodes = [fan_out("f", strategy="race"), made("a", x=1), collect("j"), tool("z", p="{{ .nodes.j.output.x }}")]
    assert found(nodes, "f>a>j>z") == []
    nodes[3] = tool("z", p="{{ .nodes.j.output.total }}")
    assert found(nodes, "f>a>j>z") == [("nodes[3].params.p", "unresolvable_path")]


def test_the_output_of_the_plan_sees_everything() -> None:
    nodes = [fan_out("f"), made("a", x=1), tool("z")]
    assert found(nodes, "f>a", output={"x": "{{ .nodes.a.items }}", "y": "{{ .nodes.z.output }}"}) == []
    assert found(nodes, "f>a", output={"x": ["{{ .item }}"]}) == [("output.x[0]", "item_outside_fanout")]


def test_a_body_sees_what_its_sub_loop_sees() -> None:
    inner = {"nodes": [tool("x", a="{{ .nodes.a.output }}", b="{{ .item }}", c="{{ .nodes.later.output }}")]}
    nodes = [fan_out("f"), tool("a"), node("s", "sub-loop", body=inner), tool("later")]
    assert found(nodes, "f>a>s>later") == [("nodes[2].body.nodes[0].params.c", "unknown_reference")]


def test_stop_when_sees_the_nodes_of_the_body() -> None:
    body = {"nodes": [made("x", done={"value": True})]}
    right = node("s", "sub-loop", body=body, contract={"stop_when": "nodes.x.output.done"})
    wrong = node("s", "sub-loop", body=body, contract={"stop_when": "nodes.x.output.dnoe || nodes.y.output"})
    assert found([right]) == []
    assert found([wrong]) == [
        ("nodes[0].contract.stop_when", "unresolvable_path"),
        ("nodes[0].contract.stop_when", "unknown_reference"),
    ]


def test_where_the_structure_is_wrong_references_are_not_held_against_it() -> None:
    nodes = [tool("a", x="{{ .nodes.b.output }}"), tool("b", x="{{ .item }}")]
    assert found(nodes, "a>b>a") == [("edges", "cycle")]


@pytest.mark.parametrize(
    "condition",
    [
        "inputs.env == 'x'",
        "inputs.env != 'x' && inputs.env in ['x', 'y']",
        "inputs.ready",
        "inputs['env'] == 'x'",
        "inputs . env == 'x'",
        "inputs.count == 3 || inputs.count == 3.5",
        "has(inputs.nope)",
        "has(inputs.env) && inputs.env.startsWith('x')",
        "nodes.question.output == null",
        "nodes.question.output != null && nodes.question.output.env == 'x'",
        "nodes.maybe.output.a == null",
        "nodes.made.output.whole == null",
        "dyn(inputs.env) == 3",
        "nodes.made.output.text.size() > 2",
        "nodes.made.output.written.deep.exists(x, x == 1)",
        "nodes.unknown.output.n == 3",
        "inputs.env\n== 'x'",
    ],
)
def test_conditions_that_fit_what_is_declared(condition: str) -> None:
    nodes = [*BEFORE, MADE, node("z", "branch", condition=condition), tool("else_")]
    assert found(nodes, EDGES, inputs=INPUTS) == []


@pytest.mark.parametrize(
    ("condition", "code", "message"),
    [
        ("inputs.env == 3", "condition_invalid", "column 12: found no matching overload for '_==_'"),
        ("inputs['env'] == 3", "condition_invalid", "column 15: "),
        ("true &&\n inputs.env > 3", "condition_invalid", "line 2, column 13: "),
        ("inputs.ready == 'yes'", "condition_invalid", "(bool, string)"),
        ("inputs.env == null", "condition_invalid", "(string, null_type)"),
        ("inputs.env", "condition_not_bool", "of type string"),
        ("nodes.made.output.written.deep", "condition_not_bool", "of type list"),
        ("inputs.fast == 'x'", "condition_invalid", "(map(string, dyn), string)"),
        ("nodes.question.output.env == 3", "condition_invalid", "(string, int)"),
        ("nodes.made.output.text == 3", "condition_invalid", "(string, int)"),
        ("nodes.question.status == 3", "condition_invalid", "(string, int)"),
        ("nodes.asked.output.taken == 'yes'", "condition_invalid", "(bool, string)"),
    ],
)
def test_conditions_that_do_not(condition: str, code: str, message: str) -> None:
    nodes = [*BEFORE, MADE, node("z", "branch", condition=condition), tool("else_")]
    [problem] = problems(nodes, EDGES, inputs=INPUTS)
    assert (problem.path, problem.code) == (f"graph.nodes[{len(BEFORE) + 1}].condition", code)
    assert message in problem.message
