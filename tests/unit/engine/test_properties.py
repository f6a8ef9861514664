"""Properties of `advance`: events in any order, repeated, with restarts between them, end in the same state."""

from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compozy.engine.advance import advance
from compozy.engine.effects import OpenRequest
from compozy.engine.events import RequestAnswered, RequestCanceled, RequestUnanswered, RunCanceled
from compozy.engine.snapshot import from_status, to_status
from compozy.engine.state import FINAL_STATUSES, RunState
from compozy.language.compile import compile_plan
from support import plans

pytestmark = pytest.mark.unit
NOW = datetime(2030, 1, 2, 3, 4, 5, tzinfo=UTC)
PLANS = {
    "steps": (plans.STEPS, plans.STEPS_INPUTS),
    "graph": (plans.GRAPH, plans.GRAPH_INPUTS),
    "two": (plans.TWO_QUESTIONS, {}),
    "nested": (plans.NESTED, plans.NESTED_INPUTS),
}
COMPILED = {name: compile_plan(plans.spec(text)) for name, (text, _) in PLANS.items()}
PAYLOADS = {"E0": plans.STEPS_ANSWER, "choose": plans.GRAPH_ANSWER}


def events_of(name):
    nodes = (
        plans.NESTED_ASKS
        if name == "nested"
        else [node.id for node in COMPILED[name].nodes.values() if node.spec.kind == "ask"]
    )
    answered = st.sampled_from(nodes).map(
        lambda node: RequestAnswered(node, "respond", PAYLOADS.get(node, {"x": node}))
    )
    unanswered = st.builds(
        RequestUnanswered, st.sampled_from(nodes), st.sampled_from(["declined", "unavailable", "expired"])
    )
    return st.one_of(
        answered, unanswered, st.builds(RequestCanceled, st.sampled_from(nodes)), st.just(RunCanceled())
    )


def begun(name):
    _, inputs = PLANS[name]
    return RunState(inputs=inputs, attended=True)


@st.composite
def histories(draw):
    name = draw(st.sampled_from(sorted(PLANS)))
    batches = draw(st.lists(st.lists(events_of(name), max_size=4), max_size=12))
    return name, batches


def reload(name, state):
    """The state as a restarted operator finds it."""
    return from_status(COMPILED[name], begun(name), to_status(COMPILED[name], state))


@given(histories())
def test_final_states_are_final_and_cells_never_change_once_they_have_ended(history):
    name, batches = history
    plan, state = COMPILED[name], begun(name)
    for batch in batches:
        following = advance(plan, state, batch, NOW).state
        for node_id, cell in state.cells.items():
            if cell.status in FINAL_STATUSES:
                # What a body has found is forgotten when the step around it has its result.
                forgotten = "/" in node_id and node_id not in following.cells
                assert forgotten or following.cells[node_id] == cell
        if state.is_final:
            assert following == state
        state = following


@given(histories())
def test_the_same_input_gives_the_same_output(history):
    name, batches = history
    plan, state = COMPILED[name], begun(name)
    for batch in batches:
        first, second = advance(plan, state, batch, NOW), advance(plan, state, batch, NOW)
        assert first == second
        state = first.state


@given(histories())
def test_no_event_twice_makes_a_difference(history):
    name, batches = history
    plan, once, twice = COMPILED[name], begun(name), begun(name)
    for event in (event for batch in batches for event in batch):
        once = advance(plan, once, [event], NOW).state
        twice = advance(plan, advance(plan, twice, [event], NOW).state, [event, event], NOW).state
        assert once == twice


@given(histories())
def test_a_restart_at_any_point_changes_nothing_but_asks_the_same_questions_again(history):
    name, batches = history
    plan, state, restarted = COMPILED[name], begun(name), begun(name)
    asked: dict[str, OpenRequest] = {}
    for batch in batches:
        result, again = advance(plan, state, batch, NOW), advance(plan, restarted, batch, NOW)
        for effect in (*result.effects, *again.effects):
            if isinstance(effect, OpenRequest):
                assert asked.setdefault(effect.node, effect) == effect
        state, restarted = result.state, reload(name, again.state)
        assert reload(name, state) == restarted


@given(st.lists(st.booleans(), min_size=7, max_size=7))
def test_a_nested_plan_asks_in_item_order_and_a_restart_between_any_two_answers_changes_nothing(restarts):
    plan, state, asked = COMPILED["nested"], begun("nested"), []
    known: list[RequestAnswered] = []
    for restart in restarts:
        result = advance(plan, state, known, NOW)
        state = reload("nested", result.state) if restart else result.state
        again = advance(plan, state, known, NOW)
        waiting = [path for path, cell in again.state.cells.items() if cell.status == "Waiting"]
        assert len(waiting) == 1
        asked += waiting
        known = [RequestAnswered(waiting[0], "respond", {"x": str(len(asked))})]
        state = again.state
    done = advance(plan, state, known, NOW).state
    assert asked == plans.NESTED_ASKS
    assert (done.phase, done.output, done.steps_executed) == ("Succeeded", {"count": 3}, 13)


@settings(max_examples=200)
@given(st.permutations(["a", "b", "c"]), st.lists(st.integers(0, 2), max_size=5), st.booleans())
def test_answers_in_any_order_with_repetition_end_in_the_same_state(order, repeats, restart):
    plan, state = COMPILED["two"], begun("two")
    answers = {node: RequestAnswered(node, "respond", {"x": node}) for node in "abc"}
    # A shell tells of every request that exists, whenever it has something to tell: level, not edge.
    known: list[RequestAnswered] = []
    for node in [*order, *(order[index] for index in repeats)]:
        known.append(answers[node])
        state = advance(plan, state, known, NOW).state
        if restart:
            state = reload("two", state)
    state = advance(plan, state, known, NOW).state
    state = advance(plan, state, known, NOW).state
    assert state.phase == "Succeeded"
    assert state.cells["end"].output == {"a": "a", "b": "b", "c": "c"}
