"""What an answer names must exist in the question's namespace: every kind, at every door."""

import json

import pytest

from support.stage import eventually

pytestmark = pytest.mark.cluster

KINDS = ("agent", "skill", "loop", "worktree", "session", "workspace", "secret")
CATALOGED = ("skill", "worktree", "session", "secret")
ASKS = """
graph:
  nodes:
    - id: choose
      class: control
      kind: ask
      params:
        prompt: "Which?"
        expect:
          type: object
          required: [named, list]
          properties:
            named:
              type: object
              properties:
"""
ASKS += "".join(f"                {kind}: {{ type: string, x-compozy-kind: {kind} }}\n" for kind in KINDS)
ASKS += """
            list: { type: array, items: { type: object, properties: { by: { $ref: "#/$defs/agent" } } } }
          $defs: { agent: { type: string, x-compozy-kind: agent } }
"""


def names(prefix):
    """A name of each kind; a secret is a reference, and no name of an object."""
    return {kind: f"{prefix}-{kind}" for kind in KINDS} | {"secret": f"vault:{prefix}/db"}


def make(admin, kind, name):
    """Make what a name of a kind stands for in a namespace."""
    if kind == "workspace":
        return admin.call("POST", "/api/v1/namespaces", {"metadata": {"name": name}}).object()
    head = {
        "apiVersion": "compozy.dev/v1alpha1",
        "metadata": {"name": name.replace("vault:", "").replace("/", "-")},
    }
    if kind == "agent":
        return admin.create("agents", {**head, "kind": "Agent"}).object()
    if kind == "loop":
        steps = [{"id": "E0", "tool_name": "exit", "input": {"status": "success"}}]
        return admin.create("plans", {**head, "kind": "Plan", "spec": {"steps": steps}}).object()
    return admin.create(
        "catalogentries", {**head, "kind": "CatalogEntry", "spec": {"kind": kind, "name": name}}
    ).object()


def make_all(admin, named, leave_out=()):
    for kind, name in named.items():
        if kind not in leave_out:
            make(admin, kind, name)


def rejection(stage, request):
    def handed_back():
        item = stage.admin.get("humanrequests", request["metadata"]["name"])
        return item["status"].get("lastRejection") if "response" not in item else None

    return eventually(handed_back, "the answer is handed back")


def test_names_of_every_kind_must_exist_here(without_webhook, stage, make_namespace):
    """Those of another namespace do not count, nor those of another kind."""
    elsewhere, here = make_namespace(), names("here")
    make_all(elsewhere.admin, here, leave_out=["workspace"])
    for kind, name in here.items():
        if kind in CATALOGED:
            other = CATALOGED[(CATALOGED.index(kind) + 1) % len(CATALOGED)]
            entry = {"kind": other, "name": name}
            manifest = {
                "apiVersion": "compozy.dev/v1alpha1",
                "kind": "CatalogEntry",
                "metadata": {"name": f"x-{kind}"},
            }
            stage.admin.create("catalogentries", {**manifest, "spec": entry}).object()
    run = stage.start(ASKS)
    request = stage.question(run)
    payload = {"named": here, "list": [{"by": "rita"}, {"by": "nobody"}]}
    faults = {*(f"named.{kind}" for kind in KINDS), "list.1.by"}

    told = stage.plugin("respond", request["metadata"]["name"], "--payload", json.dumps(payload), "-o", "json")
    assert told.returncode == 78
    error = json.loads(told.stdout)
    assert (error["code"], error["origin"], error["reason"]) == (
        "input_validation",
        "response",
        "unknown_reference",
    )
    # Whoever answers need not see the namespaces of the cluster; the operator does.
    assert set(error["details"]) == faults - {"named.workspace"}
    assert error["field"] == next(iter(error["details"]))

    assert stage.answer(request, payload).ok
    last = rejection(stage, request)
    assert (last["code"], set(last["fields"])) == ("input_validation", faults)
    assert stage.state(request) == "Pending"

    make_all(stage.admin, here)
    assert stage.answer(request, {"named": here, "list": [{"by": "rita"}]}).ok
    status = stage.finished(run)
    assert status["nodes"]["choose"]["output"]["named"] == here


@pytest.mark.parametrize("kind", KINDS)
def test_what_was_made_a_moment_ago_is_known(stage, kind):
    run = stage.start(ASKS)
    request = stage.question(run)
    name = f"vault:{stage.namespace}-late" if kind == "secret" else f"{stage.namespace}-late"
    make(stage.admin, kind, name)
    assert stage.answer(request, {"named": {kind: f"  {name} "}, "list": []}).ok
    assert stage.finished(run)["phase"] == "Succeeded"


def test_secrets_are_looked_up_by_name_alone(without_webhook, stage, operated):
    """The operator has no right to read a Secret of the namespace, so it cannot look at one."""
    secret = {"metadata": {"name": "vault-here-db"}, "stringData": {"password": "hunter2"}}
    path = f"/api/v1/namespaces/{stage.namespace}/secrets"
    stage.admin.call("POST", path, secret).object()
    assert operated.operator(stage.namespace).call("GET", path).status == 403
    run = stage.start(ASKS)
    request = stage.question(run)
    assert stage.answer(request, {"named": {"secret": "vault-here-db"}, "list": []}).ok
    assert set(rejection(stage, request)["fields"]) == {"named.secret"}
