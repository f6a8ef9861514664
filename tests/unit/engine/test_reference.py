"""The engine and a naive reading of the graph dialect agree, whatever the graph and whatever happens in it."""

import pytest
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st

from compozy.engine.events import CallFailed, CallFinished, RequestAnswered, RequestUnanswered
from compozy.language.compile import compile_plan
from support.agreement import Run, assert_agreement, happening
from support.graph_strategies import document, drawn_graphs
from support.reference import NEVER, Expression, World

pytestmark = pytest.mark.unit
MOST_EVENTS = 30


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_the_engine_does_what_the_reference_says(data):
    graph, inputs = data.draw(drawn_graphs(), label="graph")
    plan = compile_plan(document(graph, backwards=data.draw(st.booleans())))
    run, restarted, events = Run(plan, inputs), Run(plan, inputs), []
    while True:
        world = World(graph, inputs, events)
        assert_agreement(world, run)
        assert_agreement(world, restarted)
        if world.end().at < NEVER or len(events) == MOST_EVENTS:
            break
        event = data.draw(happening(world))
        note(f"event {len(events) + 1}: {event}")
        events.append(event)
        run.take([event])
        before = run.state
        assert run.take([event]) == ()
        assert run.state == before
        if data.draw(st.booleans()):
            restarted.restart()
        restarted.take([event])


# Plans that drawing seldom comes upon, in few words.

INPUTS = {"flag": True, "count": 1, "items": [1, 2, 3]}
BROKEN = Expression("inputs.count.n > 1", lambda scope: scope.inputs["count"]["n"] > 1)
NOT_THE_FIRST = Expression("index > 0", lambda scope: scope.index > 0)
FLAG = Expression("inputs.flag", lambda scope: scope.inputs["flag"])


def ask(within=None, expires_route=None, **more):
    return {"kind": "ask", "within": within, "expires_route": expires_route, "default": None, **more}


def tool(within=None, **more):
    return {"kind": "tool", "within": within, **more}


def transform(within=None, **values):
    return {"kind": "transform", "within": within, "values": {"n": 1, **values}}


def fan_out(within=None, strategy=("wait_all", None), **more):
    items = Expression("{{ .inputs.items }}", lambda scope: scope.inputs["items"])
    given = {"collection": items, "filter": None, "batch_size": 1, "max_parallel": 3, "max_fan_out": 4, **more}
    return {"kind": "fan-out", "within": within, "strategy": strategy, **given}


def collect(of, within=None, **more):
    return {"kind": "collect", "within": within, "of": of, **more}


def seen(name):
    return Expression(f"nodes.{name}.output", lambda scope: scope.output(name))


def items_of(name, status):
    text = f'nodes.{name}.items.exists(i, i.status == "{status}")'
    return Expression(text, lambda scope: any(item["status"] == status for item in scope.items(name)))


def answered(path):
    return RequestAnswered(path, "respond", {"n": 1})


def expired(path):
    return RequestUnanswered(path, "expired")


def finished(path):
    return CallFinished(path, {"n": 1})


def failed(path):
    return CallFailed(path, "probe_failed", "it does not answer")


CASES = {
    "a way for want of an answer, beside one into a body": (
        {"a": ask(expires_route="t"), "t": ask(), "f": fan_out(), "b": ask("f"), "c": collect("f")},
        "a>t a>b f>b b>c",
        [answered("a")],
    ),
    "a way for want of an answer, beside one into a body two levels inside": (
        {
            "a": ask(expires_route="t"),
            "t": ask(),
            "f": fan_out(),
            "g": fan_out("f"),
            "b": ask("g"),
            "c": collect("g", "f"),
            "d": collect("f"),
        },
        "a>t a>b f>g g>b b>c c>d",
        [answered("a")],
    ),
    "a way for want of an answer that leads into a body, and is the only one": (
        {"a": ask(expires_route="b"), "f": fan_out(), "b": ask("f"), "c": collect("f")},
        "a>b f>b b>c",
        [answered("a")],
    ),
    "a way for want of an answer, beside one to the collect": (
        {"f": fan_out(), "b": ask("f", expires_route="t"), "t": ask("f"), "c": collect("f")},
        "f>b b>t b>c t>c",
        [answered("f.0/b"), expired("f.1/b")],
    ),
    "a forbidden edge into a body": (
        {"a": ask(expires_route="t"), "t": transform(), "f": fan_out(), "b": ask("f"), "c": collect("f")},
        "a>t a>b f>b b>c",
        [expired("a")],
    ),
    "a forbidden edge into a body two levels inside": (
        {
            "a": ask(expires_route="t"),
            "t": transform(),
            "f": fan_out(),
            "g": fan_out("f"),
            "b": ask("g"),
            "c": collect("g", "f"),
            "d": collect("f"),
        },
        "a>t a>b f>g g>b b>c c>d",
        [expired("a")],
    ),
    "a forbidden edge into a body, beside one that is open": (
        {
            "a": ask(expires_route="t"),
            "t": transform(),
            "f": fan_out(),
            "x": ask("f"),
            "b": ask("f"),
            "c": collect("f"),
        },
        "a>t a>b f>x x>b b>c",
        [expired("a"), answered("f.1/x")],
    ),
    "a branch with a way for its own failure, which does not fail": (
        {
            "r": {"kind": "branch", "within": None, "condition": FLAG, "exits": False, "error_route": "t"},
            "t": ask(),
            "u": ask(),
        },
        "r>t r>u",
        [],
    ),
    "a branch that fails, and forbids the other way even where it joins": (
        {
            "r": {"kind": "branch", "within": None, "condition": BROKEN, "exits": False, "error_route": "t"},
            "t": ask(),
            "u": ask(),
            "k": transform(),
        },
        "r>t r>u k>u",
        [],
    ),
    "a route that fails, and forbids the other ways even where they join": (
        {
            "r": {"kind": "route", "within": None, "routes": [(BROKEN, "u")], "default": "v", "error_route": "t"},
            "t": ask(),
            "u": ask(),
            "v": ask(),
            "k": transform(),
        },
        "r>t r>u r>v k>u k>v",
        [],
    ),
    "the first failure decides, and what has not begun has no cell": (
        {
            "f": fan_out(strategy=("fail_fast", None), max_parallel=2),
            "b": tool("f"),
            "c": collect("f", allow_fail=True),
            "t": transform(of_item_0=seen("b")),
            "r": {"kind": "branch", "within": None, "condition": items_of("b", "canceled"), "exits": False},
            "u": ask(),
        },
        "f>b b>c c>t c>r r>u",
        [failed("f.1/b")],
    ),
    "lanes that were never begun read as canceled": (
        {
            "f": fan_out(strategy=("race", None), max_parallel=1),
            "b": tool("f"),
            "c": collect("f"),
            "r": {"kind": "branch", "within": None, "condition": items_of("b", "canceled"), "exits": False},
            "u": ask(),
        },
        "f>b b>c c>r r>u",
        [finished("f.0/b")],
    ),
    "without an item 0 the output of a body is null": (
        {
            "f": fan_out(filter=NOT_THE_FIRST),
            "b": tool("f"),
            "c": collect("f"),
            "t": transform(of_item_0=seen("b")),
        },
        "f>b b>c c>t",
        [finished("f.1/b"), finished("f.2/b")],
    ),
    "the rest of a lane that fails is canceled": (
        {"f": fan_out(), "a": ask("f"), "b": tool("f"), "c": collect("f")},
        "f>a f>b a>c b>c",
        [failed("f.1/b"), answered("f.0/a"), finished("f.0/b"), finished("f.2/b"), expired("f.2/a")],
    ),
}


@pytest.mark.parametrize("restarts", [False, True])
@pytest.mark.parametrize(("nodes", "edges", "events"), CASES.values(), ids=CASES)
def test_what_is_seldom_drawn(nodes, edges, events, restarts):
    graph = {"nodes": nodes, "edges": [tuple(edge.split(">")) for edge in edges.split()]}
    run = Run(compile_plan(document(graph)), INPUTS)
    for count in range(len(events) + 1):
        assert_agreement(World(graph, INPUTS, events[:count]), run)
        if restarts and not run.state.is_final:
            run.restart()
            assert_agreement(World(graph, INPUTS, events[:count]), run)
        run.take(events[count : count + 1])
