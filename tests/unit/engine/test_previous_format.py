"""A run that was under way with the previous version of the operator goes on with this one.

`previous_format.json` holds what that version had stored after each event of some runs.
"""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from compozy.engine.advance import advance
from compozy.engine.events import RequestAnswered, RequestUnanswered
from compozy.engine.snapshot import from_status, to_status
from compozy.engine.state import RunState
from compozy.language.compile import compile_plan
from support import plans

pytestmark = pytest.mark.unit
NOW = datetime(2030, 1, 1, tzinfo=UTC)
RECORDED = json.loads((Path(__file__).parent / "previous_format.json").read_text())


def event_of(told):
    kind, node, what = told
    return RequestAnswered(node, "respond", what) if kind == "answered" else RequestUnanswered(node, what)


@pytest.mark.parametrize(
    ("recorded", "done"),
    [
        pytest.param(recorded, done, id=f"{recorded['name']}, {done} events")
        for recorded in RECORDED
        for done in range(len(recorded["events"]))
    ],
)
def test_a_run_of_the_previous_version_goes_on(recorded, done):
    plan = compile_plan(plans.spec(recorded["plan"]))
    begun = RunState(inputs=plan.resolve_inputs(recorded["inputs"]), attended=True)
    state = from_status(plan, begun, recorded["statuses"][done])
    for told in recorded["events"][done:]:
        state = advance(plan, state, [event_of(told)], NOW).state
    ended, expected = to_status(plan, state), recorded["statuses"][-1]
    assert {key: ended.get(key) for key in expected} == expected
