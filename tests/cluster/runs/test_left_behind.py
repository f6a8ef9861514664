"""What `--cascade=orphan` leaves behind of a run is closed, whether or not the operator was there to see it."""

from datetime import UTC, datetime

import pytest

from compozy.requests.opening import owner_reference
from support import plans
from support.apiserver import plan as plan_object
from support.apiserver import request as request_object
from support.apiserver import run as run_object
from support.stage import eventually

pytestmark = pytest.mark.cluster

REVIEWED = plans.reviewed("{ decisions: [approve, reject], responders: { approvals: 2 } }")


@pytest.fixture(scope="module", autouse=True)
def garbage_collector(make_namespace):
    """It takes a while until a new control plane's knows of our kinds. Until then it would delete orphans."""
    stage = make_namespace()
    operator = stage.api.operator(stage.namespace)
    owner = operator.create("planruns", run_object("probe", planRef={"name": "not-there"})).object()
    owned = request_object("probe", run="probe")
    owned["metadata"]["ownerReferences"] = [owner_reference(owner)]
    operator.create("humanrequests", owned).object()
    operator.delete("planruns", "probe", propagationPolicy="Background").object()
    eventually(
        lambda: operator.call("GET", operator.path("humanrequests", "probe")).status == 404, "it is at work"
    )


@pytest.fixture(params=["the operator is there", "the operator is away"])
def orphaned(request, stage, operator):
    """Delete runs without what they own, and have the operator at work afterwards."""

    def delete(*runs, meanwhile=lambda: None):
        is_away = request.param == "the operator is away"
        if is_away:
            operator.kill()
        meanwhile()
        for run in runs:
            stage.author.delete("planruns", run, propagationPolicy="Orphan").object()
        for run in runs:
            eventually(
                lambda run=run: stage.admin.call("GET", stage.admin.path("planruns", run)).status == 404, run
            )
        if is_away:
            operator.start()

    return delete


def as_now(stage, question):
    return stage.admin.get("humanrequests", question["metadata"]["name"])


def events(stage, question):
    listed = stage.admin.call("GET", f"/api/v1/namespaces/{stage.namespace}/events").object()["items"]
    ours = [item for item in listed if item["involvedObject"]["uid"] == question["metadata"]["uid"]]
    return [item["message"] for item in ours if item["reason"] == "RequestCanceled"]


def test_a_question_is_canceled_once_and_says_why(stage, orphaned):
    question = stage.question(stage.start(plans.STEPS, plans.STEPS_INPUTS))
    orphaned(question["spec"]["run"])
    assert stage.resolved(question) == "Canceled"
    found = as_now(stage, question)
    assert "ownerReferences" not in found["metadata"]
    (condition,) = found["status"]["conditions"]
    assert (condition["reason"], condition["message"]) == ("Canceled", "its run was deleted without it")
    assert "request_canceled" in stage.answer(question, plans.STEPS_ANSWER).message
    # Another question comes and goes: whatever was still to be done about this one would be done before.
    other = stage.question(stage.start(plans.STEPS, plans.STEPS_INPUTS))
    assert stage.answer(other, plans.STEPS_ANSWER).ok
    assert stage.resolved(other) == "Answered"
    assert eventually(lambda: events(stage, question), "it is told") == ["its run was deleted without it"]
    assert as_now(stage, question)["metadata"]["resourceVersion"] == found["metadata"]["resourceVersion"]


def test_an_answer_that_no_run_has_taken_is_handed_back(stage, operator):
    question = stage.question(stage.start(plans.STEPS, plans.STEPS_INPUTS))
    operator.kill()
    assert stage.answer(question, plans.STEPS_ANSWER).ok
    stage.author.delete("planruns", question["spec"]["run"], propagationPolicy="Orphan").object()
    eventually(lambda: "ownerReferences" not in as_now(stage, question)["metadata"], "it is an orphan")
    operator.start()
    assert stage.resolved(question) == "Canceled"
    found = as_now(stage, question)
    assert "response" not in found
    assert found["status"]["lastRejection"]["code"] == "request_canceled"


def test_approvals_stay_as_what_people_had_said(stage, orphaned):
    question = stage.question(stage.start(REVIEWED))
    approval = {"approvals": [{"responder": stage.person.name}]}
    stage.person.patch("humanrequests", question["metadata"]["name"], approval).object()
    orphaned(question["spec"]["run"])
    assert stage.resolved(question) == "Canceled"
    assert as_now(stage, question)["approvals"] == approval["approvals"]


def test_what_was_resolved_is_left_as_it_is(stage, orphaned):
    question = stage.question(stage.start(plans.STEPS, plans.STEPS_INPUTS))
    assert stage.answer(question, plans.STEPS_ANSWER).ok
    assert stage.resolved(question) == "Answered"
    stage.finished(question["spec"]["run"])
    orphaned(question["spec"]["run"])
    other = stage.question(stage.start(plans.STEPS, plans.STEPS_INPUTS))
    assert stage.answer(other, plans.STEPS_ANSWER).ok
    assert stage.resolved(other) == "Answered"
    assert as_now(stage, question)["status"]["state"] == "Answered"


def test_a_later_run_of_the_same_name_asks_for_itself(stage, orphaned):
    first = stage.question(stage.start(plans.STEPS, plans.STEPS_INPUTS))
    name = first["spec"]["run"]
    # The API server tells the time of creation in whole seconds.
    eventually(lambda: is_over(first["metadata"]["creationTimestamp"]), "the second is over")
    orphaned(name)
    again = {"inputs": plans.STEPS_INPUTS, "plan": plans.spec(plans.STEPS)}
    stage.author.create("planruns", run_object(name, **again)).object()
    assert stage.resolved(first) == "Canceled"
    second = stage.question(name)
    assert second["metadata"]["uid"] != first["metadata"]["uid"]
    assert stage.answer(second, plans.STEPS_ANSWER).ok
    assert stage.finished(name)["phase"] == "Succeeded", stage.status(name)


def test_it_is_seen_also_where_the_name_is_in_use_again(stage, operator):
    first = stage.question(stage.start(plans.STEPS, plans.STEPS_INPUTS))
    name = first["spec"]["run"]
    operator.kill()
    stage.author.delete("planruns", name, propagationPolicy="Orphan").object()
    eventually(lambda: stage.admin.call("GET", stage.admin.path("planruns", name)).status == 404, "it is gone")
    eventually(lambda: is_over(first["metadata"]["creationTimestamp"]), "the second is over")
    again = {"inputs": plans.STEPS_INPUTS, "plan": plans.spec(plans.STEPS)}
    stage.author.create("planruns", run_object(name, **again)).object()
    operator.start()
    assert stage.resolved(first) == "Canceled"
    assert stage.answer(stage.question(name), plans.STEPS_ANSWER).ok
    assert stage.finished(name)["phase"] == "Succeeded", stage.status(name)


def is_over(second):
    return datetime.now(UTC).timestamp() >= datetime.fromisoformat(second).timestamp() + 1


def started_run(stage, run):
    """The run that another one has started, once its question is open: its name, and the question."""

    def found():
        runs = stage.admin.call("GET", stage.admin.path("planruns")).object()["items"]
        owners = [(item, item["metadata"].get("ownerReferences") or []) for item in runs]
        return [item["metadata"]["name"] for item, owner in owners if any(one["name"] == run for one in owner)]

    (name,) = eventually(found, "the other run is started")
    return name, stage.question(name)


def calling(loop, policy="", mode=""):
    """A graph of one call of a plan."""
    params = f"{{ loop: {loop}, {mode} }}"
    return f"graph: {{ nodes: [{{ id: call, class: action, kind: run-loop, {policy} params: {params} }}] }}"


def start_parent(stage, policy):
    stage.author.create("plans", plan_object("inner", **plans.spec(plans.ASK))).object()
    return stage.start(calling("inner", f"{policy},", "mode: await"))


def test_a_run_ends_with_the_one_that_started_it(stage, orphaned):
    parent = start_parent(stage, "on_parent_close: terminate")
    child, question = started_run(stage, parent)
    orphaned(parent)
    status = stage.finished(child)
    assert (status["phase"], stage.resolved(question)) == ("Canceled", "Canceled")
    assert "ownerReferences" not in stage.run(child)["metadata"]


def test_so_do_those_that_it_has_started(stage):
    stage.author.create("plans", plan_object("innermost", **plans.spec(plans.ASK))).object()
    stage.author.create("plans", plan_object("inner", **plans.spec(calling("innermost")))).object()
    outer = stage.start(calling("inner"))

    def named():
        runs = stage.admin.call("GET", stage.admin.path("planruns")).object()["items"]
        return [item["metadata"]["name"] for item in runs] if len(runs) == 3 else None

    names = eventually(named, "all three have begun")
    stage.author.delete("planruns", outer, propagationPolicy="Orphan").object()
    for name in names:
        if name != outer:
            assert stage.finished(name)["phase"] == "Canceled"


def test_a_run_that_outlives_the_end_of_the_one_that_started_it_goes_on(stage, orphaned):
    parent = start_parent(stage, "on_parent_close: abandon")
    child, question = started_run(stage, parent)
    orphaned(parent)
    eventually(lambda: "ownerReferences" not in stage.run(child)["metadata"], "it is an orphan")
    assert stage.answer(question, {"x": "1"}).ok
    assert stage.finished(child)["phase"] == "Succeeded"


def test_what_a_run_that_is_gone_had_paused_goes_on_down_to_the_last(stage):
    stage.author.create("plans", plan_object("innermost", **plans.spec(plans.ASK))).object()
    stage.author.create("plans", plan_object("inner", **plans.spec(calling("innermost")))).object()
    outer = stage.start(calling("inner", "on_parent_close: abandon,"))
    asked = eventually(
        lambda: stage.admin.call("GET", stage.admin.path("humanrequests")).object()["items"], "it asks"
    )
    innermost = asked[0]["spec"]["run"]
    eventually(lambda: stage.status(innermost).get("pendingRequests") == 1, "it shows that it waits")
    stage.author.patch("planruns", outer, {"spec": {"paused": True}}).object()
    # A run that comes after has its question: the operator knows of the pause.
    other = stage.question(stage.start(None, planRef={"name": "innermost"}))
    assert stage.answer(asked[0], {"x": "1"}).ok
    assert stage.answer(other, {"x": "2"}).ok
    assert stage.resolved(other) == "Answered"
    assert stage.state(asked[0]) == "Pending"
    stage.author.delete("planruns", outer, propagationPolicy="Orphan").object()
    assert stage.resolved(asked[0]) == "Answered"
    assert stage.finished(innermost)["phase"] == "Succeeded"


def test_so_does_one_that_nobody_waits_for(stage, orphaned):
    stage.author.create("plans", plan_object("inner", **plans.spec(plans.ASK))).object()
    parent = stage.start(calling("inner", mode="mode: detach"))
    child, question = started_run(stage, parent)
    assert stage.finished(parent)["phase"] == "Succeeded"
    orphaned(parent)
    assert stage.answer(question, {"x": "1"}).ok
    assert stage.finished(child)["phase"] == "Succeeded"
