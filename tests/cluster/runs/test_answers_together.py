"""Answers that are there together: one may make another unwanted, and none counts for what comes later."""

import pytest

from support.stage import eventually

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(300)]
RACE = """
graph:
  nodes:
    - { id: each, class: control, kind: fan-out, collection: [1, 2], max_fan_out: 2, strategy: race }
    - { id: ok, class: control, kind: ask, params: { prompt: "{{ .item }}?", expect: { n: integer } } }
    - { id: won, class: control, kind: collect }
  edges: [{ from: each, to: ok }, { from: ok, to: won }]
"""
BESIDE = """
graph:
  nodes:
    - { id: act, class: action, kind: transform, params: { map: { v: { value: 1 } } }, review: {} }
    - { id: other, class: control, kind: ask, params: { prompt: "?", expect: { n: integer } } }
"""
REVISED = """
graph:
  nodes:
    - { id: gate, class: control, kind: gate, criteria: [{ id: h, type: human, prompt: "ok?" }] }
    - { id: act, class: action, kind: transform, params: { map: { v: { value: 1 } } }, review: {} }
"""


def decide(stage, request, decision, payload=None):
    response = {"decision": decision, "responder": stage.person.name, "payload": payload}
    return stage.person.patch("humanrequests", request["metadata"]["name"], {"response": response})


def asked(stage, run, count):
    eventually(lambda: len(stage.requests(run)) == count, "everything is asked")
    return {(item["spec"]["node"], item["spec"].get("item")): item for item in stage.requests(run)}


@pytest.fixture(params=["operator", "run"])
def while_away(request, operator, stage):
    """Has something happen while nobody looks: the operator is killed, or the run is paused."""

    def do(run, what):
        if request.param == "operator":
            operator.stop()
            what()
            operator.start()
        else:
            stage.author.patch("planruns", run, {"spec": {"paused": True}}).object()
            what()
            stage.author.patch("planruns", run, {"spec": {"paused": False}}).object()

    return do


def test_the_loser_of_a_race_had_answered_too(stage, while_away):
    run = stage.start(RACE)
    requests = asked(stage, run, 2)
    while_away(run, lambda: [stage.answer(request, {"n": 1}).object() for request in requests.values()])
    assert stage.finished(run)["phase"] == "Succeeded"
    assert sorted(stage.resolved(request) for request in requests.values()) == ["Answered", "Canceled"]
    loser = next(item for item in stage.requests(run) if item["status"]["state"] == "Canceled")
    assert "response" not in loser
    assert loser["status"]["lastRejection"]["code"] == "request_canceled"
    assert loser["status"]["lastRejection"]["by"] == stage.person.name


def test_a_rejection_ends_a_run_though_another_question_was_answered_with_it(stage, while_away):
    run = stage.start(BESIDE)
    requests = asked(stage, run, 2)

    def answer():
        decide(stage, requests["act", None], "reject").object()
        stage.answer(requests["other", None], {"n": 1}).object()

    while_away(run, answer)
    status = stage.finished(run)
    assert (status["phase"], status["nodes"]["act"]["reason"]) == ("Failed", "quality_rejection")
    # The operator may hear of the pause after the answers, and of them in any order: each is told as it was taken.
    taken = status["nodes"].get("other", {}).get("status") == "Succeeded"
    assert stage.resolved(requests["other", None]) == ("Answered" if taken else "Canceled")


def test_a_run_with_unwanted_answers_can_be_canceled(stage, while_away):
    run = stage.start(RACE)
    requests = asked(stage, run, 2)

    def answer():
        for request in requests.values():
            stage.answer(request, {"n": 1}).object()
        stage.author.patch("planruns", run, {"spec": {"canceled": True}}).object()

    while_away(run, answer)
    stage.finished(run)
    assert "Pending" not in {stage.resolved(request) for request in requests.values()}


def test_what_was_approved_before_a_revision_is_asked_again(stage, while_away):
    run = stage.start(REVISED)
    requests = asked(stage, run, 2)
    decide(stage, requests["act", None], "approve").object()
    eventually(lambda: stage.status(run).get("nodes", {}).get("act", {}).get("output"), "it has run")
    while_away(run, lambda: decide(stage, requests["gate/h", None], "reject").object())
    second = asked(stage, run, 4)
    assert {item["spec"]["generation"] for item in second.values()} == {2}
    assert {stage.state(item) for item in second.values()} == {"Pending"}
    status = eventually(lambda: (found := stage.status(run))["generation"] == 2 and found, "it is revised")
    assert status["nodes"].get("act", {}).get("status") != "Succeeded"
    assert status["phase"] == "Running"
