"""Runs are taken for the same exactly where they go on alike."""

from collections import deque

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from compozy.engine.advance import advance
from compozy.engine.effects import Call, OpenRequest
from compozy.engine.events import CallFailed, CallFinished, RequestAnswered, RequestUnanswered
from compozy.engine.state import RunState
from compozy.engine.times import parse_timestamp
from compozy.language.document import PlanDocument
from compozy.language.problems import PlanInvalid
from compozy.plantest.answers import read_answers, read_tools
from compozy.plantest.explore import explore
from compozy.plantest.exploring.merging import Marks
from compozy.plantest.exploring.options import Options
from compozy.plantest.exploring.unknown import Unknown
from compozy.plantest.exploring.values import Hints
from compozy.plantest.model import Case, Expectation, Stub, Stubs
from compozy.plantest.reader import Reader
from compozy.plantest.runner import run_case
from compozy.plantest.script import BEGINNING
from support.graph_strategies import document, drawn_graphs
from support.graphs import ask, collect, compile_plan, fan_out, graph, made, node, tool

pytestmark = pytest.mark.unit

PROBES = {
    "ext__probe": Stubs(
        (Stub({"n": 2, "list": [1, 2]}), Stub({"n": 0, "list": [1]}), Stub(error="no", code="tool_failed")),
        in_turn=True,
    )
}
YES_OR_NO = {"type": "object", "required": ["ok"], "properties": {"ok": {"type": "boolean"}}}


def replayed(spec, situation):
    """The state of a run to which what is told of a situation happens as a case."""
    told, reader = {"inputs": {}, "attended": True, **situation.as_case()}, Reader()
    case = Case(
        name="", file="", line=1, document=PlanDocument(None, None, spec), refused=(), source=None,
        trusts_unknown=True, expect=Expectation(), inputs=told["inputs"], attended=told["attended"],
        answers=read_answers(told.get("answers", {}), "", reader),
        tools=read_tools(told.get("tools", {}), "", reader),
    )  # fmt: skip
    assert not reader.problems
    return run_case(case).state


def answer(path, value):
    return RequestAnswered(path, "respond", value)


def marks_of(spec, *runs, inputs=({}, {})):
    """The marks of runs of one plan, each with what has happened to it."""
    plan = compile_plan(spec)
    marks = Marks(plan, spec)
    found = []
    for given_inputs, events in zip(inputs, runs, strict=True):
        now, state = BEGINNING, RunState(inputs=given_inputs, attended=True)
        for event in (None, *events):
            if event == "time":
                now = parse_timestamp(min(state.timers.values()))
            state = advance(plan, state, [] if event in (None, "time") else [event], now).state
        assert not state.is_final
        found.append(marks.of(state, sorted(state.requests), now, ()))
    return found


def chain(*nodes, **more):
    return graph(list(nodes), ">".join(each["id"] for each in nodes), **more)


LOOKED_AT = [made("use", v={"from": "nodes.q.output.env"}), ask("last")]
LANES = graph(
    [fan_out("each"), ask("q"), collect("all"), ask("last"), made("z", t={"from": "nodes.all.output.failed"})],
    "each>q>all>last>z",
)
LANES_LOOKED_AT = graph(
    [fan_out("each"), ask("q"), collect("all"), ask("last"), made("z", t={"from": "nodes.q.items"})],
    "each>q>all>last>z",
)
JOINED = graph(
    [
        ask("first"), ask("b"),
        node("w", "branch", condition="nodes.first.output.env == 'x'"), made("z", a=1),
    ],
    "first>w>z b>z",
)  # fmt: skip
GATE = chain(
    node("g", "gate", criteria=[{"id": "me", "type": "human", "prompt": "?"}], on_result={"fail": "revise"})
)
RETRIED = chain(tool("t") | {"retry": {}}, ask("last"))
LOOP = chain(
    node(
        "sub",
        "sub-loop",
        body={"nodes": [ask("q", expect=YES_OR_NO)], "edges": []},
        contract={"stop_when": "nodes.q.output.ok"},
    )
)
X, Y = {"env": "x"}, {"env": "y"}


@pytest.mark.parametrize(
    ("spec", "one", "other"),
    [
        pytest.param(chain(ask("q"), *LOOKED_AT), [answer("q", X)], [answer("q", Y)], id="nobody looks any more"),
        pytest.param(
            LANES,
            [answer("each.0/q", X), answer("each.1/q", Y)],
            [answer("each.0/q", Y), answer("each.1/q", X)],
            id="lanes have ended at whose results nobody looks",
        ),
        pytest.param(
            RETRIED,
            [CallFinished("t", 1)],
            [CallFailed("t", "transport", ""), "time", CallFinished("t", 1)],
            id="time has passed",
        ),
    ],
)
def test_runs_that_go_on_alike_are_the_same(spec, one, other):
    first, second = marks_of(spec, one, other)
    assert first == second


@pytest.mark.parametrize(
    ("spec", "one", "other"),
    [
        pytest.param(chain(ask("q"), ask("last"), made("z", v={"from": "nodes.q.output.env"})),
                     [answer("q", X)], [answer("q", Y)], id="an answer that is looked at later"),
        pytest.param(chain(ask("q"), ask("last"), output="{{ .nodes.q.output.env }}"),
                     [answer("q", X)], [answer("q", Y)], id="an answer in the output"),
        pytest.param(LANES_LOOKED_AT, [answer("each.0/q", X)], [answer("each.0/q", Y)], id="an answer in a lane"),
        pytest.param(LANES, [answer("each.0/q", X)], [RequestUnanswered("each.0/q", "declined")], id="a failure"),
        pytest.param(LANES, [answer("each.0/q", X)], [answer("each.1/q", X)], id="another lane is open"),
        pytest.param(JOINED, [answer("first", X)], [answer("first", Y)], id="a branch before a join"),
        pytest.param(GATE, [], [RequestAnswered("g/me", "reject", None)], id="another generation"),
        pytest.param(RETRIED, [], [CallFailed("t", "transport", "")], id="a pause"),
        pytest.param(RETRIED, [], [CallFailed("t", "transport", ""), "time"], id="another attempt"),
        pytest.param(LOOP, [], [answer("sub/0/q", {"ok": False})], id="another iteration"),
        pytest.param(chain(tool("t"), ask("last"), made("z", v={"from": "nodes.t.output"})),
                     [CallFinished("t", {})], [CallFinished("t", Unknown())], id="what is empty is known"),
    ],
)  # fmt: skip
def test_runs_that_may_go_on_differently_are_told_apart(spec, one, other):
    first, second = marks_of(spec, one, other)
    assert first != second


@pytest.mark.parametrize(
    ("nodes", "same"),
    [
        ([made("use", v={"from": "inputs.a"}), ask("last")], True),
        ([ask("last"), made("use", v={"from": "inputs.a"})], False),
        ([ask("last"), made("use", v={"from": "inputs"})], False),
        ([ask("last"), made("use", v={"from": "inputs.b"})], True),
    ],
)
def test_inputs_count_while_they_can_be_looked_at(nodes, same):
    spec = chain(*nodes, inputs={name: {"type": "string"} for name in ("a", "b")})
    first, second = marks_of(spec, [], [], inputs=({"a": "1", "b": ""}, {"a": "2", "b": ""}))
    assert (first == second) == same


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(drawn_graphs(), st.data())
def test_whatever_is_taken_for_the_same_goes_on_alike(drawn, data):
    spec = document(drawn.graph)
    if data.draw(st.booleans()):
        spec["output"] = (
            f"{{{{ .nodes.{data.draw(st.sampled_from(list(drawn.graph['nodes'])))}.output | toJson }}}}"
        )
    try:
        plan = compile_plan(spec)
    except PlanInvalid:
        return
    marks, options = Marks(plan, spec), Options(plan, Hints((), (1, 3)), PROBES)

    def followed(state, waiting, option):
        result = advance(plan, state, [option.event], BEGINNING)
        opened = [effect for effect in result.effects if isinstance(effect, Call | OpenRequest)]
        state = result.state
        still = [effect for effect in (*waiting, *opened) if {effect.node} & {*state.calls, *state.requests}]
        return state, still

    def seen(state, waiting):
        if state.is_final:
            return state.phase, state.reason, state.output
        return marks.of(state, [effect.node for effect in waiting], BEGINNING, ())

    begun = advance(plan, RunState(inputs=drawn.inputs, attended=True), [], BEGINNING)
    known, left = {}, deque([(begun.state, list(begun.effects))])
    for _ in range(40):
        if not left:
            break
        state, waiting = left.popleft()
        if state.is_final:
            continue
        before = known.setdefault(seen(state, waiting), (state, waiting))
        for option in options.of(waiting[0])[:6]:
            after = followed(state, waiting, option)
            if before[0] is state:
                left.append(after)
            else:
                assert seen(*after) == seen(*followed(*before, option))


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(drawn_graphs())
def test_every_ending_is_come_to_again_by_the_case_that_is_given_for_it(drawn):
    spec = document(drawn.graph)
    for ending in explore(compile_plan(spec), spec, drawn.inputs, PROBES, max_runs=40).endings:
        state = replayed(spec, ending.situation)
        assert (state.phase, state.reason or "") == (ending.phase, ending.reason)
