"""Reviews on a cluster: the four decisions, and parameters that nobody but the operator sees or changes."""

import base64
import json
from pathlib import Path

import pytest

from compozy.api.identity import OPERATOR_NAMESPACE, OPERATOR_USER
from support.stage import eventually

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(300)]
PUBLISH = (Path(__file__).parents[3] / "examples" / "publish.yaml").read_text()
TOKEN = "ghp_" + "a1B2c3D4" * 5
SECRETS = f"/api/v1/namespaces/{OPERATOR_NAMESPACE}/secrets"


def url(tag):
    return f"https://releases.example/{tag}"


def decide(stage, request, decision, **more):
    response = {"decision": decision, "responder": stage.person.name, **more}
    return stage.person.patch("humanrequests", request["metadata"]["name"], {"response": response})


def proposals(stage, run):
    """The parameters that are kept of a run."""
    uid = stage.run(run)["metadata"]["uid"]
    return stage.admin.call("GET", SECRETS, labelSelector=f"compozy.dev/proposal={uid}").object()["items"]


DECISIONS = {
    "approve": ({}, {"tag": "v1", "release_url": url("v1")}, None),
    "edit": (
        {"payload": {"tag": "v2", "release_url": url("v2")}},
        {"tag": "v2", "release_url": url("v2")},
        None,
    ),
    "reject": ({}, None, {"repaired": True}),
    "respond": (
        {"payload": {"tag": "v1", "release_url": url("mirror")}},
        {"tag": "v1", "release_url": url("mirror")},
        None,
    ),
}


@pytest.mark.parametrize("decision", DECISIONS)
@pytest.mark.parametrize("door", ["plugin", "patch"])
def test_publishing_after_a_review(stage, decision, door):
    more, published, repaired = DECISIONS[decision]
    run = stage.start(PUBLISH, {"tag": "v1"})
    request = stage.question(run)
    assert request["spec"]["decisions"] == ["approve", "edit", "reject", "respond"]
    assert request["spec"]["proposedPreview"] == {"tag": "v1", "release_url": url("v1")}
    assert request["spec"]["proposalDigest"].startswith("sha256:")
    if door == "plugin":
        payload = ["--payload", json.dumps(more["payload"])] if more else []
        name = request["metadata"]["name"]
        told = stage.plugin_json("respond", name, "--decision", decision, "--note", "seen", *payload)
        assert told["ok"], told
    else:
        assert decide(stage, request, decision, **more).ok
    status = stage.finished(run)
    assert status["output"] == {"published": published, "repaired": repaired}
    assert stage.resolved(request) == "Answered"
    eventually(lambda: not proposals(stage, run), "the parameters are not kept any longer")


@pytest.mark.parametrize("decision", ["edit", "respond"])
def test_a_replacement_that_does_not_fit_leaves_the_review_open(stage, decision):
    run = stage.start(PUBLISH, {"tag": "v1"})
    request = stage.question(run)
    refused = stage.plugin_json(
        "respond", request["metadata"]["name"], "--decision", decision, "--payload", '{"tag": 1}'
    )
    assert (refused["ok"], refused["code"]) == (False, "request_validation_failed")
    assert {"tag", "release_url"} <= refused["details"].keys()
    assert stage.state(request) == "Pending"
    assert decide(stage, request, "approve").ok
    assert stage.finished(run)["phase"] == "Succeeded"


def test_nobody_is_asked_where_no_review_is_wanted(stage):
    run = stage.start(PUBLISH, {"tag": "v1", "environment": "staging"})
    assert stage.finished(run)["output"]["published"] == {"tag": "v1", "release_url": url("v1")}
    assert stage.requests(run) == []


def test_the_exact_parameters_are_private_and_run_as_they_are(stage):
    run = stage.start(PUBLISH, {"tag": TOKEN})
    request = stage.question(run)
    assert TOKEN not in json.dumps(request)
    [secret] = proposals(stage, run)
    kept = json.loads(base64.b64decode(secret["data"]["parameters.json"]))
    assert kept == {"tag": TOKEN, "release_url": url(TOKEN)}
    assert secret["immutable"] is True
    for who in (stage.person, stage.author):
        assert who.call("GET", f"{SECRETS}/{secret['metadata']['name']}").status == 403
    operator = stage.api.user(OPERATOR_USER, stage.namespace)
    assert operator.call("GET", f"{SECRETS}/{secret['metadata']['name']}").ok
    assert operator.call("GET", f"/api/v1/namespaces/{stage.namespace}/secrets").status == 403
    assert decide(stage, request, "approve").ok
    assert stage.finished(run)["output"]["published"] == kept


def test_parameters_that_are_not_those_that_were_approved_never_run(operator, stage):
    run = stage.start(PUBLISH, {"tag": "v1"})
    request = stage.question(run)
    [secret] = proposals(stage, run)
    path = f"{SECRETS}/{secret['metadata']['name']}"
    stage.admin.call("DELETE", path).object()
    data = {"parameters.json": base64.b64encode(b'{"tag":"v666","release_url":"x"}').decode()}
    metadata = {"name": secret["metadata"]["name"], "labels": secret["metadata"]["labels"]}
    body = {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "data": data}
    stage.admin.call("POST", SECRETS, body).object()
    assert decide(stage, request, "approve").ok
    status = stage.finished(run)
    assert (status["phase"], status["nodes"]["publish"]["reason"]) == ("Failed", "proposal_changed")


def test_parameters_that_are_not_kept_any_more_are_the_same_when_made_again(operator, stage):
    run = stage.start(PUBLISH, {"tag": "v1"})
    request = stage.question(run)
    [secret] = proposals(stage, run)
    stage.admin.call("DELETE", f"{SECRETS}/{secret['metadata']['name']}").object()
    operator.stop()
    assert decide(stage, request, "approve").ok
    operator.start()
    assert stage.finished(run)["output"]["published"] == {"tag": "v1", "release_url": url("v1")}


def test_a_review_that_expires_never_approves(stage):
    for route in (True, False):
        text = PUBLISH.replace("after: 72h", "after: 1s")
        text = (
            text
            if route
            else text.replace(", route: repair_release }\n    - id: announce", " }\n    - id: announce")
        )
        run = stage.start(text, {"tag": "v1"})
        status = stage.finished(run)
        assert status["nodes"]["publish"].get("output") is None
        assert status["phase"] == ("Succeeded" if route else "Failed")
        assert stage.state(stage.requests(run)[0]) == "Expired"
        assert status["nodes"]["publish"]["reason"] == ("request_expired" if route else "request_unavailable")


LANES = """
graph:
  nodes:
    - { id: each, class: control, kind: fan-out, collection: [a, b, c], max_fan_out: 3, strategy: {kind: best_effort, threshold: {count: 2}} }
    - { id: ship, class: action, kind: transform, params: { map: { what: { from: item } } }, review: { decisions: [approve, edit, reject] } }
    - { id: all, class: control, kind: collect }
    - { id: end, class: action, kind: transform, params: { map: { shipped: { from: nodes.ship.items } } } }
  edges: [{ from: each, to: ship }, { from: ship, to: all }, { from: all, to: end }]
output: "{{ .nodes.end.output }}"
"""  # noqa: E501


def test_reviews_in_lanes_are_decided_one_by_one(stage):
    run = stage.start(LANES)
    eventually(lambda: len(stage.requests(run)) == 3, "every lane asks")
    requests = {request["spec"]["item"]: request for request in stage.requests(run)}
    assert {item: request["spec"]["proposedPreview"]["what"] for item, request in requests.items()} == {
        0: "a", 1: "b", 2: "c",
    }  # fmt: skip
    told = stage.plugin_json(
        "respond", "--run", run, "--node", "ship", "--generation", "1", "--item", "1", "--decision", "reject"
    )
    assert told.get("item") == 1, told
    assert {stage.state(requests[item]) for item in (0, 2)} == {"Pending"}
    assert decide(stage, requests[2], "edit", payload={"what": "z"}).ok
    assert decide(stage, requests[0], "approve").ok
    shipped = {item["index"]: item for item in stage.finished(run)["output"]["shipped"]}
    assert {index: item["output"] for index, item in shipped.items()} == {
        0: {"what": "a"},
        1: None,
        2: {"what": "z"},
    }
