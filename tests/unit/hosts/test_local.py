"""A plan in this process: the same engine, without a cluster."""

from datetime import UTC, datetime

import pytest

from compozy.hosts.local import Host
from compozy.language.compile import compile_plan
from compozy.language.problems import InputsInvalid
from compozy.requests.outcome import Answered, Declined, Unavailable
from support import plans

pytestmark = pytest.mark.unit


def local(text, inputs, *outcomes):
    asked = []
    waiting = list(outcomes)

    def ask(question):
        asked.append(question.node)
        return waiting.pop(0)

    plan = compile_plan(plans.spec(text))
    host = ask if outcomes else None
    return Host(lambda: datetime(2030, 1, 1, tzinfo=UTC), host).run(plan, inputs), asked


def test_an_answer_is_bound_and_the_run_finishes():
    state, asked = local(plans.STEPS, plans.STEPS_INPUTS, Answered(plans.STEPS_ANSWER))
    assert asked == ["E0"]
    assert (state.phase, state.output) == ("Succeeded", {"channel": "nightly"})


@pytest.mark.parametrize(("outcome", "reason"), [(Declined(), "declined"), (Unavailable(), "unavailable")])
def test_what_the_person_does_instead_is_told_to_the_plan(outcome, reason):
    state, _ = local(plans.STEPS, plans.STEPS_INPUTS, outcome)
    assert state.cells["E0"].output["reason"] == reason


def test_nobody_can_be_asked():
    state, asked = local(plans.GRAPH, plans.GRAPH_INPUTS)
    assert asked == []
    assert state.cells["too_late"].output == {"expired": True}


def test_questions_are_asked_one_at_a_time_in_the_order_they_open():
    answers = [Answered({"x": "1"}), Answered({"x": "2"}), Answered({"x": "3"})]
    state, asked = local(plans.TWO_QUESTIONS, {}, *answers)
    assert asked == ["a", "b", "c"]
    assert state.cells["end"].output == {"a": "1", "b": "2", "c": "3"}


def test_a_question_that_nobody_needs_any_more_is_not_asked():
    state, asked = local(plans.TWO_QUESTIONS, {}, Declined())
    assert asked == ["a"]
    assert (state.phase, state.reason) == ("Failed", "request_declined")


def test_inputs_are_checked_first():
    with pytest.raises(InputsInvalid):
        local("input_schema: { type: object, required: [version] }\n" + plans.STEPS, {})
