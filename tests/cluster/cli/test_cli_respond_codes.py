"""Every code with which an answer can be refused: its exit code and its whole body, by the real API server."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml

from support.apiserver import User, run

from .conftest import Desk

pytestmark = pytest.mark.cluster

GOOD = ("--payload", '{"channel": "beta", "confirm": true}')
ENTITY = {
    "type": "object",
    "properties": {
        "assignments": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"reviewer": {"type": "string", "x-compozy-kind": "agent"}},
            },
        }
    },
}


def resolved(state: str) -> Callable[[Desk], str]:
    def prepare(desk: Desk) -> str:
        name = desk.open()
        status = {"state": state, "resolvedAt": "2026-05-01T12:00:00Z"}
        desk.operator.patch("humanrequests", name, {"status": status}, subresource="status").object()
        return name

    return prepare


def answered_by_bob(desk: Desk) -> str:
    name = desk.open()
    response = {"decision": "decline", "responder": "bob"}
    desk.bob.patch("humanrequests", name, {"response": response}).object()
    return name


def of_a_run_that_alice_started(desk: Desk) -> str:
    desk.alice.create("planruns", run("mine", planRef={"name": "any"}, startedBy="alice")).object()
    return desk.open(run="mine", responders={"initiator": "deny"})


def with_an_entity(desk: Desk) -> str:
    name = desk.open()
    question = desk.admin.get("humanrequests", name)
    metadata = {"name": f"{name}-entity"}
    spec = {**question["spec"], "expect": ENTITY}
    desk.operator.create("humanrequests", {**question, "metadata": metadata, "spec": spec}).object()
    return metadata["name"]


@dataclass
class Case:
    code: str
    exit_code: int
    prepare: Callable[[Desk], str]
    """Makes the question; returns its name."""
    words: tuple[str, ...] = GOOD
    details: dict[str, str] = field(default_factory=dict)
    """By path: a part of what is told."""
    extra: dict[str, str] = field(default_factory=dict)


CASES = [
    Case("request_not_found", 69, lambda _desk: "gone"),
    Case("request_already_answered", 65, answered_by_bob, details={"recorded_decision": "decline"}),
    Case("request_expired", 69, resolved("Expired")),
    Case("request_canceled", 69, resolved("Canceled")),
    Case(
        "request_validation_failed",
        78,
        Desk.open,
        ("--payload", '{"channel": "gold"}'),
        {"channel": "must be one of", "confirm": "required"},
    ),
    Case("request_validation_failed", 78, Desk.open, ("--payload", "[]"), {"payload": "object"}),
    Case(
        "input_validation",
        78,
        with_an_entity,
        ("--payload", '{"assignments": [{"reviewer": "nobody"}]}'),
        {"assignments.0.reviewer": "there is no agent"},
        {"origin": "response", "field": "assignments.0.reviewer", "reason": "unknown_reference"},
    ),
    Case("respond_not_permitted", 77, lambda desk: desk.open(responders={"users": ["bob"]})),
    Case("respond_self_denied", 77, of_a_run_that_alice_started),
    Case("bad_input", 65, Desk.open, ("--payload", "{")),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.code}-{case.exit_code}")
def test_a_refusal_has_its_code(desk: Desk, case: Case) -> None:
    name = case.prepare(desk)
    before = desk.admin.call("GET", desk.admin.path("humanrequests", name)).body
    error = desk.json("respond", name, *case.words, code=case.exit_code)
    assert {key: error[key] for key in ("ok", "code")} == {"ok": False, "code": case.code}
    assert error["message"]
    assert error["details"].keys() == case.details.keys()
    for path, told in case.details.items():
        assert told in error["details"][path]
    assert {key: error[key] for key in error.keys() - {"ok", "code", "message", "details"}} == case.extra
    # Nothing was written, so the question is as it was.
    assert desk.admin.call("GET", desk.admin.path("humanrequests", name)).body == before
    done = desk.call("respond", name, *case.words)
    assert (done.returncode, done.stdout) == (case.exit_code, "")
    (line,) = done.stderr.splitlines()
    assert line.startswith("error: ")
    assert line.endswith(f"[{case.code}]")


def agent(desk: Desk) -> User:
    """A ServiceAccount that may start runs and answer."""
    account = {"metadata": {"name": "bot"}}
    desk.admin.call("POST", f"/api/v1/namespaces/{desk.namespace}/serviceaccounts", account).object()
    for role in ("responder", "edit"):
        bound = desk.admin.kubectl(
            "create",
            "rolebinding",
            f"bot-{role}",
            f"--clusterrole=compozy-{role}",
            f"--serviceaccount={desk.namespace}:bot",
        )
        assert bound.returncode == 0, bound.stderr
    user = f"system:serviceaccount:{desk.namespace}:bot"
    return User(user, desk.api.cluster.service_account(desk.namespace, "bot"), desk.namespace)


def test_an_agent_and_its_own_run(desk: Desk) -> None:
    """It answers where agents may, and never what it has asked itself."""
    bot = agent(desk)
    bot.create("planruns", run("own", planRef={"name": "any"}, startedBy=bot.name)).object()
    desk.alice.create("planruns", run("other", planRef={"name": "any"}, startedBy="alice")).object()
    for of_run, agents, code in (
        ("own", "allow", "respond_self_denied"),
        ("own", "deny", "respond_self_denied"),
        ("other", "deny", "respond_not_permitted"),
    ):
        name = desk.open(run=of_run, responders={"agents": agents})
        assert desk.json("respond", name, *GOOD, user=bot, code=77)["code"] == code
        assert "response" not in desk.admin.get("humanrequests", name)
    allowed = desk.open(run="other", responders={"agents": "allow"})
    assert desk.json("respond", allowed, *GOOD, "--no-wait", user=bot)["provenance"]["responder"] == bot.name


def test_an_api_server_that_cannot_be_reached(desk: Desk, tmp_path: Path) -> None:
    config: Any = yaml.safe_load(desk.alice.kubeconfig.read_text())
    config["clusters"][0]["cluster"]["server"] = "https://127.0.0.1:9"
    nowhere = tmp_path / "config"
    nowhere.write_text(yaml.safe_dump(config))
    error = desk.json("respond", "any", *GOOD, "--kubeconfig", str(nowhere), code=69)
    assert (error["ok"], error["code"], error["details"]) == (False, "unreachable", {})


@pytest.mark.parametrize(
    "words",
    [
        ["--run", "r", "--node", "n", "--generation", "1"],
        ["--run", "r", "--node", "n", "--generation", "2", "--item", "1"],
        ["--run", "r,spec.node=n", "--node", "n", "--generation", "1", "--item", "1"],
    ],
)
def test_a_place_that_asks_nothing(desk: Desk, words: list[str]) -> None:
    desk.open(run="r", node="n", item=1)
    assert desk.json("respond", *words, *GOOD, code=69)["code"] == "request_not_found"


@pytest.mark.parametrize("words", [["--run", "r", "--node", "n"], ["name", "--run", "r"], []])
def test_a_question_must_be_named_in_full(desk: Desk, words: list[str]) -> None:
    """The generation is never guessed."""
    done = desk.call("respond", *words, *GOOD)
    assert done.returncode == 2
    assert "--generation G" in done.stderr


def test_kubectl_passes_a_refusal_on(desk: Desk) -> None:
    name = answered_by_bob(desk)
    done = desk.call("respond", name, *GOOD, "-o", "json", program=("kubectl", "compozy"))
    assert (done.returncode, json.loads(done.stdout)["code"]) == (65, "request_already_answered")
