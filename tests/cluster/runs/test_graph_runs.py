"""Graph plans on a cluster: lanes, reviews, runs that start runs, time, and another attempt."""

import json
import random
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from compozy.engine.times import timestamp
from support.apiserver import plan as plan_object
from support.plans import ASK, spec
from support.stage import eventually

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(600)]
TRAIN = (Path(__file__).parents[3] / "examples" / "release-train.yaml").read_text()
LANES = """
inputs: { items: { type: runtime } }
graph:
  nodes:
    - { id: all, class: action, kind: transform, params: { map: { n: { value: ITEMS } } } }
    - id: each
      class: control
      kind: fan-out
      collection: "{{ .nodes.all.output.n }}"
      max_fan_out: 2000
      max_parallel: 1000
    - { id: choose, class: control, kind: ask, params: { prompt: "Item {{ .item }}?", expect: { word: string } } }
    - { id: joined, class: control, kind: collect }
    - id: end
      class: action
      kind: transform
      params: { map: { n: { from: nodes.joined.output.succeeded }, words: { from: nodes.choose.items } } }
  edges:
    - { from: all, to: each }
    - { from: each, to: choose }
    - { from: choose, to: joined }
    - { from: joined, to: end }
"""
PARENT = """
graph:
  nodes:
    - { id: start, class: action, kind: run-loop, params: { loop: asker, inputs: { what: cake } } }
    - { id: told, class: action, kind: transform, params: { map: { got: { from: nodes.start.output } } } }
  edges: [{ from: start, to: told }]
output: "{{ .nodes.told.output }}"
"""
CHILD = """
inputs: { what: { type: string, required: true } }
graph:
  nodes:
    - { id: like, class: control, kind: ask, params: { prompt: "{{ .inputs.what }}?", expect: { yes: boolean } } }
output: { liked: "{{ .nodes.like.output.yes }}" }
"""


def decide(stage, request, decision, **more):
    response = {"decision": decision, "responder": stage.person.name, **more}
    return stage.person.patch("humanrequests", request["metadata"]["name"], {"response": response})


def children_of(stage, run):
    runs = stage.admin.call("GET", stage.admin.path("planruns")).object()["items"]
    owners = [(item, item["metadata"].get("ownerReferences") or []) for item in runs]
    return [item for item, owner in owners if any(reference["name"] == run for reference in owner)]


def started_and_asked(stage, child, policy=""):
    """A run has started another one, which has asked: both, and the question. `policy` is that of the node."""
    stage.author.create("plans", plan_object("asker", **spec(child))).object()
    run = stage.start(PARENT.replace("kind: run-loop,", f"kind: run-loop, {policy}"))
    name = eventually(lambda: children_of(stage, run), "the other run is started")[0]["metadata"]["name"]
    return run, name, stage.question(name)


def test_a_release_train_from_departure_to_rollback(stage):
    run = stage.start(TRAIN, {"train": "May"})
    eventually(lambda: len(stage.requests(run)) == 3, "every service that has changed is asked about")
    asked = {item["spec"]["item"]: item for item in stage.requests(run)}
    assert sorted(asked) == [0, 1, 3]
    assert {item["spec"]["node"] for item in asked.values()} == {"agree"}
    assert asked[3]["spec"]["prompt"] == "Does billing travel with May?"
    for index, travels in ((3, False), (0, True), (1, True)):
        assert stage.answer(asked[index], {"travels": travels}).ok
    review = stage.question(run, "deploy")
    assert (review["spec"]["kind"], review["spec"]["decisions"]) == ("Review", ["approve", "edit", "reject"])
    assert review["spec"]["proposedPreview"]["train"] == "May"
    edited = {**review["spec"]["proposedPreview"], "environment": "staging"}
    assert decide(stage, review, "edit", payload=edited).ok
    status = stage.finished(run)
    assert status["phase"] == "Succeeded", status
    assert status["nodes"]["deploy"]["output"]["environment"] == "staging"
    assert status["output"] == {
        "asked": 3, "arrived": None, "rolled_back": {"rolled_back": True}, "canceled": None,
    }  # fmt: skip
    assert status["nodes"]["verify"]["reason"] == "tool_unavailable"
    assert status["nodes"]["left"]["items"]["3"]["output"] == {"name": "billing"}


def test_a_thousand_lanes_are_asked_answered_in_any_order_and_joined(stage):
    text = LANES.replace("ITEMS", json.dumps([f"i{number}" for number in range(1000)]))
    run = stage.start(text)
    eventually(lambda: len(stage.requests(run)) == 1000, "every lane asks", 120)
    eventually(lambda: stage.status(run).get("pendingRequests") == 1000, "the run shows it", 60)
    requests = stage.requests(run)
    random.Random(7).shuffle(requests)
    largest = 0
    for number, request in enumerate(requests):
        assert stage.answer(request, {"word": f"w{request['spec']['item']}"}).ok
        if number % 100 == 0:
            largest = max(largest, len(json.dumps(stage.run(run))))
    status = stage.finished(run, 120)
    assert status["phase"] == "Succeeded", status["conditions"]
    assert status["nodes"]["joined"]["output"]["succeeded"] == 1000
    assert largest < 400_000
    assert len(json.dumps(status)) < 100_000
    output = stage.plugin_json("describe", run)["run"]["status"]["nodes"]
    assert output["choose"]["items"]["731"]["output"] == {"word": "w731"}


@pytest.fixture
def three_generations(stage):
    """Start a run that starts one that starts one of a plan; the first and the last of them."""

    def start(plan):
        calls = "graph: { nodes: [{ id: go, class: action, kind: run-loop, params: { loop: NEXT } }] }"
        plans = {"first": calls.replace("NEXT", "middle"), "middle": calls.replace("NEXT", "last"), "last": plan}
        for name in reversed(plans):
            stage.author.create("plans", plan_object(name, **spec(plans[name]))).object()
        first = stage.start(None, planRef={"name": "first"})
        middle = eventually(lambda: children_of(stage, first), "a run is started")[0]["metadata"]["name"]
        last = eventually(lambda: children_of(stage, middle), "another is started")[0]["metadata"]["name"]
        return first, last

    return start


def test_a_pause_holds_what_the_started_runs_have_started_until_it_is_over(stage, three_generations):
    first, last = three_generations(ASK)
    question = stage.question(last)
    stage.author.patch("planruns", first, {"spec": {"paused": True}}).object()
    # A run that comes after has its question: the operator knows of the pause.
    other = stage.question(stage.start(None, planRef={"name": "last"}))
    assert stage.answer(question, {"x": "y"}).ok
    # Another answer is taken: what was to be done about the one before would be done.
    assert stage.answer(other, {"x": "z"}).ok
    assert stage.resolved(other) == "Answered"
    assert stage.state(question) == "Pending"
    stage.author.patch("planruns", first, {"spec": {"paused": False}}).object()
    assert stage.finished(first)["phase"] == "Succeeded"
    assert stage.resolved(question) == "Answered"


def test_a_wait_that_ends_in_a_pause_of_its_starters_starter_goes_on_after_it(stage, three_generations):
    wait = "graph: { nodes: [{ id: a, class: control, kind: wait, params: { for: 3s } }] }"
    first, last = three_generations(wait)
    until = eventually(lambda: stage.status(last).get("deadline"), "it waits")
    stage.author.patch("planruns", first, {"spec": {"paused": True}}).object()
    # One that waits for as long, and began later, is over.
    stage.finished(stage.start(None, planRef={"name": "last"}))
    assert "completedAt" not in stage.status(last)
    stage.author.patch("planruns", first, {"spec": {"paused": False}}).object()
    assert stage.finished(first)["phase"] == "Succeeded"
    assert stage.status(last)["completedAt"] > until


def test_a_run_that_is_started_asks_and_reports(stage):
    stage.author.create("plans", plan_object("asker", **spec(CHILD))).object()
    run = stage.start(PARENT)
    child = eventually(lambda: children_of(stage, run), "the other run is started")[0]
    name = child["metadata"]["name"]
    assert child["spec"]["inputs"] == {"what": "cake"}
    assert stage.answer(stage.question(name), {"yes": True}).ok
    status = stage.finished(run)
    assert status["output"] == {"got": {"liked": True}}
    assert status["nodes"]["start"]["run"] == name
    assert len(children_of(stage, run)) == 1


def test_a_run_that_is_started_is_canceled_with_its_parent(stage):
    run, child, request = started_and_asked(stage, CHILD)
    stage.author.patch("planruns", run, {"spec": {"canceled": True}}).object()
    assert stage.finished(run)["phase"] == "Canceled"
    assert stage.finished(child)["phase"] == "Canceled"
    assert stage.resolved(request) == "Canceled"


def test_time_in_which_a_started_run_waits_for_people_does_not_count(stage):
    run, _, request = started_and_asked(stage, CHILD, "timeout: 5s,")
    eventually(lambda: stage.status(run).get("nodes", {}).get("start", {}).get("until"), "its time is known")
    eventually(lambda: "until" not in stage.status(run)["nodes"]["start"], "its time has stopped")
    assert stage.answer(request, {"yes": False}).ok
    assert stage.finished(run)["output"] == {"got": {"liked": False}}


def test_time_that_was_up_while_the_operator_was_away_is_still_the_time_of_people(operator, stage):
    run, _, request = started_and_asked(stage, CHILD, "timeout: 5s,")
    until = eventually(
        lambda: stage.status(run).get("nodes", {}).get("start", {}).get("until"), "its time is known"
    )
    operator.stop()
    eventually(lambda: timestamp(datetime.now(UTC)) > until, "its time has passed")
    operator.start()
    assert stage.answer(request, {"yes": True}).ok
    assert stage.finished(run)["output"] == {"got": {"liked": True}}


def test_after_people_have_answered_the_time_of_a_started_run_goes_on(stage):
    slow = CHILD.replace(
        "  nodes:\n", "  nodes:\n    - { id: nap, class: control, kind: wait, params: { for: 1h } }\n"
    )
    slow = slow.replace("output:", "  edges: [{ from: like, to: nap }]\noutput:")
    run, child, request = started_and_asked(stage, slow, "timeout: 3s,")
    eventually(lambda: stage.status(run).get("nodes", {}).get("start", {}).get("until"), "its time is known")
    eventually(lambda: "until" not in stage.status(run)["nodes"]["start"], "its time has stopped")
    assert stage.answer(request, {"yes": False}).ok
    status = stage.finished(run)
    assert (status["phase"], status["nodes"]["start"]["reason"]) == ("Failed", "attempt_timeout")
    assert stage.finished(child)["phase"] == "Canceled"


def test_a_deadline_is_that_of_all_attempts_of_a_started_run(stage):
    text = "graph: { nodes: [{ id: nap, class: control, kind: wait, params: { for: 1h } }] }"
    stage.author.create("plans", plan_object("asker", **spec(text))).object()
    policy = "kind: run-loop, timeout: 6s, deadline: 8s, retry: { backoff: { base: 1s } },"
    run = stage.start(PARENT.replace("kind: run-loop,", policy).replace(", inputs: { what: cake }", ""))
    node = stage.finished(run)["nodes"]["start"]
    assert (node["reason"], node["attempt"]) == ("deadline_exceeded", 2)
    second = max(item["metadata"]["creationTimestamp"] for item in children_of(stage, run))
    # By itself the second attempt would have had until then.
    assert node["completedAt"] < timestamp(datetime.fromisoformat(second) + timedelta(seconds=6))


def test_the_time_of_a_fan_out_stands_still_while_people_are_asked(operator, stage):
    text = LANES.replace("ITEMS", '["a", "b"]').replace("max_parallel: 1000", "timeout: 5s")
    run = stage.start(text)
    eventually(lambda: len(stage.requests(run)) == 2, "every lane asks")
    left = eventually(
        lambda: stage.status(run).get("nodes", {}).get("each", {}).get("remainingSeconds"), "its time stands still"
    )
    operator.stop()
    operator.start()
    for request in stage.requests(run):
        assert stage.answer(request, {"word": "x"}).ok
    status = stage.finished(run)
    assert status["phase"] == "Succeeded", status
    assert 0 < left <= 5
    assert status["nodes"]["each"]["lanes"] == {"total": 2, "succeeded": 2, "failed": 0, "canceled": 0}


def test_another_attempt_keeps_what_has_succeeded_and_asks_the_rest_again(stage):
    text = LANES.replace("ITEMS", '["a", "b", "c"]')
    run = stage.start(text)
    eventually(lambda: len(stage.requests(run)) == 3, "every lane asks")
    first, second, third = stage.requests(run)
    assert stage.answer(first, {"word": "one"}).ok
    assert stage.answer(second, {"word": "two"}).ok
    assert stage.decline(third).ok
    assert stage.finished(run)["phase"] == "Failed"
    told = stage.plugin("retry", run, user=stage.author)
    assert told.returncode == 0, told.stderr
    request = stage.question(run)
    assert (request["spec"]["generation"], request["spec"]["item"]) == (2, third["spec"]["item"])
    assert stage.answer(request, {"word": "three"}).ok
    status = eventually(lambda: (found := stage.status(run))["phase"] == "Succeeded" and found, "it succeeds")
    assert status["generation"] == 2
    words = {item["index"]: item["output"]["word"] for item in status["nodes"]["end"]["output"]["words"]}
    assert sorted(words.values()) == ["one", "three", "two"]
    assert len(stage.requests(run)) == 4
    assert stage.state(third) == "Declined"


def test_a_wait_survives_a_restart(operator, stage):
    text = """
graph:
  nodes:
    - { id: pause, class: control, kind: wait, params: { for: 4s } }
    - { id: after, class: action, kind: transform, params: { map: { was: { from: nodes.pause.output.until } } } }
  edges: [{ from: pause, to: after }]
"""
    run = stage.start(text)
    until = eventually(lambda: stage.status(run).get("deadline"), "the run shows until when it waits")
    operator.stop()
    operator.start()
    status = stage.finished(run)
    assert status["nodes"]["after"]["output"] == {"was": until}
    assert status["completedAt"] >= until


def test_losers_of_a_race_are_canceled(stage):
    text = LANES.replace("ITEMS", '["a", "b", "c"]').replace("max_parallel: 1000", "strategy: race")
    text = text.replace("n: { from: nodes.joined.output.succeeded }", "n: { from: nodes.joined.output }")
    run = stage.start(text)
    eventually(lambda: len(stage.requests(run)) == 3, "every lane asks")
    requests = stage.requests(run)
    assert stage.answer(requests[1], {"word": "won"}).ok
    status = stage.finished(run)
    assert status["nodes"]["joined"]["output"] == {"word": "won"}
    assert [stage.resolved(request) for request in requests] == ["Canceled", "Answered", "Canceled"]


def test_a_child_deleted_by_hand_is_started_again(stage):
    stage.author.create("plans", plan_object("asker", **spec(CHILD))).object()
    run = stage.start(PARENT)
    child = eventually(lambda: children_of(stage, run), "the other run is started")[0]
    stage.admin.call("DELETE", stage.admin.path("planruns", child["metadata"]["name"])).object()

    def again():
        found = children_of(stage, run)
        return found and found[0]["metadata"]["uid"] != child["metadata"]["uid"] and found[0]

    name = eventually(again, "it is started again")["metadata"]["name"]
    assert stage.answer(stage.question(name), {"yes": True}).ok
    assert stage.finished(run)["phase"] == "Succeeded"
