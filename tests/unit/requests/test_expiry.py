"""How long a question stays open: its author says, else the run, the plan, and the operator, in this order."""

from datetime import UTC, datetime
from itertools import product

import pytest

from compozy.controllers.settings import EXPIRE_VARIABLES, from_environment
from compozy.engine.effects import OpenRequest
from compozy.language.compile import compile_plan
from compozy.requests.expiry import seeded_expiry
from compozy.requests.opening import request_object

pytestmark = pytest.mark.unit

NOW = datetime(2026, 1, 1, tzinfo=UTC)
ASKED = {"prompt": "?", "expect": {"type": "object"}}
GRAPH = {"nodes": [{"id": "a", "class": "control", "kind": "ask", "params": ASKED}]}
SCHEMA = {"type": "object", "properties": {"x": {"type": "string"}}}
STEPS = [{"id": "E0", "tool_name": "ask", "input": {"prompt": "?", "output_schema": SCHEMA}}]
DIALECTS = {"graph": {"graph": GRAPH}, "steps": {"steps": STEPS}}

TABLE = [
    # authored, of the run, of the plan, of the operator -> the hour at which it closes
    (1, 2, 3, 4, "01"),
    (1, 2, 3, None, "01"),
    (1, 2, None, 4, "01"),
    (1, 2, None, None, "01"),
    (1, None, 3, 4, "01"),
    (1, None, 3, None, "01"),
    (1, None, None, 4, "01"),
    (1, None, None, None, "01"),
    (None, 2, 3, 4, "02"),
    (None, 2, 3, None, "02"),
    (None, 2, None, 4, "02"),
    (None, 2, None, None, "02"),
    (None, None, 3, 4, "03"),
    (None, None, 3, None, "03"),
    (None, None, None, 4, "04"),
    (None, None, None, None, None),
]
"""Every combination, in hours."""


def closes(dialect, profile, authored, of_run, of_plan, environ):
    """When a question closes that opens at midnight."""
    spec = {**DIALECTS[dialect]} | ({"profile": profile} if profile else {})
    if of_plan:
        spec["requests"] = {"expireAfter": f"{of_plan}h"}
    run = {"metadata": {"name": "r", "namespace": "team", "uid": "u"}, "spec": {}}
    if of_run:
        run["spec"]["requestExpireAfter"] = f"{of_run}h"
    seconds = seeded_expiry(run, compile_plan(spec), profile, from_environment(environ).expire_after)
    effect = OpenRequest(
        node="a",
        generation=1,
        prompt="?",
        context=None,
        expect={},
        decisions=("respond",),
        responders={},
        expires_after=authored and authored * 3600.0,
    )
    return request_object(effect, ("a", None), run, None, seconds, NOW)["spec"].get("expiresAt")


@pytest.mark.parametrize("profile", [None, "delivery", "watch"])
@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize(("authored", "of_run", "of_plan", "of_operator", "hour"), TABLE)
def test_who_says_so_first_decides(dialect, profile, authored, of_run, of_plan, of_operator, hour):
    environ = {EXPIRE_VARIABLES[profile or "delivery"]: f"{of_operator}h"} if of_operator else {}
    expected = hour and f"2026-01-01T{hour}:00:00.000000Z"
    assert closes(dialect, profile, authored, of_run, of_plan, environ) == expected


def test_the_table_has_every_combination():
    assert {row[:4] for row in TABLE} == set(product((1, None), (2, None), (3, None), (4, None)))


@pytest.mark.parametrize(("profile", "other"), [(None, "watch"), ("delivery", "watch"), ("watch", "delivery")])
def test_the_setting_of_the_other_profile_does_not_count(profile, other):
    assert closes("graph", profile, None, None, None, {EXPIRE_VARIABLES[other]: "4h"}) is None


def test_each_profile_has_its_own():
    environ = {EXPIRE_VARIABLES["delivery"]: "4h", EXPIRE_VARIABLES["watch"]: "5h"}
    assert closes("graph", "watch", None, None, None, environ) == "2026-01-01T05:00:00.000000Z"
    assert closes("graph", None, None, None, None, environ) == "2026-01-01T04:00:00.000000Z"
