"""Both published plans, on a real API server: answered, declined, expired, canceled and unattended."""

import pytest

from support import documents, plans

pytestmark = pytest.mark.cluster

STEPS = ("own", "published")


def steps_plan(source):
    return plans.STEPS if source == "own" else documents.steps_plan()


def graph_plan(source):
    """The plan, the node that asks, and the names that the printed plan uses for the two ways."""
    if source == "own":
        return plans.GRAPH, "choose", "too_late"
    return documents.graph_plan(), "choose_environment", "request_expired"


@pytest.mark.parametrize("source", STEPS)
class TestSteps:
    def test_answered(self, stage, source):
        run = stage.start(steps_plan(source), plans.STEPS_INPUTS)
        request = stage.question(run)
        assert stage.answer(request, plans.STEPS_ANSWER).ok
        status = stage.finished(run)
        assert status["phase"] == "Succeeded"
        assert status["nodes"]["E0"]["output"] == {"answer": plans.STEPS_ANSWER, "answered": True}
        assert "exit" not in status
        assert status["stepsExecuted"] == 2
        assert stage.resolved(request) == "Answered"

    def test_declined(self, stage, source):
        run = stage.start(steps_plan(source), plans.STEPS_INPUTS)
        request = stage.question(run)
        assert stage.decline(request).ok
        status = stage.finished(run)
        assert status["nodes"]["E0"]["output"] == {
            "answer": {"channel": "beta", "confirm": False},
            "answered": False,
            "reason": "declined",
        }
        assert (status["phase"], status["exit"]["status"], status["exit"]["step"]) == (
            "Succeeded",
            "success",
            "E1",
        )
        assert stage.resolved(request) == "Declined"

    def test_expired(self, stage, source):
        run = stage.start(steps_plan(source), plans.STEPS_INPUTS, requestExpireAfter="1s")
        request = stage.question(run)
        status = stage.finished(run)
        assert status["nodes"]["E0"]["output"]["reason"] == "unavailable"
        assert status["phase"] == "Succeeded"
        assert stage.resolved(request) == "Expired"
        assert "request_expired" in stage.answer(request, plans.STEPS_ANSWER).message

    def test_canceled(self, stage, source):
        run = stage.start(steps_plan(source), plans.STEPS_INPUTS)
        request = stage.question(run)
        assert stage.author.patch("planruns", run, {"spec": {"canceled": True}}).ok
        assert stage.finished(run)["phase"] == "Canceled"
        assert stage.resolved(request) == "Canceled"
        assert "request_canceled" in stage.answer(request, plans.STEPS_ANSWER).message

    def test_unattended(self, stage, source):
        run = stage.start(steps_plan(source), plans.STEPS_INPUTS, attendance="Unattended")
        status = stage.finished(run)
        assert status["nodes"]["E0"]["output"]["reason"] == "unavailable"
        assert (status["phase"], status["attended"]) == ("Succeeded", False)
        assert stage.requests(run) == []


@pytest.mark.parametrize("source", STEPS)
class TestGraph:
    def test_answered(self, stage, source):
        text, node, other = graph_plan(source)
        run = stage.start(text, plans.GRAPH_INPUTS)
        request = stage.question(run)
        assert request["spec"]["context"] == {"release": "v1.4.0", "candidates": ["staging", "production"]}
        assert request["spec"]["responders"]["agents"] == "deny"
        assert stage.answer(request, plans.GRAPH_ANSWER).ok
        nodes = stage.finished(run)["nodes"]
        assert nodes[node]["output"] == plans.GRAPH_ANSWER
        assert nodes["deploy"]["output"] == {"environment": "staging"}
        assert nodes[other]["status"] == "Skipped"
        assert stage.resolved(request) == "Answered"

    def test_declined(self, stage, source):
        text, node, other = graph_plan(source)
        run = stage.start(text, plans.GRAPH_INPUTS)
        request = stage.question(run)
        assert stage.decline(request).ok
        status = stage.finished(run)
        assert (status["phase"], status["nodes"][other]["output"]) == ("Succeeded", {"expired": True})
        assert status["nodes"][node]["reason"] == "request_declined"
        assert stage.resolved(request) == "Declined"

    def test_expired(self, stage, source):
        text, node, other = graph_plan(source)
        run = stage.start(text.replace("72h", "1s"), plans.GRAPH_INPUTS)
        request = stage.question(run)
        nodes = stage.finished(run)["nodes"]
        assert nodes[other]["output"] == {"expired": True}
        assert nodes["deploy"]["status"] == "Skipped"
        assert "output" not in nodes[node]
        assert stage.resolved(request) == "Expired"

    def test_canceled(self, stage, source):
        text, _, _ = graph_plan(source)
        run = stage.start(text, plans.GRAPH_INPUTS)
        request = stage.question(run)
        assert stage.author.patch("planruns", run, {"spec": {"canceled": True}}).ok
        status = stage.finished(run)
        assert status["phase"] == "Canceled"
        assert {node["status"] for node in status["nodes"].values()} == {"Canceled"}
        assert stage.resolved(request) == "Canceled"

    def test_unattended(self, stage, source):
        text, _, other = graph_plan(source)
        run = stage.start(text, plans.GRAPH_INPUTS, attendance="Unattended")
        assert stage.finished(run)["nodes"][other]["output"] == {"expired": True}
        assert stage.requests(run) == []
