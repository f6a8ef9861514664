"""What does not fit is refused early, precisely, and nothing is lost."""

import json

import pytest

from support import plans
from support.apiserver import plan as plan_object
from support.stage import eventually

pytestmark = pytest.mark.cluster


def rejection(stage, request):
    name = request["metadata"]["name"]

    def handed_back():
        item = stage.admin.get("humanrequests", name)
        return item if "response" not in item and "lastRejection" in item["status"] else None

    return eventually(handed_back, "the answer is handed back")


def test_an_answer_that_does_not_fit_is_handed_back_with_every_fault(without_webhook, stage):
    run = stage.start(plans.STEPS, plans.STEPS_INPUTS)
    request = stage.question(run)
    assert stage.answer(request, {"channel": "loud", "confirm": "yes"}).ok
    item = rejection(stage, request)
    last = item["status"]["lastRejection"]
    assert (last["code"], last["by"]) == ("request_validation_failed", stage.person.name)
    assert set(last["fields"]) == {"channel", "confirm"}
    assert item["status"]["state"] == "Pending"
    assert stage.answer(request, plans.STEPS_ANSWER).ok
    assert stage.finished(run)["phase"] == "Succeeded"
    assert stage.resolved(request) == "Answered"


def test_the_plugin_refuses_it_before_it_is_written(stage):
    run = stage.start(plans.STEPS, plans.STEPS_INPUTS)
    request = stage.question(run)
    payload = json.dumps({"channel": "loud"})
    refused = stage.plugin("respond", request["metadata"]["name"], "--payload", payload, "-o", "json")
    assert refused.returncode == 78
    body = json.loads(refused.stdout)
    assert (body["ok"], body["code"]) == (False, "request_validation_failed")
    assert set(body["details"]) == {"channel", "confirm"}
    assert stage.state(request) == "Pending"


@pytest.mark.parametrize("door", ["plugin", "patch"])
def test_an_unknown_agent_is_named_by_its_nested_path(without_webhook, stage, door):
    run = stage.start(plans.GRAPH, plans.GRAPH_INPUTS)
    request = stage.question(run)
    payload = {"environment": "staging", "assignment": {"reviewer": "nobody-here"}}
    if door == "plugin":
        arguments = ("respond", request["metadata"]["name"], "--payload", json.dumps(payload))
        refused = stage.plugin(*arguments, "-o", "json")
        assert refused.returncode == 78
        body = json.loads(refused.stdout)
        assert (body["code"], body["origin"], body["field"]) == (
            "input_validation",
            "response",
            "assignment.reviewer",
        )
    else:
        assert stage.answer(request, payload).ok
        last = rejection(stage, request)["status"]["lastRejection"]
        assert last["code"] == "input_validation"
        assert set(last["fields"]) == {"assignment.reviewer"}
    assert stage.state(request) == "Pending"


def test_an_agent_made_a_moment_ago_is_known(stage):
    run = stage.start(plans.GRAPH, plans.GRAPH_INPUTS)
    request = stage.question(run)
    manifest = {"apiVersion": "compozy.dev/v1alpha1", "kind": "Agent", "metadata": {"name": "newcomer"}}
    stage.admin.create("agents", manifest).object()
    payload = {"environment": "staging", "assignment": {"reviewer": "newcomer"}}
    assert stage.answer(request, payload).ok
    assert stage.finished(run)["nodes"]["deploy"]["output"] == {"environment": "staging"}


def test_a_forged_responder_is_refused_by_the_api_server(stage):
    run = stage.start(plans.STEPS, plans.STEPS_INPUTS)
    request = stage.question(run)
    response = {"decision": "respond", "payload": plans.STEPS_ANSWER, "responder": "bob"}
    forged = stage.person.patch("humanrequests", request["metadata"]["name"], {"response": response})
    assert forged.status == 403
    assert stage.person.name in forged.message
    assert stage.state(request) == "Pending"


def test_an_agent_may_not_answer_where_agents_are_denied(stage):
    run = stage.start(plans.GRAPH, plans.GRAPH_INPUTS)
    request = stage.question(run)
    agent = stage.api.user("system:serviceaccount:default:bot", stage.namespace, ["responders"])
    assert "respond_not_permitted" in stage.answer(request, plans.GRAPH_ANSWER, agent).message


BROKEN = {
    "steps": [
        {
            "id": "E0",
            "tool_name": "ask",
            "input": {
                "prompt": "{{E9.answer}}?",
                "output_schema": {"type": "object", "properties": {"a": {"type": "array"}}},
                "default": {"a": 1},
            },
        },
        {"id": "E0", "tool_name": "exit", "input": {"status": "maybe"}},
    ]
}


def test_a_plan_that_cannot_be_right_says_so_and_its_run_fails_with_the_same_text(stage):
    stage.author.create("plans", plan_object("broken", **BROKEN)).object()

    def judged():
        status = stage.admin.get("plans", "broken").get("status") or {}
        return status if status.get("problems") else None

    status = eventually(judged, "the plan is judged")
    ready = next(item for item in status["conditions"] if item["type"] == "Ready")
    assert (ready["status"], ready["reason"]) == ("False", "Invalid")
    assert {problem["code"] for problem in status["problems"]} >= {
        "unknown_reference",
        "ask_schema_not_primitive",
        "default_unused",
        "duplicate_step_id",
        "invalid_value",
    }
    run = stage.start(None, planRef={"name": "broken"})
    failed = stage.finished(run)
    succeeded = next(item for item in failed["conditions"] if item["type"] == "Succeeded")
    assert failed["phase"] == "Failed"
    assert ready["message"] in succeeded["message"]
    assert stage.requests(run) == []


def test_a_right_plan_is_ready_and_runs_keep_the_revision_they_began_with(stage):
    stage.author.create("plans", plan_object("release", **plans.spec(plans.STEPS))).object()
    run = stage.start(None, plans.STEPS_INPUTS, planRef={"name": "release"})
    request = stage.question(run)
    changed = plans.spec(plans.STEPS.replace("nobody answered", "changed"))
    plan = stage.admin.get("plans", "release")
    assert stage.author.replace("plans", {**plan, "spec": changed}).ok
    eventually(lambda: stage.admin.get("plans", "release")["status"].get("observedGeneration") == 2, "observed")
    assert stage.decline(request).ok
    status = stage.finished(run)
    assert status["exit"]["message"] == "nobody answered"
    later = stage.start(None, plans.STEPS_INPUTS, planRef={"name": "release"}, attendance="Unattended")
    assert stage.finished(later)["exit"]["message"] == "changed"
    assert stage.status(later)["revision"] != status["revision"]


def test_a_run_waits_for_a_plan_that_is_not_there_yet(stage):
    run = stage.start(None, plans.STEPS_INPUTS, planRef={"name": "late"}, attendance="Unattended")
    eventually(lambda: stage.status(run).get("phase") == "Pending", "the run says that it waits")
    assert "late" in stage.status(run)["conditions"][0]["message"]
    stage.author.create("plans", plan_object("late", **plans.spec(plans.STEPS))).object()
    assert stage.finished(run)["phase"] == "Succeeded"


def test_inputs_that_do_not_fit_fail_the_run_at_once(stage):
    text = "input_schema: { type: object, required: [version] }\n" + plans.STEPS
    status = stage.finished(stage.start(text, {"fallback": "beta"}))
    assert status["phase"] == "Failed"
    assert "version" in status["conditions"][0]["message"]


def test_missing_inputs_exit_3_with_the_schema_and_start_nothing(stage, tmp_path):
    path = tmp_path / "plan.yaml"
    path.write_text("input_schema: { type: object, required: [version] }\n" + plans.STEPS)
    done = stage.plugin("run", "-f", str(path), user=stage.author)
    assert done.returncode == 3
    assert "version" in done.stderr
    assert '"required"' in done.stderr
    listed = stage.admin.call("GET", stage.admin.path("planruns")).object()
    assert listed["items"] == []
