"""Whatever is too large, too deep, missing or secret: the run ends with a reason, and nothing is stuck or told."""

import json
import sys

import pytest

from compozy.api.depth import read_deep_objects
from support import plans
from support.apiserver import plan as plan_object
from support.stage import eventually

pytestmark = pytest.mark.cluster

ANY = """
graph:
  nodes:
    - { id: a, class: control, kind: ask, params: { prompt: A?, expect: { type: object } } }
"""
MANY = "graph:\n  nodes:\n" + "".join(
    f"    - {{ id: a{number}, class: control, kind: ask, params: {{ prompt: A?, expect: {{ type: object }} }} }}\n"
    for number in range(14)
)
TOO_MUCH = f"""{MANY}    - id: all
      class: action
      kind: transform
      params:
        map: {{ {", ".join(f"x{number}: {{ from: nodes.a{number}.output.x }}" for number in range(14))} }}
  edges: [{", ".join(f"{{ from: a{number}, to: all }}" for number in range(14))}]
"""
LOUD = """
steps:
  - id: E0
    tool_name: ask
    input: { prompt: Go?, output_schema: { properties: { x: { type: string } } } }
  - { id: E1, tool_name: exit, input: { status: success, message: "{{input.big}}" } }
"""
SECRET = "ghp_abcdefghijklmnopqrstuvwxyz0123456789"


def message_of(status):
    return next(item for item in status["conditions"] if item["type"] == "Succeeded")["message"]


def test_secrets_in_a_prompt_are_in_no_object_and_no_event(stage):
    text = plans.STEPS.replace("{{input.version}}", f"{SECRET} password=hunter2")
    request = stage.question(stage.start(text, plans.STEPS_INPUTS))
    assert "[REDACTED]" in request["spec"]["prompt"]

    def told():
        path = f"/api/v1/namespaces/{stage.namespace}/events"
        return [
            item for item in stage.admin.call("GET", path).object()["items"] if item["reason"] == "RequestOpened"
        ]

    events = json.dumps(eventually(told, "the Event is told"))
    assert SECRET not in events and "hunter2" not in events
    assert SECRET not in json.dumps(request["spec"]) and "hunter2" not in json.dumps(request["spec"])


def test_an_answer_that_is_too_large_is_handed_back(without_webhook, stage):
    run = stage.start(ANY)
    request = stage.question(run)
    assert stage.answer(request, {"x": "y" * 200_000}).ok
    eventually(lambda: "response" not in stage.requests(run)[0], "the answer is handed back")
    last = stage.requests(run)[0]["status"]["lastRejection"]
    assert (last["code"], set(last["fields"])) == ("request_validation_failed", {"payload"})
    assert stage.answer(request, {"x": "y"}).ok
    assert stage.finished(run)["phase"] == "Succeeded"


def test_large_outputs_are_kept_apart_and_the_status_stays_small(stage):
    run = stage.start(MANY)
    eventually(lambda: len(stage.requests(run)) == 14, "all questions are open")
    for request in stage.requests(run):
        assert stage.answer(request, {"x": f"{request['spec']['node']} {'y' * 120_000}"}).ok
    status = stage.finished(run, seconds=60)
    assert status["phase"] == "Succeeded"
    assert len(json.dumps(status)) < 16_000
    reference = status["nodes"]["a3"]["outputRef"]
    assert reference["bytes"] > 120_000
    path = f"/apis/apps/v1/namespaces/{stage.namespace}/controllerrevisions/{reference['name']}"
    kept = stage.admin.call("GET", path).object()
    assert kept["data"]["output"]["x"].startswith("a3 yyy")
    assert kept["metadata"]["ownerReferences"][0]["name"] == run


def test_what_cannot_be_stored_ends_the_run_and_says_so(stage):
    run = stage.start(TOO_MUCH)
    eventually(lambda: len(stage.requests(run)) == 14, "all questions are open")
    for request in stage.requests(run):
        stage.answer(request, {"x": "y" * 120_000})
    status = stage.finished(run, seconds=60)
    assert status["phase"] == "Failed"
    assert "cannot be stored" in message_of(status)
    eventually(
        lambda: all(item["status"]["state"] != "Pending" for item in stage.requests(run)),
        "no question is left open",
    )


def test_a_long_message_is_cut(stage):
    run = stage.start(LOUD, {"big": "m" * 100_000})
    assert stage.answer(stage.question(run), {"x": "y"}).ok
    status = stage.finished(run)
    assert status["phase"] == "Succeeded"
    assert len(status["exit"]["message"]) <= 4096
    assert "100000 characters" in status["exit"]["message"]


@pytest.fixture
def deep_objects():
    """The test itself reads them too, on a thread whose stack is large enough for it."""
    before = sys.getrecursionlimit()
    read_deep_objects()
    yield
    sys.setrecursionlimit(before)


@pytest.mark.parametrize("depth", [150, 900, 3000, 9900])
def test_an_answer_that_nests_too_deep_is_handed_back(without_webhook, stage, deep_objects, depth):
    run = stage.start(ANY)
    request = stage.question(run)
    payload = json.loads('{"a":' * depth + "1" + "}" * depth)
    assert stage.answer(request, payload).ok
    eventually(lambda: "response" not in stage.requests(run)[0], "the answer is handed back")
    assert stage.answer(request, {"x": 1}).ok
    assert stage.finished(run)["phase"] == "Succeeded"


@pytest.mark.parametrize("depth", [900, 3000])
def test_inputs_that_nest_too_deep_do_not_stop_the_run(stage, deep_objects, depth):
    inputs = {"deep": json.loads("[" * depth + "]" * depth), **plans.STEPS_INPUTS}
    run = stage.start(plans.STEPS, inputs)
    request = stage.question(run)
    for command in (["runs"], ["describe", run], ["requests"], ["request", request["metadata"]["name"]]):
        assert stage.plugin(*command).returncode == 0
        assert stage.plugin(*command, "-o", "json").returncode == 0
    assert stage.answer(request, plans.STEPS_ANSWER).ok
    assert stage.finished(run)["phase"] == "Succeeded"


def test_a_run_that_waits_for_a_plan_can_be_canceled(stage):
    run = stage.start(None, planRef={"name": "nowhere"})
    eventually(lambda: stage.status(run).get("phase") == "Pending", "the run waits")
    assert stage.author.patch("planruns", run, {"spec": {"canceled": True}}).ok
    assert stage.finished(run)["phase"] == "Canceled"


def test_a_plan_made_again_in_the_same_place_has_its_revision(stage):
    body = plan_object("again", **plans.spec(plans.STEPS))
    stage.author.create("plans", body).object()

    def revisions():
        path = f"/apis/apps/v1/namespaces/{stage.namespace}/controllerrevisions"
        return stage.admin.call("GET", path).object()["items"]

    def ready():
        conditions = (stage.admin.get("plans", "again").get("status") or {}).get("conditions") or [{}]
        return conditions[0].get("status") == "True"

    eventually(ready, "the plan is ready")
    stage.author.delete("plans", "again").object()
    for item in revisions():
        path = f"/apis/apps/v1/namespaces/{stage.namespace}/controllerrevisions/{item['metadata']['name']}"
        stage.admin.call("DELETE", path).object()
    eventually(lambda: stage.author.create("plans", body).ok, "the name is free again")
    eventually(ready, "the plan is ready again")
    assert [item["metadata"]["name"] for item in revisions()] == [
        stage.admin.get("plans", "again")["status"]["revision"]
    ]


def test_a_run_whose_frozen_plan_is_gone_ends_and_says_so(operator, stage):
    stage.author.create("plans", plan_object("lost", **plans.spec(plans.STEPS))).object()
    run = stage.start(None, plans.STEPS_INPUTS, planRef={"name": "lost"})
    request = stage.question(run)
    eventually(lambda: stage.status(run).get("revision"), "the run shows its revision")
    operator.kill()
    plan = stage.admin.get("plans", "lost")
    changed = plans.spec(plans.STEPS.replace("nobody answered", "changed"))
    assert stage.author.replace("plans", {**plan, "spec": changed}).ok
    path = f"/apis/apps/v1/namespaces/{stage.namespace}/controllerrevisions"
    stage.admin.call("DELETE", f"{path}/{stage.status(run)['revision']}").object()
    operator.start()
    status = stage.finished(run)
    assert status["phase"] == "Failed"
    assert "is gone" in message_of(status)
    assert stage.resolved(request) == "Canceled"


def test_a_frozen_plan_that_was_deleted_is_made_again_where_the_plan_is_still_the_same(operator, stage):
    stage.author.create("plans", plan_object("kept", **plans.spec(plans.STEPS))).object()
    run = stage.start(None, plans.STEPS_INPUTS, planRef={"name": "kept"})
    request = stage.question(run)
    eventually(lambda: stage.status(run).get("revision"), "the run shows its revision")
    operator.kill()
    path = f"/apis/apps/v1/namespaces/{stage.namespace}/controllerrevisions/{stage.status(run)['revision']}"
    stage.admin.call("DELETE", path).object()
    operator.start()
    assert stage.answer(request, plans.STEPS_ANSWER).ok
    assert stage.finished(run)["phase"] == "Succeeded"
    assert stage.admin.call("GET", path).ok
