"""Answering on a real API server: who wins, what is refused, what a person at a terminal sees."""

from __future__ import annotations

import json
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pexpect
import pytest

from support.apiserver import run
from support.proposals import put_for_review

from .conftest import BIN, Desk

pytestmark = pytest.mark.cluster

GOOD = ("--set", "channel=BETA", "--set", "confirm=yes")
PAYLOAD = {"channel": "beta", "confirm": True}


def state(desk: Desk, name: str) -> str:
    return str(desk.admin.get("humanrequests", name)["status"]["state"])


def test_an_answer_is_accepted(desk: Desk) -> None:
    name = desk.open(node="choose", item=4)
    with desk.operator_at_work():
        told = desk.json("respond", name, *GOOD, "--note", "tested")
    assert told == {
        "ok": True,
        "run": "release-7k2p",
        "node": "choose",
        "generation": 1,
        "item": 4,
        "decision": "respond",
        "state": "Answered",
        "provenance": {"responder": "alice", "answeredAt": "2026-05-01T12:00:00.000001Z"},
    }
    response = desk.admin.get("humanrequests", name)["response"]
    assert response == {"decision": "respond", "payload": PAYLOAD, "note": "tested", "responder": "alice"}


def test_by_its_place_from_stdin_through_kubectl(desk: Desk) -> None:
    name = desk.open(run="r", node="n", item=0)
    place = ["--run", "r", "--node", "n", "--generation", "1", "--item", "0"]
    with desk.operator_at_work():
        done = desk.call(
            "respond", *place, "--payload", "-", program=("kubectl", "compozy"), stdin=json.dumps(PAYLOAD)
        )
    assert (done.returncode, done.stdout) == (0, f"humanrequest/{name} answered\n")


def test_a_declined_question(desk: Desk) -> None:
    name = desk.open()
    with desk.operator_at_work():
        done = desk.call("respond", name, "--decline")
    assert (done.returncode, done.stdout) == (0, f"humanrequest/{name} declined\n")
    assert state(desk, name) == "Declined"


def test_without_an_operator_it_is_recorded(desk: Desk) -> None:
    name = desk.open()
    done = desk.call("respond", name, "--no-wait", *GOOD)
    assert (done.returncode, done.stdout) == (0, f"humanrequest/{name} answered\n")
    assert "has not taken it up yet" in done.stderr


def test_an_answer_to_a_paused_run_is_recorded_until_it_goes_on(desk: Desk) -> None:
    desk.alice.create("planruns", run("held", planRef={"name": "any"}, startedBy="alice", paused=True)).object()
    name = desk.open(run="held")
    done = desk.call("respond", name, *GOOD)
    assert (done.returncode, done.stdout) == (0, f"humanrequest/{name} answered\n")
    assert "Run held is paused" in done.stderr
    assert f"kubectl compozy resume held -n {desk.namespace}" in done.stderr


def test_null_in_a_payload_arrives(desk: Desk) -> None:
    """A merge patch would drop it."""
    name = desk.open()
    payload = {**PAYLOAD, "remark": None, "list": [None, {"deep": None}]}
    desk.json("respond", name, "--no-wait", "--payload", json.dumps(payload))
    assert desk.admin.get("humanrequests", name)["response"]["payload"] == payload


def test_the_same_answer_again_is_the_recorded_one(desk: Desk) -> None:
    name = desk.open()
    with desk.operator_at_work():
        first = desk.json("respond", name, *GOOD)
    version = desk.admin.get("humanrequests", name)["metadata"]["resourceVersion"]
    assert desk.json("respond", name, "--payload", json.dumps(PAYLOAD)) == first
    assert desk.admin.get("humanrequests", name)["metadata"]["resourceVersion"] == version
    noted = desk.call("respond", name, *GOOD, "--note", "too late")
    assert noted.stdout == f"humanrequest/{name} answered\n"
    assert noted.stderr == "Your answer was recorded before; this note was not added to it.\n"
    other = desk.json("respond", name, "--set", "channel=stable", "--set", "confirm=y", code=65)
    assert other["code"] == "request_already_answered"
    somebody_else = desk.json("respond", name, *GOOD, user=desk.bob, code=65)
    assert somebody_else["code"] == "request_already_answered"
    assert "by alice" in somebody_else["message"]
    assert somebody_else["details"] == {"recorded_decision": "respond"}


def test_one_of_many_wins(desk: Desk) -> None:
    name = desk.open()
    with desk.operator_at_work(), ThreadPoolExecutor(6) as pool:
        users = [desk.alice, desk.bob] * 3
        channels = ["stable", "beta", "nightly"] * 2
        done = list(
            pool.map(
                lambda one: desk.call(
                    "respond", name, "--set", f"channel={one[1]}", "--set", "confirm=y", "-o", "json", user=one[0]
                ),
                zip(users, channels, strict=True),
            )
        )
    told = [json.loads(one.stdout) for one in done]
    assert Counter(one.returncode for one in done) == {0: 1, 65: 5}
    assert Counter(one.get("code") for one in told) == {None: 1, "request_already_answered": 5}
    (winner,) = [one for one in told if one["ok"]]
    recorded = desk.admin.get("humanrequests", name)["response"]
    assert recorded["responder"] == winner["provenance"]["responder"]


def test_an_operator_that_writes_all_the_time_is_no_obstacle(desk: Desk) -> None:
    """Every write of the status makes the version that was read stale."""
    name = desk.open()
    noise = iter(range(10_000))

    def busy() -> None:
        for number in noise:
            if "response" in desk.admin.get("humanrequests", name):
                return
            condition = {
                "type": "Ready",
                "status": "True",
                "reason": "Noise",
                "message": str(number),
                "lastTransitionTime": "2026-05-01T12:00:00Z",
            }
            status = {"conditions": [condition]}
            desk.operator.patch("humanrequests", name, {"status": status}, subresource="status")

    with ThreadPoolExecutor(1) as pool:
        writing = pool.submit(busy)
        told = desk.json("respond", name, "--no-wait", *GOOD)
        assert told["ok"]
        writing.result()
    assert desk.admin.get("humanrequests", name)["response"]["payload"] == PAYLOAD


@pytest.mark.parametrize(("final", "code"), [("Expired", "request_expired"), ("Canceled", "request_canceled")])
def test_too_late(desk: Desk, final: str, code: str) -> None:
    name = desk.open()
    status = {"state": final, "resolvedAt": "2026-05-01T12:00:00Z"}
    desk.operator.patch("humanrequests", name, {"status": status}, subresource="status").object()
    assert desk.json("respond", name, *GOOD, code=69)["code"] == code


@pytest.mark.parametrize(
    ("words", "code", "exit_code", "details"),
    [
        (["--payload", "{"], "bad_input", 65, []),
        ([], "bad_input", 65, []),
        (["--payload", "{}"], "request_validation_failed", 78, ["channel", "confirm"]),
        (["--set", "channel=gold"], "request_validation_failed", 78, ["channel"]),
        (["--decision", "approve"], "request_validation_failed", 78, ["decision"]),
        (["--decline", "--payload", "{}"], "bad_input", 65, []),
        (["--decision", "edit"], "request_validation_failed", 78, ["decision"]),
        (["--decision", "edit", "--set", "channel=beta"], "request_validation_failed", 78, ["decision"]),
        (["--decision", "RESPOND", *GOOD], "request_validation_failed", 78, ["decision"]),
        (["--set", "Channel=beta"], "bad_input", 65, ["Channel"]),
        ([*GOOD, "--note", "n" * 5000], "request_validation_failed", 78, ["note"]),
    ],
)
def test_what_does_not_fit_leaves_the_question_open(
    desk: Desk, words: list[str], code: str, exit_code: int, details: list[str]
) -> None:
    name = desk.open()
    error = desk.json("respond", name, *words, code=exit_code)
    assert (error["ok"], error["code"], list(error["details"])) == (False, code, details)
    assert "response" not in desk.admin.get("humanrequests", name)


def test_an_answer_that_the_operator_hands_back(desk: Desk) -> None:
    name = desk.open()
    with desk.operator_at_work(lambda _question: None):
        error = desk.json("respond", name, *GOOD, code=78)
    assert (error["code"], error["details"]) == ("request_validation_failed", {"channel": "is not open today"})
    assert "Handed back: request_validation_failed, answer of alice" in desk.call("request", name).stdout


def test_an_entity_that_does_not_exist(desk: Desk) -> None:
    name = f"{desk.open()}-entity"
    reviewer = {"type": "string", "x-compozy-kind": "agent"}
    assignment = {"type": "object", "required": ["reviewer"], "properties": {"reviewer": reviewer}}
    expect = {"type": "object", "properties": {"assignment": assignment}}
    manifest = desk.admin.get("humanrequests", name.removesuffix("-entity"))
    manifest = {
        **{key: manifest[key] for key in ("apiVersion", "kind")},
        "metadata": {"name": name},
        "spec": {**manifest["spec"], "expect": expect},
    }
    desk.operator.create("humanrequests", manifest).object()
    error = desk.json("respond", name, "--set", "assignment.reviewer=rita", code=78)
    assert (error["code"], error["origin"], error["field"]) == (
        "input_validation",
        "response",
        "assignment.reviewer",
    )
    agent = {"apiVersion": "compozy.dev/v1alpha1", "kind": "Agent", "metadata": {"name": "rita"}}
    desk.admin.create("agents", agent).object()
    assert desk.json("respond", name, "--set", "assignment.reviewer=rita", "--no-wait")["ok"]


@pytest.mark.parametrize(
    ("responders", "user"),
    [({"users": ["bob"]}, "alice"), ({"groups": ["nobody"]}, "alice"), ({}, "eve")],
)
def test_who_may_not_answer(desk: Desk, responders: dict[str, Any], user: str) -> None:
    name = desk.open(responders=responders)
    error = desk.json("respond", name, *GOOD, user=getattr(desk, user), code=77)
    assert error["code"] == "respond_not_permitted"
    assert "response" not in desk.admin.get("humanrequests", name)


def test_somebody_else_s_name_is_never_recorded(desk: Desk) -> None:
    """An administrator who acts as alice is alice; nobody writes a name that is not theirs."""
    name = desk.open()
    told = desk.json("respond", name, *GOOD, "--no-wait", "--as", "alice", "--as-group", "desk", user=desk.admin)
    assert told["provenance"]["responder"] == "alice"


def test_at_a_terminal_the_fields_are_asked_for(desk: Desk) -> None:
    name = desk.open(node="E0")
    with desk.operator_at_work():
        shell = desk.terminal("respond", name)
        shell.expect_exact("? Where should 1.2.0 deploy? [E0]")
        shell.expect_exact("channel — Release channel [stable | beta | nightly]: ")
        shell.sendline("gold")
        shell.expect_exact("try again")
        shell.sendline("NIGHTLY")
        shell.expect_exact("confirm — Really cut it? [y/n]: ")
        shell.sendline("yes")
        shell.expect_exact(f"humanrequest/{name} answered")
        shell.expect(pexpect.EOF)
    shell.close()
    assert shell.exitstatus == 0
    response = desk.admin.get("humanrequests", name)["response"]
    assert response["payload"] == {"channel": "nightly", "confirm": True}


def test_a_form_of_all_kinds_at_a_terminal_and_with_flags(desk: Desk) -> None:
    tags = {
        "type": "array",
        "minItems": 1,
        "items": {"anyOf": [{"const": "fix", "title": "Bug fix"}, {"const": "docs"}]},
    }
    group = {
        "required": ["name"],
        "properties": {"name": {"type": "string"}, "urgent": {"type": "boolean", "default": True}},
    }
    either = {"oneOf": [{"type": "array"}, {"type": "object"}]}
    properties = {"a": {"enum": ["x", "y"], "default": "y"}, "b": tags, "c": group, "d": group, "e": either}
    schema = {"type": "object", "required": ["a", "b", "c", "e"], "properties": properties}
    answer = {"a": "y", "b": ["docs", "fix"], "c": {"name": "bob", "urgent": True}, "e": [1]}
    name = desk.open(expect=schema)
    shell = desk.terminal("respond", name, "--no-wait")
    for prompt, typed in (
        ("a [x | y] (Enter = y): ", ""),
        ("b [at least 1 of fix (Bug fix) | docs, with commas", "docs, bug fix"),
        ("c.name [text]: ", "bob"),
        ("c.urgent [y/n] (Enter = true): ", ""),
        ("d.name [text]: ", ""),
        ("d.urgent [y/n] (Enter = true): ", ""),
        ('{"type": "object"}]}: ', "3"),
        ("try again", "[1]"),
    ):
        shell.expect_exact(prompt)
        shell.sendline(typed)
    shell.expect(pexpect.EOF)
    shell.close()
    assert shell.exitstatus == 0
    assert desk.admin.get("humanrequests", name)["response"]["payload"] == answer
    other = desk.open(expect=schema)
    flags = ("a=y", "b=docs,bug fix", "c.name=bob", "c.urgent=true", "e=[1]")
    desk.json("respond", other, "--no-wait", *(part for flag in flags for part in ("--set", flag)))
    assert desk.admin.get("humanrequests", other)["response"]["payload"] == answer


@pytest.mark.parametrize(
    ("key", "exit_code", "decision"), [("\r", 0, "decline"), ("\x04", 65, None), ("\x03", 130, None)]
)
def test_ways_not_to_answer_at_a_terminal(desk: Desk, key: str, exit_code: int, decision: str | None) -> None:
    """A blank line declines; the end of input and Ctrl-C leave the question open."""
    name = desk.open()
    shell = desk.terminal("respond", name, "--no-wait")
    shell.expect_exact("nightly]: ")
    shell.send(key)
    shell.expect(pexpect.EOF)
    shell.close()
    assert shell.exitstatus == exit_code
    response = desk.admin.get("humanrequests", name).get("response")
    assert (response or {}).get("decision") == decision


def open_review(desk: Desk, proposal: dict[str, Any]) -> str:
    """A question about an action with these parameters, as the operator puts it."""
    name = f"{desk.open()}-review"
    spec = {
        "run": "rel",
        "generation": 1,
        "node": "publish",
        **put_for_review(proposal)["spec"],
        "decisions": ["approve", "edit", "reject", "respond"],
    }
    manifest = {
        "apiVersion": "compozy.dev/v1alpha1",
        "kind": "HumanRequest",
        "metadata": {"name": name},
        "spec": spec,
    }
    desk.operator.create("humanrequests", manifest).object()
    return name


def test_a_review_is_decided_first(desk: Desk) -> None:
    name = open_review(desk, {"tag": "1.2.0", "force": False})
    error = desk.json("respond", name, code=78)
    assert error["details"] == {"decision": "required"}
    shell = desk.terminal("respond", name, "--no-wait")
    shell.expect_exact('"tag": "1.2.0"')
    shell.expect_exact("[approve | edit | reject | respond]: ")
    shell.sendline("edit")
    shell.expect_exact("force [y/n] (Enter = false): ")
    shell.sendline("")
    shell.expect_exact("tag [text] (Enter = 1.2.0): ")
    shell.sendline("1.2.1")
    shell.expect(pexpect.EOF)
    shell.close()
    response = desk.admin.get("humanrequests", name)["response"]
    assert (response["decision"], response["payload"]) == ("edit", {"tag": "1.2.1", "force": False})


def test_an_edit_by_flags_changes_what_is_proposed(desk: Desk) -> None:
    name = open_review(desk, {"tag": "1.2.0", "force": False, "api_key": "k-123456"})
    edit = ("respond", name, "--no-wait", "--decision", "edit", "--set", "tag=1.2.1")
    error = desk.json(*edit, code=65)
    assert error["details"] == {"api_key": "is not shown in full"}
    assert "give api_key with --set as well, or give all of it with --payload JSON" in error["message"]
    assert "response" not in desk.admin.get("humanrequests", name)
    copied = desk.json(*edit, "--set", "api_key=[REDACTED]", code=78)
    assert list(copied["details"]) == ["api_key"]
    desk.json(*edit, "--set", "api_key=k-654321")
    response = desk.admin.get("humanrequests", name)["response"]
    assert response["payload"] == {"tag": "1.2.1", "force": False, "api_key": "k-654321"}


def test_the_namespace_and_the_cluster_of_the_context_are_used(desk: Desk, tmp_path: Any) -> None:
    import subprocess

    import yaml

    config = yaml.safe_load(desk.alice.kubeconfig.read_text())
    here, user = config["clusters"][0]["name"], config["users"][0]["name"]
    config["clusters"].append({"name": "away", "cluster": {"server": "https://127.0.0.1:9"}})
    config["contexts"] = [
        {"name": "desk", "context": {"cluster": here, "user": user, "namespace": desk.namespace}},
        {"name": "away", "context": {"cluster": "away", "user": user}},
    ]
    config["current-context"] = "away"
    file = tmp_path / "config"
    file.write_text(yaml.safe_dump(config))
    name = desk.open()

    def names(*flags: str) -> tuple[int, str]:
        command = [str(BIN / "kubectl-compozy"), "requests", "-o", "name", *flags]
        environ = {**desk.environment(desk.alice), "KUBECONFIG": str(file)}
        done = subprocess.run(command, env=environ, capture_output=True, text=True, check=False, timeout=60)
        return done.returncode, done.stdout or done.stderr

    assert names("--context", "desk") == (0, f"humanrequest/{name}\n")
    code, told = names()
    assert (code, told) == (69, "error: cannot reach https://127.0.0.1:9: Connection refused [unreachable]\n")


def test_at_a_terminal_names_are_chosen_from_those_that_there_are(desk: Desk) -> None:
    """Of this namespace, by whoever may answer; what is not there is refused while the person is still there."""
    for number, name in enumerate(("rita", "sue")):
        agent = {"apiVersion": "compozy.dev/v1alpha1", "kind": "Agent", "metadata": {"name": name}}
        desk.admin.create("agents", agent).object()
        entry = {"kind": "secret", "name": f"vault:db/{number}", "description": "not shown"}
        manifest = {**agent, "kind": "CatalogEntry", "metadata": {"name": f"db-{number}"}, "spec": entry}
        desk.admin.create("catalogentries", manifest).object()
    fields = {
        "reviewer": {"type": "string", "x-compozy-kind": "agent"},
        "secret": {"type": "string", "x-compozy-kind": "secret"},
    }
    expect = {"type": "object", "required": ["reviewer", "secret"], "properties": fields}
    name = desk.open()
    manifest = desk.admin.get("humanrequests", name)
    head = {key: manifest[key] for key in ("apiVersion", "kind")}
    spec = {**manifest["spec"], "expect": expect, "context": {}}
    desk.operator.create("humanrequests", {**head, "metadata": {"name": f"{name}-names"}, "spec": spec}).object()
    only_answers = desk.api.user("ann", desk.namespace, ["desk-responders"])
    bound = desk.admin.kubectl(
        "create", "rolebinding", "ann", "--clusterrole=compozy-responder", "--group=desk-responders"
    )
    assert bound.returncode == 0, bound.stderr
    deadline = time.monotonic() + 60
    while not only_answers.call("GET", only_answers.path("agents")).ok:
        assert time.monotonic() < deadline, "RBAC is not in force"
        time.sleep(0.05)
    shell = desk.terminal("respond", f"{name}-names", "--no-wait", user=only_answers)
    shell.expect_exact("reviewer [rita | sue]: ")
    shell.sendline("bob")
    shell.expect_exact("there is no agent of that name here; try again")
    shell.sendline("sue")
    shell.expect_exact("secret [vault:db/0 | vault:db/1]: ")
    shell.sendline("vault:db/1")
    shell.expect(pexpect.EOF)
    shell.close()
    assert shell.exitstatus == 0
    response = desk.admin.get("humanrequests", f"{name}-names")["response"]
    assert response["payload"] == {"reviewer": "sue", "secret": "vault:db/1"}
