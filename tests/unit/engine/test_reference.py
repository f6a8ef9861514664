"""The engine and a naive reading of the graph dialect agree, whatever the graph and whatever happens in it."""

import json
from datetime import UTC, datetime

import pytest
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st

from compozy.engine.advance import advance
from compozy.engine.effects import Call, CancelCall, CancelRequest, OpenRequest
from compozy.engine.events import (
    CallFailed,
    CallFinished,
    RequestAnswered,
    RequestCanceled,
    RequestUnanswered,
    RunCanceled,
)
from compozy.engine.snapshot import from_status, to_status
from compozy.engine.state import RunState
from compozy.language.compile import compile_plan
from support.graph_strategies import SMALL, document, drawn_graphs
from support.reference import NEVER, Shown, World

pytestmark = pytest.mark.unit
NOW = datetime(2030, 1, 2, 3, 4, 5, tzinfo=UTC)
MOST_EVENTS = 30


class Run:
    """A run of the engine, with what it has open as its effects tell."""

    def __init__(self, plan, inputs):
        self.plan, self.begun = plan, RunState(inputs=inputs, attended=True)
        self.state, self.requests, self.calls = self.begun, {}, set()
        self.take([])

    def take(self, events):
        for event in events:
            self.requests.pop(getattr(event, "node", None), None)
            self.calls.discard(getattr(event, "node", None))
        result = advance(self.plan, self.state, events, NOW)
        self.state = result.state
        for effect in result.effects:
            match effect:
                case OpenRequest():
                    assert effect.node not in self.requests
                    self.requests[effect.node] = effect.item
                case CancelRequest():
                    del self.requests[effect.node]
                case Call():
                    assert effect.node not in self.calls
                    self.calls.add(effect.node)
                case CancelCall():
                    self.calls.remove(effect.node)
        return result.effects

    def restart(self):
        """Go on with what a restarted operator reads. What was open is open again, and nothing else happens."""
        status = json.loads(json.dumps(to_status(self.plan, self.state)))
        self.state, self.requests, self.calls = from_status(self.plan, self.begun, status), {}, set()
        self.take([])


def happening(world):
    """What can happen next: to a question or a call that is open, or to the whole run."""
    options = []
    for path in sorted(world.open("ask")):
        reasons = st.sampled_from(["declined", "unavailable", "expired"])
        options += [st.builds(lambda n, path=path: RequestAnswered(path, "respond", {"n": n}), SMALL)] * 4
        options += [st.builds(RequestUnanswered, st.just(path), reasons)] * 2
        options += [st.just(RequestCanceled(path))] * (len(world.events) > 2)
    for path in sorted(world.open("tool")):
        results = st.builds(lambda n: {"n": n, "list": list(range(n))}, SMALL)
        options += [st.builds(CallFinished, st.just(path), results)] * 4
        options += [st.just(CallFailed(path, "probe_failed", "it does not answer"))] * 2
    options += [st.just(RunCanceled())] * (len(world.events) > 4)
    return st.sampled_from(options).flatmap(lambda option: option)


def shown(node, cell):
    """A cell as the reference shows it. A fan-out keeps more than it gives out: what its collect is to tell."""
    output = cell.output if cell.status == "Succeeded" else None
    if node["kind"] == "fan-out" and output is not None:
        output = {key: output[key] for key in ("count", "indexes")}
    return Shown(cell.status, output, cell.route)


def assert_agreement(world, run):
    """Every cell is one that the reference holds possible, and what is open is what it holds open."""
    cells, expected, lanes = dict(run.state.cells), world.expected(), world.lane_results()
    differences = {}
    for path in {*cells, *expected}:
        cell, is_lane = cells.get(path), path not in expected
        if is_lane and cell.status == "Canceled":
            continue
        node = world.nodes[path.rpartition("/")[2].partition(".")[0]]
        seen = None if cell is None else shown(node, cell)
        possible = lanes.get(path, [None]) if is_lane else expected[path]
        if seen not in possible:
            differences[path] = {"engine": seen, "reference": possible}
    assert not differences
    assert {path for path, ways in lanes.items() if None not in ways} <= cells.keys()
    end = world.end()
    assert (run.state.phase, run.state.reason) in end.ways
    assert run.requests.keys() == world.open("ask")
    assert run.calls == world.open("tool")
    items = {path: int(path.split("/")[-2].rpartition(".")[2]) if "/" in path else None for path in run.requests}
    assert run.requests == items


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
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
