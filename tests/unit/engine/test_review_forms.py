"""The forms of a review, as its plan comes back from storage."""

import json
from datetime import UTC, datetime

import pytest

from compozy.hosts.local import Host
from compozy.language.compile import compile_plan
from compozy.language.field_order import ORDER, with_order_in_plan
from compozy.requests.forms import fields
from compozy.requests.outcome import Answered

pytestmark = pytest.mark.unit

NODE = {
    "id": "publish",
    "class": "action",
    "kind": "transform",
    "params": {"map": {"tag": {"value": "v1"}, "release_url": {"value": "u"}, "channel": {"value": "beta"}}},
    "produces": {"tag": "string", "release_url": "string", "channel": "string"},
    "review": {"decisions": ["edit", "respond"]},
}


@pytest.mark.parametrize("stored", [False, True])
def test_an_edit_asks_in_the_order_of_a_respond(stored):
    spec = {"graph": {"nodes": [NODE], "edges": []}}
    if stored:
        spec = json.loads(json.dumps(with_order_in_plan(spec), sort_keys=True))
    asked = []

    def answer(question):
        asked.append(question)
        return Answered({"tag": "v1", "release_url": "u", "channel": "stable"}, "edit")

    state = Host(lambda: datetime(2026, 1, 1, tzinfo=UTC), answer).run(compile_plan(spec), {})
    assert state.phase == "Succeeded"
    [question] = asked
    assert [field.name for field in fields(question.edit_schema)] == ["tag", "release_url", "channel"]
    assert [field.name for field in fields(question.respond_schema)] == ["tag", "release_url", "channel"]


@pytest.mark.parametrize("order", [5, "channel", [[], {}, 7, "nothing", "channel"]])
def test_an_order_that_is_none_does_no_harm(order):
    node = {**NODE, "produces": {"type": "object", "properties": {"tag": {}, "channel": {}}, ORDER: order}}
    asked = []

    def answer(question):
        asked.append(question)
        return Answered({"tag": "v1", "release_url": "u", "channel": "stable"}, "edit")

    plan = compile_plan({"graph": {"nodes": [node], "edges": []}})
    assert Host(lambda: datetime(2026, 1, 1, tzinfo=UTC), answer).run(plan, {}).phase == "Succeeded"
    [question] = asked
    names = ["channel", "tag"] if isinstance(order, list) else ["tag", "channel"]
    assert [field.name for field in fields(question.respond_schema)] == names
    assert [field.name for field in fields(question.edit_schema)] == [*names, "release_url"]
