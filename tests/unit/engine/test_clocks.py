"""Time that nodes may take: it stands still while people are waited for, and survives a restart as it is."""

from datetime import UTC, datetime, timedelta

import pytest

from compozy.engine.advance import advance, settled
from compozy.engine.effects import Call
from compozy.engine.events import CallFailed, CallFinished, RequestAnswered, RunParked, TimeCredited
from compozy.engine.snapshot import from_status, to_status
from compozy.engine.state import RunState
from compozy.engine.times import timestamp
from compozy.language.compile import compile_plan
from support import plans

pytestmark = pytest.mark.unit
START = datetime(2030, 1, 1, tzinfo=UTC)
ASKING = """
graph:
  nodes:
    - { id: each, class: control, kind: fan-out, collection: [1, 2], max_fan_out: 2, timeout: 10s }
    - { id: ok, class: control, kind: ask, params: { prompt: "{{ .item }}?", expect: { yes: boolean } } }
    - { id: pause, class: control, kind: wait, params: { for: 1h } }
  edges: [{ from: each, to: ok }, { from: ok, to: pause }]
"""
CALLING = """
graph:
  nodes:
    - id: sub
      class: control
      kind: sub-loop
      timeout: 10s
      body: { nodes: [{ id: child, class: action, kind: run-loop, params: { loop: other } }] }
"""
ACTION = """
graph: { nodes: [{ id: act, class: action, kind: upload, timeout: 10s, retry: { max_attempts: 3 }, review: {} }] }
"""
YES = {"yes": True}


def after(seconds):
    return START + timedelta(seconds=seconds)


class Run:
    """A run on a clock of its own."""

    def __init__(self, text):
        self.plan = compile_plan(plans.spec(text))
        self.begun = RunState(inputs={}, attended=True)
        self.state = self.begun
        self.calls = []

    def turn(self, seconds, *events):
        result = advance(self.plan, self.state, events, after(seconds))
        self.state = result.state
        self.calls += [effect for effect in result.effects if isinstance(effect, Call)]
        return self

    def reload(self):
        self.state = from_status(self.plan, self.begun, to_status(self.plan, self.state))
        return self

    def cell(self, path):
        return self.state.cells[path]


def asking_between(before, later):
    """A run of a sub-loop that has ten seconds: it waits, asks and waits again."""
    return Run(f"""
graph:
  nodes:
    - id: sub
      class: control
      kind: sub-loop
      timeout: 10s
      body:
        nodes:
          - {{ id: pause, class: control, kind: wait, params: {{ for: {before} }} }}
          - {{ id: ok, class: control, kind: ask, params: {{ prompt: "?", expect: {{ yes: boolean }} }} }}
          - {{ id: more, class: control, kind: wait, params: {{ for: {later} }} }}
        edges: [{{ from: pause, to: ok }}, {{ from: ok, to: more }}]
""")


@pytest.fixture(params=[False, True], ids=["kept", "loaded"])
def again(request):
    """What happens between two turns: nothing, or a restart that knows only what is stored."""
    return Run.reload if request.param else lambda run: run


def test_while_a_question_is_open_the_time_of_what_is_around_it_stands_still(again):
    run = Run(ASKING).turn(0)
    assert (run.cell("each").until, run.cell("each").left) == (None, 10.0)
    again(run).turn(3600)
    assert run.cell("each").status == "Running"
    again(run).turn(7200, RequestAnswered("each.0/ok", "respond", YES))
    assert run.cell("each").until is None, "another question is still open"
    again(run).turn(9000, RequestAnswered("each.1/ok", "respond", YES))
    assert run.cell("each").until == timestamp(after(9010))
    again(run).turn(9009)
    assert run.state.phase == "Running"
    again(run).turn(9010)
    assert (run.state.phase, run.state.reason) == ("Failed", "attempt_timeout")
    assert {run.cell(f"each.{lane}/pause").status for lane in (0, 1)} == {"Canceled"}


def test_the_time_that_was_used_before_a_question_counts(again):
    run = asking_between("6s", "6s").turn(0)
    assert run.cell("sub").until == timestamp(after(10))
    again(run).turn(6)
    assert run.cell("sub").left == 4.0
    again(run).turn(100, RequestAnswered("sub/ok", "respond", YES))
    again(run).turn(104)
    assert (run.state.phase, run.state.reason) == ("Failed", "attempt_timeout")


def test_a_run_that_was_started_and_waits_for_people_stops_the_time_around_it(again):
    run = Run(CALLING).turn(0)
    assert run.cell("sub").until == timestamp(after(10))
    waits = RunParked("sub/child", timestamp(after(4)))
    run.turn(4, waits, waits)
    assert (run.cell("sub").until, run.cell("sub").left) == (None, 6.0)
    if again is Run.reload:
        again(run).turn(50, waits)
    run.turn(100, RunParked("sub/child", None))
    assert run.cell("sub").until == timestamp(after(106))
    again(run).turn(105, CallFinished("sub/child", {"x": 1}, 1))
    assert run.state.phase == "Succeeded"


def test_a_wait_lasts_from_when_it_began_whenever_it_is_looked_at(again):
    run = Run("graph: { nodes: [{ id: w, class: control, kind: wait, params: { for: 8s }, timeout: 5s }] }").turn(
        0
    )
    again(run).turn(4)
    assert run.state.phase == "Running"
    again(run).turn(20)
    assert (run.state.phase, run.state.reason) == ("Failed", "attempt_timeout")


def test_after_a_load_what_was_called_can_be_looked_at_before_time_decides():
    text = CALLING.replace("      timeout: 10s\n", "").replace("kind: run-loop,", "kind: run-loop, timeout: 10s,")
    run = Run(text).turn(0).reload()
    begun = settled(run.plan, run.state, after(60))
    assert set(begun.state.calls) == {"sub/child"}
    credited = TimeCredited("sub/child", timestamp(after(70)))
    assert advance(run.plan, begun.state, [credited], after(60)).state.phase == "Running"
    assert advance(run.plan, begun.state, [], after(60)).state.phase == "Failed"
    assert settled(run.plan, begun.state, after(61)).effects == ()


def test_the_time_of_an_action_begins_when_a_person_has_decided_though_the_operator_was_away():
    run = Run(ACTION).turn(0).reload().turn(1000, RequestAnswered("act", "approve", None))
    assert run.cell("act").until == timestamp(after(1010))
    run.turn(1010)
    assert run.cell("act").attempt == 2


@pytest.mark.parametrize("loads", [0, 1, 2, 3])
def test_however_often_it_is_loaded_a_reviewed_action_is_at_its_attempt(loads):
    approved = RequestAnswered("act", "approve", None)
    run = Run(ACTION).turn(0).turn(1, approved).turn(2, CallFailed("act", "transport", "broken", 1))
    for load in range(loads):
        # The answer is on the request: a load may find the run before it finds that.
        run.reload().turn(2, *([approved] if load % 2 else []))
    run.turn(3, approved).turn(10)
    assert run.cell("act").attempt == 2
    assert [call.attempt for call in run.calls][-1] == 2


def test_a_turn_that_comes_late_finds_what_was_left_when_the_question_was_due(again):
    run = asking_between("5s", "1s").turn(0)
    again(run).turn(1000)
    assert (run.cell("sub").until, run.cell("sub").left) == (None, 5.0)
    again(run).turn(2000, RequestAnswered("sub/ok", "respond", YES))
    again(run).turn(2001)
    assert run.state.phase == "Succeeded"


def test_a_run_that_asked_in_time_is_told_of_too_late():
    run = Run(CALLING).turn(0).reload()
    begun = settled(run.plan, run.state, after(500))
    run.state = begun.state
    run.turn(500, RunParked("sub/child", timestamp(after(4))))
    assert (run.cell("sub").until, run.cell("sub").left) == (None, 6.0)
