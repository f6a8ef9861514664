"""What a run does next, by example."""

from datetime import UTC, datetime

import pytest

from compozy.engine.advance import advance
from compozy.engine.effects import CancelRequest, OpenRequest
from compozy.engine.events import CallFinished, RequestAnswered, RequestCanceled, RequestUnanswered, RunCanceled
from compozy.engine.snapshot import from_status, to_status
from compozy.engine.state import RunState
from compozy.language.compile import compile_plan
from support import plans

pytestmark = pytest.mark.unit
NOW = datetime(2030, 1, 2, 3, 4, 5, tzinfo=UTC)


def begin(text, inputs, events=(), attended=True):
    plan = compile_plan(plans.spec(text))
    begun = RunState(inputs=plan.resolve_inputs(inputs), attended=attended)
    return plan, advance(plan, begun, events, NOW)


def play(text, inputs, *events, attended=True):
    plan, first = begin(text, inputs, attended=attended)
    return advance(plan, first.state, events, NOW).state


def statuses(state):
    return {node_id: cell.status for node_id, cell in state.cells.items()}


def test_a_question_opens_with_its_prompt_rendered():
    _, first = begin(plans.STEPS, plans.STEPS_INPUTS)
    [effect] = first.effects
    assert isinstance(effect, OpenRequest)
    assert (effect.node, effect.prompt) == ("E0", "Which channel for 1.4.0?")
    assert statuses(first.state) == {"E0": "Waiting"}
    assert first.state.phase == "Running"


def test_an_answer_is_bound_to_the_step_and_the_run_finishes():
    state = play(plans.STEPS, plans.STEPS_INPUTS, RequestAnswered("E0", "respond", plans.STEPS_ANSWER))
    assert state.phase == "Succeeded"
    assert state.cells["E0"].output == {"answer": plans.STEPS_ANSWER, "answered": True}
    assert state.output == {"channel": "nightly"}
    assert state.exit is None
    assert state.steps_executed == 2


@pytest.mark.parametrize(
    ("event", "reason"),
    [("declined", "declined"), ("unavailable", "unavailable"), ("expired", "unavailable")],
)
def test_without_an_answer_the_default_is_used_and_the_gate_fires(event, reason):
    state = play(plans.STEPS, plans.STEPS_INPUTS, RequestUnanswered("E0", event))
    assert state.phase == "Succeeded"
    assert state.cells["E0"].output == {
        "answer": {"channel": "beta", "confirm": False},
        "answered": False,
        "reason": reason,
    }
    assert (state.exit.status, state.exit.step, state.exit.message) == ("success", "E1", "nobody answered")
    assert (state.cells["E1"].status, state.cells["E1"].reason) == ("Succeeded", "exit_fired")
    assert state.steps_executed == 1


def test_unattended_nothing_is_opened_and_the_ask_is_unavailable():
    _, first = begin(plans.STEPS, plans.STEPS_INPUTS, attended=False)
    assert first.effects == ()
    assert first.state.phase == "Succeeded"
    assert first.state.cells["E0"].output["reason"] == "unavailable"


@pytest.mark.parametrize("event", ["declined", "unavailable", "expired"])
def test_fail_is_the_default_when_nobody_answers(event):
    state = play(plans.STEPS_FAIL, plans.STEPS_INPUTS, RequestUnanswered("E0", event))
    assert state.phase == "Failed"
    assert state.reason == ("request_declined" if event == "declined" else "request_unavailable")
    assert "plan failed at step E0 (ask)" in state.message
    assert "Which channel for 1.4.0?" in state.message
    assert statuses(state) == {"E0": "Failed", "E1": "Skipped"}


def test_an_answer_that_does_not_conform_fails_the_step_and_never_falls_back():
    answer = {"channel": "loud", "confirm": True}
    state = play(plans.STEPS, plans.STEPS_INPUTS, RequestAnswered("E0", "respond", answer))
    assert (state.phase, state.reason) == ("Failed", "request_validation_failed")
    assert "channel" in state.message


def test_a_rendered_default_that_does_not_conform_fails_the_step():
    state = play(plans.STEPS, {"version": "1", "fallback": "loud"}, RequestUnanswered("E0", "declined"))
    assert (state.phase, state.reason) == ("Failed", "default_invalid")


def test_a_default_is_rendered_only_when_it_is_used():
    state = play(plans.STEPS, {"version": "1"}, RequestAnswered("E0", "respond", plans.STEPS_ANSWER))
    assert state.phase == "Succeeded"


def test_graph_answer_takes_the_route_and_skips_the_other():
    state = play(plans.GRAPH, plans.GRAPH_INPUTS, RequestAnswered("choose", "respond", plans.GRAPH_ANSWER))
    assert state.phase == "Succeeded"
    assert state.cells["choose"].output == plans.GRAPH_ANSWER
    assert state.cells["deploy"].output == {"environment": "staging"}
    assert statuses(state)["too_late"] == "Skipped"
    assert state.cells["decide"].output["matched_when"] == "nodes.choose.output != null"


@pytest.mark.parametrize("reason", ["expired", "declined", "unavailable"])
def test_graph_without_an_answer_follows_the_expiry_route(reason):
    state = play(plans.GRAPH, plans.GRAPH_INPUTS, RequestUnanswered("choose", reason))
    assert state.phase == "Succeeded"
    assert state.cells["choose"].output is None
    assert state.cells["too_late"].output == {"expired": True}
    assert statuses(state)["deploy"] == "Skipped"


def test_graph_unattended_opens_nothing_and_follows_the_expiry_route():
    _, first = begin(plans.GRAPH, plans.GRAPH_INPUTS, attended=False)
    assert first.effects == ()
    assert first.state.cells["too_late"].output == {"expired": True}


def test_graph_ask_without_any_declared_way_fails_with_request_unavailable():
    state = play(plans.TWO_QUESTIONS, {}, attended=False)
    assert (state.phase, state.reason) == ("Failed", "request_unavailable")


def test_a_template_that_cannot_render_fails_the_node_before_anybody_is_asked():
    _, first = begin(plans.GRAPH, {})
    assert first.effects == ()
    assert (first.state.phase, first.state.reason) == ("Failed", "action_materialization_failed")
    assert "release" in first.state.message


def test_cancel_closes_what_waits_and_ends_the_run():
    plan, first = begin(plans.TWO_QUESTIONS, {})
    done = advance(plan, first.state, [RunCanceled()], NOW)
    assert done.state.phase == "Canceled"
    assert set(done.effects) == {CancelRequest("a", 1), CancelRequest("b", 1)}
    assert statuses(done.state) == {"a": "Canceled", "b": "Canceled", "c": "Canceled", "end": "Canceled"}


def test_a_canceled_question_ends_the_run_and_the_other_questions():
    plan, first = begin(plans.TWO_QUESTIONS, {})
    done = advance(plan, first.state, [RequestCanceled("a")], NOW)
    assert (done.state.phase, done.state.reason) == ("Failed", "request_canceled")
    assert done.effects == (CancelRequest("b", 1),)


def test_independent_questions_are_open_at_the_same_time_and_joined():
    plan, first = begin(plans.TWO_QUESTIONS, {})
    assert {effect.node for effect in first.effects} == {"a", "b"}
    second = advance(plan, first.state, [RequestAnswered("a", "respond", {"x": "1"})], NOW)
    assert [(effect.node, effect.prompt) for effect in second.effects] == [("c", "C 1?")]
    events = [RequestAnswered("b", "respond", {"x": "2"}), RequestAnswered("c", "respond", {"x": "3"})]
    third = advance(plan, second.state, events, NOW)
    assert third.state.cells["end"].output == {"a": "1", "b": "2", "c": "3"}


def test_the_state_given_is_never_changed():
    plan, first = begin(plans.GRAPH, plans.GRAPH_INPUTS)
    before = dict(first.state.cells)
    advance(plan, first.state, [RequestAnswered("choose", "respond", plans.GRAPH_ANSWER)], NOW)
    assert dict(first.state.cells) == before


@pytest.mark.parametrize(
    ("text", "inputs", "event"),
    [
        (plans.STEPS, plans.STEPS_INPUTS, RequestAnswered("E0", "respond", plans.STEPS_ANSWER)),
        (plans.STEPS, plans.STEPS_INPUTS, RequestUnanswered("E0", "declined")),
        (plans.GRAPH, plans.GRAPH_INPUTS, RequestUnanswered("choose", "expired")),
    ],
)
def test_a_finished_run_survives_its_status(text, inputs, event):
    plan, first = begin(text, inputs)
    done = advance(plan, first.state, [event], NOW).state
    begun = RunState(inputs=first.state.inputs, attended=True)
    loaded = from_status(plan, begun, to_status(plan, done))
    assert loaded.cells == done.cells
    assert (loaded.phase, loaded.output) == (done.phase, done.output)
    assert advance(plan, loaded, [RunCanceled()], NOW).state.phase == done.phase


GATE = """
graph:
  nodes:
    - { id: g, class: control, kind: gate, max_revisions: 1, criteria: [{ id: boss, type: human, prompt: "Go?" }] }
"""


def test_revisions_are_counted_on_their_own_whichever_attempt_of_the_run_it_is():
    plan = compile_plan(plans.spec(GATE))
    # The third generation of a run that has been tried again twice: no gate has revised anything yet.
    begun = RunState(inputs={}, attended=True, generation=3)
    state = advance(plan, begun, [RequestAnswered("g/boss", "reject", None)], NOW).state
    assert (state.phase, state.generation, state.revisions) == ("Running", 4, 1)
    loaded = from_status(plan, RunState(inputs={}, attended=True, generation=4), to_status(plan, state))
    state = advance(plan, loaded, [RequestAnswered("g/boss", "reject", None)], NOW).state
    assert (state.phase, state.reason) == ("Failed", "gate_max_revisions_exhausted")


FAILING_LANES = """
graph:
  nodes:
    - id: each
      class: control
      kind: fan-out
      collection: [1, 2, 3]
      max_fan_out: 3
      max_parallel: 1
      strategy: STRATEGY
    - { id: half, class: action, kind: transform, params: { map: { n: { template: "{{ .item.x }}" } } } }
  edges: [{ from: each, to: half }]
"""


@pytest.mark.parametrize("strategy", ["wait_all", "fail_fast"])
def test_a_fan_out_tells_of_its_lanes_though_it_is_over_at_once(strategy):
    plan, first = begin(FAILING_LANES.replace("STRATEGY", strategy), {})
    assert first.state.phase == "Failed"
    failed = 3 if strategy == "wait_all" else 1
    told = to_status(plan, first.state)["nodes"]["each"]["lanes"]
    assert told == {"total": 3, "succeeded": 0, "failed": failed, "canceled": 3 - failed}


REVISED = """
graph:
  nodes:
    - { id: gate, class: control, kind: gate, criteria: [{ id: h, type: human, prompt: "ok?" }] }
    - { id: publish, class: action, kind: transform, params: { map: { v: { value: 1 } } }, review: {} }
    - { id: child, class: action, kind: run-loop, params: { loop: other } }
    - { id: then, class: control, kind: ask, params: { prompt: "?", expect: { n: integer } } }
"""


def test_what_happened_before_a_revision_does_not_count_after_it():
    """Whatever comes with the answer that sends everything back belongs to the generation that is over."""
    events = [
        RequestAnswered("gate/h", "reject", None),
        RequestAnswered("publish", "approve", None),
        RequestAnswered("then", "respond", {"n": 1}),
        CallFinished("child", {"x": 1}, 1),
    ]
    _, first = begin(REVISED, {})
    plan, revised = begin(REVISED, {}, events)
    assert (first.state.generation, revised.state.generation) == (1, 2)
    assert statuses(revised.state) == statuses(first.state)
    again = advance(plan, revised.state, events[1:], NOW).state
    assert {again.cells[node].status for node in ("publish", "then", "child")} == {"Succeeded"}
