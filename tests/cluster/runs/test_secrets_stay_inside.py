"""Where text of a run is told to others, secrets are taken out of it: questions, Events, statuses, the log."""

import json

import pytest

from support.operated import OWN_SECRET
from support.stage import eventually

pytestmark = pytest.mark.cluster

TOKEN = "ghp_" + "abcdefghijklmnopqrstuvwxyz"
SECRETS = (TOKEN, "hunter2", OWN_SECRET)

FAILING = """
steps:
  - id: E0
    tool_name: ask
    input: { prompt: "Use {{input.config.missing}}?", output_schema: { properties: { x: { type: string } } } }
"""
TELLING = """
steps:
  - id: E0
    tool_name: ask
    input:
      prompt: "With password=hunter2 or {{input.token}} or {{input.own}}?"
      output_schema: { properties: { x: { type: string } } }
"""
PICKY = """
graph:
  nodes:
    - id: choose
      class: control
      kind: ask
      params:
        prompt: "Who?"
        context:
          note: "{{ .inputs.token }}"
          password: plain
          own: "{{ .inputs.own }}"
          file: "{{ .inputs.file }}"
        expect:
          type: object
          properties: { who: { type: string, x-compozy-kind: agent }, count: { type: integer } }
          additionalProperties: false
    - id: keep
      class: action
      kind: transform
      params: { map: { token: { value: "{{ .inputs.token }}" }, given: { template: "{{ .inputs.token }}" } } }
  edges: [{ from: choose, to: keep }]
"""


def told(stage, operator_log):
    """Everything that is told of the runs of a namespace, apart from what they were given and have come to."""
    events = stage.admin.call("GET", f"/api/v1/namespaces/{stage.namespace}/events").object()["items"]
    runs = stage.admin.call("GET", stage.admin.path("planruns")).object()["items"]
    requests = stage.admin.call("GET", stage.admin.path("humanrequests")).object()["items"]
    messages = [
        [
            run["status"].get("conditions"),
            [node.get("message") for node in run["status"].get("nodes", {}).values()],
        ]
        for run in runs
    ]
    questions = [[item["spec"], item["status"]] for item in requests]
    return json.dumps([events, messages, questions]) + operator_log.read_text()


def event(stage, name, reason):
    """The message of an Event about an object, once it is told."""
    path = f"/api/v1/namespaces/{stage.namespace}/events"

    def found():
        items = stage.admin.call("GET", path, fieldSelector=f"involvedObject.name={name},reason={reason}").object()
        return items["items"] and items["items"][0]["message"]

    return eventually(found, f"{reason} of {name} is told")


def holds_no_secret(stage, operator_log):
    text = told(stage, operator_log)
    assert [secret for secret in SECRETS if secret in text] == []
    return text


def test_a_template_that_fails_over_data_with_a_secret(stage, operator_log):
    run = stage.start(FAILING, {"config": {TOKEN: 1, OWN_SECRET: 2, "password=hunter2": 3}})
    status = stage.finished(run)
    assert status["phase"] == "Failed"
    message = status["nodes"]["E0"]["message"]
    assert "[REDACTED]" in message
    assert "missing" in message
    assert "[REDACTED]" in event(stage, run, "RunFailed")
    holds_no_secret(stage, operator_log)


def test_a_question_with_secrets_that_nobody_answers(stage, operator_log):
    inputs = {"token": TOKEN, "own": OWN_SECRET}
    run = stage.start(TELLING, inputs)
    request = stage.question(run)
    assert request["spec"]["prompt"] == "With password=[REDACTED] or [REDACTED] or [REDACTED]?"
    assert stage.decline(request).ok
    status = stage.finished(run)
    assert "With password=[REDACTED]" in status["nodes"]["E0"]["message"]
    assert "With password=[REDACTED]" in event(stage, run, "RunFailed")
    assert "[REDACTED]" in event(stage, request["metadata"]["name"], "RequestOpened")
    shown = stage.plugin("request", request["metadata"]["name"])
    assert shown.returncode == 0
    assert not [secret for secret in SECRETS if secret in shown.stdout]
    holds_no_secret(stage, operator_log)


def test_answers_that_do_not_fit_and_hold_secrets(without_webhook, stage, operator_log):
    run = stage.start(PICKY, {"token": TOKEN, "own": OWN_SECRET, "file": "x" * 20_000})
    request = stage.question(run)
    name = request["metadata"]["name"]
    shown = request["spec"]["context"]
    assert shown == {"note": "[REDACTED]", "password": "[REDACTED]", "own": "[REDACTED]", "file": "x" * 20_000}
    for payload, code, path in (
        ({TOKEN: 1, "count": "hunter2"}, "request_validation_failed", "[REDACTED]"),
        ({"who": TOKEN}, "input_validation", "who"),
        ({"who": OWN_SECRET}, "input_validation", "who"),
        ({OWN_SECRET: TOKEN}, "request_validation_failed", "[REDACTED]"),
    ):
        before = stage.admin.get("humanrequests", name)["status"].get("lastRejection")
        assert stage.answer(request, payload).ok
        item = eventually(lambda known=before: handed_back(stage, name, known), "the answer is handed back")
        last = item["status"]["lastRejection"]
        assert last["code"] == code
        assert path in last["fields"]
    assert "[REDACTED]" in event(stage, name, "AnswerRejected")
    holds_no_secret(stage, operator_log)
    refused = stage.plugin("respond", name, "--payload", json.dumps({TOKEN: 1, "who": "password=hunter2"}))
    assert refused.returncode == 78
    assert not [secret for secret in SECRETS if secret in refused.stdout + refused.stderr]
    assert stage.answer(request, {"who": "rita"}).ok
    assert stage.finished(run)["nodes"]["keep"]["output"] == {"token": "{{ .inputs.token }}", "given": TOKEN}


def handed_back(stage, name, before):
    item = stage.admin.get("humanrequests", name)
    last = item["status"].get("lastRejection")
    return item if "response" not in item and last and last != before else None


def test_labels_of_metrics_are_not_made_of_data(stage, operator):
    run = stage.start(TELLING, {"token": TOKEN, "own": OWN_SECRET})
    assert stage.decline(stage.question(run)).ok
    stage.finished(run)
    lines = [line for line in operator.metrics().splitlines() if line and not line.startswith("#")]
    assert not [line for line in lines if stage.namespace in line or run in line or "E0" in line]
