"""What surrounds a run: attendance, ownership, Events, metrics, health, clean-up, and silence while it waits."""

import json
import re
import time
from urllib.request import urlopen

import pytest

from support import plans
from support.stage import eventually

pytestmark = pytest.mark.cluster


def test_the_namespace_can_take_attendance_away(operator, make_namespace):
    stage = make_namespace(**{"compozy.dev/attendance": "Unattended"})
    run = stage.start(plans.STEPS, plans.STEPS_INPUTS, attendance="Attended")
    assert stage.finished(run)["nodes"]["E0"]["output"]["reason"] == "unavailable"
    assert stage.requests(run) == []


def test_the_namespace_cannot_give_attendance_back(operator, make_namespace):
    stage = make_namespace(**{"compozy.dev/attendance": "Attended"})
    run = stage.start(plans.STEPS, plans.STEPS_INPUTS, attendance="Unattended")
    assert stage.finished(run)["attended"] is False


def test_the_operator_can_take_attendance_away_from_all(operator, make_namespace):
    operator.stop()
    operator.variables["COMPOZY_ATTENDANCE"] = "Unattended"
    try:
        operator.start()
        stage = make_namespace(**{"compozy.dev/attendance": "Attended"})
        run = stage.start(plans.GRAPH, plans.GRAPH_INPUTS, attendance="Attended")
        assert stage.finished(run)["nodes"]["too_late"]["output"] == {"expired": True}
    finally:
        operator.stop()
        del operator.variables["COMPOZY_ATTENDANCE"]


def test_what_has_begun_attended_stays_attended(operator, stage):
    run = stage.start(plans.STEPS, plans.STEPS_INPUTS)
    request = stage.question(run)
    operator.stop()
    operator.variables["COMPOZY_ATTENDANCE"] = "Unattended"
    try:
        operator.start()
        assert stage.answer(request, plans.STEPS_ANSWER).ok
        assert stage.finished(run)["nodes"]["E0"]["output"]["answered"] is True
    finally:
        operator.stop()
        del operator.variables["COMPOZY_ATTENDANCE"]


def test_one_question_is_canceled_by_who_may_change_its_run(stage):
    run = stage.start(plans.TWO_QUESTIONS)
    first, second = stage.question(run, "a"), stage.question(run, "b")
    name = first["metadata"]["name"]
    refused = stage.plugin("cancel", "--request", name, "-o", "json")
    assert refused.returncode == 77
    assert "decline it, or cancel its run" in json.loads(refused.stdout)["message"]
    assert stage.state(first) == "Pending"
    canceled = stage.plugin_json("cancel", "--request", name, user=stage.author)
    assert canceled == {"ok": True, "request": name, "state": "Canceled"}
    status = stage.finished(run)
    assert (status["phase"], status["nodes"]["a"]["reason"]) == ("Failed", "request_canceled")
    assert stage.resolved(second) == "Canceled"
    assert stage.plugin_json("cancel", "--request", name, user=stage.author) == canceled
    assert "request_canceled" in stage.answer(first, {"x": "1"}).message


def test_a_question_that_was_answered_is_not_canceled(stage):
    run = stage.start(plans.STEPS, plans.STEPS_INPUTS)
    request = stage.question(run)
    assert stage.answer(request, plans.STEPS_ANSWER).ok
    late = stage.plugin("cancel", "--request", request["metadata"]["name"], "-o", "json", user=stage.author)
    assert late.returncode == 65
    assert json.loads(late.stdout)["code"] == "request_already_answered"
    assert stage.finished(run)["phase"] == "Succeeded"


def test_deleting_a_run_removes_its_questions(stage):
    run = stage.start(plans.STEPS, plans.STEPS_INPUTS)
    stage.question(run)
    assert stage.author.delete("planruns", run).ok
    eventually(lambda: not stage.requests(run), "the questions are gone", seconds=90)


def test_a_question_deleted_by_hand_is_asked_again(stage):
    run = stage.start(plans.STEPS, plans.STEPS_INPUTS)
    request = stage.question(run)
    assert stage.admin.delete("humanrequests", request["metadata"]["name"]).ok
    again = eventually(lambda: stage.requests(run), "the question is back")[0]
    assert again["metadata"]["name"] == request["metadata"]["name"]
    assert stage.answer(again, plans.STEPS_ANSWER).ok
    assert stage.finished(run)["phase"] == "Succeeded"


def test_events_tell_the_story(stage):
    answered = stage.start(plans.STEPS, plans.STEPS_INPUTS)
    assert stage.answer(stage.question(answered), plans.STEPS_ANSWER).ok
    declined = stage.start(plans.STEPS, plans.STEPS_INPUTS)
    assert stage.decline(stage.question(declined)).ok
    expired = stage.start(plans.STEPS, plans.STEPS_INPUTS, requestExpireAfter="1s")
    canceled = stage.start(plans.STEPS, plans.STEPS_INPUTS)
    stage.question(canceled)
    assert stage.author.patch("planruns", canceled, {"spec": {"canceled": True}}).ok
    for run in (answered, declined, expired, canceled):
        stage.finished(run)

    def reasons():
        path = f"/api/v1/namespaces/{stage.namespace}/events"
        return {item["reason"] for item in stage.admin.call("GET", path).object()["items"]}

    wanted = {
        *("RequestOpened", "RequestAnswered", "RequestDeclined", "RequestExpired", "RequestCanceled"),
        *("RunSucceeded", "RunCanceled"),
    }
    eventually(lambda: wanted <= reasons(), "every Event is told")


def test_metrics_and_health(operator, stage):
    def value(pattern):
        found = re.search(rf"^{pattern} ([0-9.e+]+)$", operator.metrics(), re.MULTILINE)
        return float(found.group(1)) if found else 0.0

    closed = value(r'compozy_requests_closed_total\{state="Answered"\}')
    resumed = value("compozy_answer_to_resumed_seconds_count")
    run = stage.start(plans.STEPS, plans.STEPS_INPUTS)
    request = stage.question(run)
    eventually(lambda: value("compozy_requests_open") >= 1, "the open question is counted")
    assert stage.answer(request, plans.STEPS_ANSWER).ok
    stage.finished(run)
    pattern = r'compozy_requests_closed_total\{state="Answered"\}'
    eventually(lambda: value(pattern) > closed, "the answer is counted")
    assert value("compozy_answer_to_resumed_seconds_count") > resumed
    with urlopen(f"{operator.url}/healthz") as answer:
        assert answer.status == 200


def test_nothing_is_stored_on_objects_but_what_they_are(stage):
    run = stage.start(plans.STEPS, plans.STEPS_INPUTS, requestExpireAfter="1h")
    request = stage.question(run)
    eventually(lambda: stage.status(run).get("pendingRequests") == 1, "the run shows that it waits")
    for item in (stage.run(run), stage.admin.get("humanrequests", request["metadata"]["name"])):
        assert "annotations" not in item["metadata"]
        assert "finalizers" not in item["metadata"]


def test_a_parked_run_is_left_alone(stage):
    """Waiting writes nothing: neither the run nor its question has another version after a while."""
    run = stage.start(plans.STEPS, plans.STEPS_INPUTS, requestExpireAfter="1h")
    request = stage.question(run)["metadata"]["name"]
    eventually(lambda: stage.status(run).get("pendingRequests") == 1, "the run shows that it waits")

    def versions():
        items = (stage.run(run), stage.admin.get("humanrequests", request))
        return [item["metadata"]["resourceVersion"] for item in items]

    before = versions()
    time.sleep(4)
    assert versions() == before


def test_expiry_that_passed_while_the_operator_was_away(operator, stage):
    run = stage.start(plans.GRAPH.replace("72h", "2s"), plans.GRAPH_INPUTS)
    request = stage.question(run)
    operator.kill()
    time.sleep(3)
    assert stage.state(request) == "Pending"
    operator.start()
    assert stage.finished(run)["nodes"]["too_late"]["output"] == {"expired": True}
    assert stage.resolved(request) == "Expired"


def test_a_paused_run_does_not_expire_until_it_is_resumed(stage):
    run = stage.start(plans.GRAPH.replace("72h", "2s"), plans.GRAPH_INPUTS)
    request = stage.question(run)
    assert stage.author.patch("planruns", run, {"spec": {"paused": True}}).ok
    time.sleep(4)
    assert stage.state(request) == "Pending"
    assert stage.author.patch("planruns", run, {"spec": {"paused": False}}).ok
    assert stage.finished(run)["nodes"]["too_late"]["output"] == {"expired": True}


def test_a_finished_run_is_deleted_after_its_time(stage):
    run = stage.start(plans.STEPS, plans.STEPS_INPUTS, attendance="Unattended", ttlSecondsAfterFinished=1)
    eventually(lambda: stage.admin.call("GET", stage.admin.path("planruns", run)).status == 404, "the run is gone")


def test_a_run_that_is_begun_under_the_name_of_a_deleted_one_asks_anew(stage):
    run = stage.start(plans.STEPS, plans.STEPS_INPUTS)
    first = stage.question(run)["metadata"]
    body = stage.run(run)
    assert stage.author.delete("planruns", run).ok
    fresh = {key: body[key] for key in ("apiVersion", "kind", "spec")} | {"metadata": {"name": run}}
    eventually(lambda: stage.author.create("planruns", fresh).ok, "the name is free again")

    def asked():
        return [item for item in stage.requests(run) if item["metadata"]["uid"] != first["uid"]]

    again = eventually(asked, "the new run asks")[0]
    assert stage.answer(again, plans.STEPS_ANSWER).ok
    assert stage.finished(run)["phase"] == "Succeeded"


def test_two_operators_do_no_harm(operator, stage, operated, tmp_path):
    from localcluster.background import operator_of

    with operator_of(operated.cluster, tmp_path / "second.log"):
        runs = [stage.start(plans.GRAPH, plans.GRAPH_INPUTS) for _ in range(10)]
        for run in runs:
            assert stage.answer(stage.question(run), plans.GRAPH_ANSWER).ok
        for run in runs:
            assert stage.finished(run)["nodes"]["deploy"]["output"] == {"environment": "staging"}
            assert len(stage.requests(run)) == 1
            assert stage.resolved(stage.requests(run)[0]) == "Answered"
