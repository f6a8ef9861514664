"""Any number of people answer at once, or at the deadline: one answer counts, and everybody is told."""

import concurrent.futures
import json
import time
from datetime import UTC, datetime, timedelta

import pytest

from support import plans

pytestmark = pytest.mark.cluster

PEOPLE = [f"user-{number}" for number in range(10)]
LATE = ("request_already_answered", "request_expired")


def test_fifty_answers_of_ten_people_by_plugin_and_by_plain_patch(stage):
    run = stage.start(plans.STEPS, plans.STEPS_INPUTS)
    request = stage.question(run)
    people = [stage.api.user(name, stage.namespace, ["responders"]) for name in PEOPLE]

    def by_patch(number):
        who = people[number % len(people)]
        answer = {"channel": "beta", "confirm": number % 2 == 0}
        response = {"decision": "respond", "payload": answer, "responder": who.name, "note": f"{number}"}
        patch = json.dumps({"response": response})
        done = who.kubectl("patch", "hreq", request["metadata"]["name"], "--type=merge", "-p", patch)
        return who.name, number, done.returncode == 0, done.stderr

    def by_plugin(number):
        who = people[number % len(people)]
        answer = json.dumps({"channel": "nightly", "confirm": number % 2 == 0})
        arguments = ("respond", request["metadata"]["name"], "--payload", answer, "--note", f"{number}")
        done = stage.plugin(*arguments, "-o", "json", user=who)
        return who.name, number, done.returncode == 0, done.stdout + done.stderr

    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        results = list(pool.map(lambda number: (by_plugin if number % 2 else by_patch)(number), range(50)))
    admitted = [result for result in results if result[2]]
    assert len(admitted) == 1, admitted
    assert all("request_already_answered" in text for _, _, ok, text in results if not ok)
    recorded = stage.admin.get("humanrequests", request["metadata"]["name"])["response"]
    assert (recorded["responder"], recorded["note"]) == (admitted[0][0], str(admitted[0][1]))
    status = stage.finished(run)
    assert status["nodes"]["E0"]["output"] == {"answer": recorded["payload"], "answered": True}


@pytest.mark.timeout(600)
def test_answers_within_fifty_milliseconds_of_the_deadline(stage):
    """A hundred times: one outcome, told the same by run, request and answer; the run never fails."""
    # A few answers long before and after, so that there are both outcomes on any machine.
    offsets = [*range(-50, 50), *[-5000] * 5, *[5000] * 5]
    options = {"requestExpireAfter": "15s"}
    runs = [stage.start(plans.STEPS, plans.STEPS_INPUTS, **options) for _ in offsets]
    requests = [stage.question(run) for run in runs]

    def answer(index):
        deadline = datetime.fromisoformat(requests[index]["spec"]["expiresAt"])
        at = deadline + timedelta(milliseconds=offsets[index])
        time.sleep(max((at - datetime.now(UTC)).total_seconds(), 0))
        return stage.answer(requests[index], plans.STEPS_ANSWER)

    with concurrent.futures.ThreadPoolExecutor(len(offsets)) as pool:
        answers = list(pool.map(answer, range(len(offsets))))
    outcomes = []
    for run, request, answered in zip(runs, requests, answers, strict=True):
        status = stage.finished(run)
        state = stage.resolved(request)
        assert status["phase"] == "Succeeded"
        assert status["nodes"]["E0"]["output"]["answered"] is answered.ok
        assert state == ("Answered" if answered.ok else "Expired")
        assert answered.ok or "request_expired" in answered.message
        outcomes.append(state)
    # Both must have happened, else the race was not run.
    assert set(outcomes) == {"Answered", "Expired"}


REVIEWED = plans.reviewed("{ decisions: [approve, reject], responders: { approvals: 2 } }")


@pytest.mark.timeout(600)
def test_the_last_approval_within_twenty_milliseconds_of_the_deadline(stage):
    """One outcome, told the same by run, request and approval; what others had approved stays as a record."""
    offsets = [*range(-20, 20), *[-5000] * 3, *[5000] * 3]
    runs = [stage.start(REVIEWED, requestExpireAfter="15s") for _ in offsets]
    requests = [stage.question(run) for run in runs]
    first, second = stage.person, stage.api.user("bob", stage.namespace, ["responders"])
    given = [{"responder": first.name}]
    for request in requests:
        first.patch("humanrequests", request["metadata"]["name"], {"approvals": given}).object()

    def approve(index):
        name = requests[index]["metadata"]["name"]
        deadline = datetime.fromisoformat(requests[index]["spec"]["expiresAt"])
        at = deadline + timedelta(milliseconds=offsets[index])
        time.sleep(max((at - datetime.now(UTC)).total_seconds(), 0))
        response = {"responder": second.name, "decision": "approve"}
        return second.patch("humanrequests", name, {"response": response})

    with concurrent.futures.ThreadPoolExecutor(len(offsets)) as pool:
        answers = list(pool.map(approve, range(len(offsets))))
    outcomes = []
    for run, request, answered in zip(runs, requests, answers, strict=True):
        status, state = stage.finished(run), stage.resolved(request)
        outcome = (status["phase"], "output" in status["nodes"]["ship"], state)
        wanted = ("Succeeded", True, "Answered") if answered.ok else ("Failed", False, "Expired")
        assert outcome == wanted
        assert answered.ok or "request_expired" in answered.message
        stored = stage.admin.get("humanrequests", request["metadata"]["name"])
        assert (stored["approvals"], "response" in stored) == (given, answered.ok)
        outcomes.append(state)
    # Both must have happened, else the race was not run.
    assert set(outcomes) == {"Answered", "Expired"}
    late = requests[outcomes.index("Expired")]["metadata"]["name"]
    for who in (first, second):
        told = stage.plugin("respond", late, "--decision", "approve", "-o", "json", user=who)
        assert (told.returncode, json.loads(told.stdout)["code"]) == (69, "request_expired")


def test_an_identical_retry_by_the_recorded_responder_returns_the_recorded_answer(stage):
    run = stage.start(plans.STEPS, plans.STEPS_INPUTS)
    request = stage.question(run)
    arguments = ("respond", request["metadata"]["name"], "--payload", json.dumps(plans.STEPS_ANSWER))
    first = stage.plugin_json(*arguments)
    status = stage.finished(run)
    version = stage.run(run)["metadata"]["resourceVersion"]
    second = stage.plugin_json(*arguments)
    assert first["ok"] and second == first
    assert first["provenance"]["responder"] == stage.person.name
    assert stage.status(run) == status
    assert stage.run(run)["metadata"]["resourceVersion"] == version


def test_another_answer_of_the_recorded_responder_is_late(stage):
    run = stage.start(plans.STEPS, plans.STEPS_INPUTS)
    request = stage.question(run)
    assert stage.answer(request, plans.STEPS_ANSWER).ok
    stage.finished(run)
    other = json.dumps(plans.STEPS_ANSWER | {"confirm": False})
    late = stage.plugin("respond", request["metadata"]["name"], "--payload", other, "-o", "json")
    assert late.returncode == 65
    assert json.loads(late.stdout)["code"] == "request_already_answered"


def test_cancel_against_answer_one_wins_and_both_are_told(stage):
    for _ in range(10):
        run = stage.start(plans.STEPS, plans.STEPS_INPUTS)
        request = stage.question(run)
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            answered = pool.submit(stage.answer, request, plans.STEPS_ANSWER)
            canceled = pool.submit(stage.author.patch, "planruns", run, {"spec": {"canceled": True}})
        assert canceled.result().ok
        status, state = stage.finished(run), stage.resolved(request)
        if answered.result().ok:
            assert (state, status["nodes"]["E0"]["status"]) == ("Answered", "Succeeded")
        else:
            assert (state, status["phase"]) == ("Canceled", "Canceled")
            assert "request_canceled" in answered.result().message
