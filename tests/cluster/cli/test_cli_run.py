"""Starting and following runs on a real API server; the test plays the operator, step by step."""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pexpect
import pytest

from .conftest import SECONDS, Desk, accept

pytestmark = pytest.mark.cluster

PLAN = """
identifier: release
input_schema:
  type: object
  required: [version]
  properties: {version: {type: string}}
steps:
  - id: E0
    tool_name: ask
    input:
      prompt: "Which channel?"
      output_schema: {type: object, required: [channel], properties: {channel: {enum: [stable, beta]}}}
"""
EXPECT = {"type": "object", "required": ["channel"], "properties": {"channel": {"enum": ["stable", "beta"]}}}
DECISIONS = ["respond", "decline", "unavailable"]


class Play:
    """The operator's part in one run."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        self.name = ""

    def seize(self) -> dict[str, Any]:
        """The run that has been created."""
        deadline = time.monotonic() + SECONDS
        while True:
            items = self.desk.admin.call("GET", self.desk.admin.path("planruns")).object()["items"]
            if items:
                self.name = items[0]["metadata"]["name"]
                return dict(items[0])
            assert time.monotonic() < deadline, "no run was created"
            time.sleep(0.05)

    def status(self, **fields: Any) -> None:
        self.desk.operator.patch("planruns", self.name, {"status": fields}, subresource="status").object()

    def ask(self, name: str = "ask", **spec: Any) -> str:
        made = f"{self.name}-{name}"
        self.desk.open(made, **{"run": self.name, "node": "E0", "decisions": DECISIONS, **spec})
        return made

    def wait(self, name: str, resolve: bool = True) -> dict[str, Any]:
        """The response to a question, which is then accepted."""
        deadline = time.monotonic() + SECONDS
        while True:
            question = self.desk.admin.get("humanrequests", name)
            if "response" in question:
                if resolve:
                    patch = {"status": dict(accept(question))}
                    self.desk.operator.patch("humanrequests", name, patch, subresource="status").object()
                return dict(question["response"])
            assert time.monotonic() < deadline, "nobody answered"
            time.sleep(0.05)

    def succeed(self, **fields: Any) -> None:
        self.status(phase="Succeeded", stepsExecuted=1, **fields)


@pytest.fixture
def plan(tmp_path: Path) -> str:
    file = tmp_path / "plan.yaml"
    file.write_text(PLAN)
    return str(file)


@pytest.fixture
def play(desk: Desk) -> Iterator[Callable[[Callable[[Play], Any]], Future[Any]]]:
    """Plays a part beside the test."""
    with ThreadPoolExecutor(1) as pool:

        def begin(part: Callable[[Play], Any]) -> Future[Any]:
            def whole() -> Any:
                player = Play(desk)
                player.seize()
                return part(player)

            return pool.submit(whole)

        yield begin


RUN = ("--input", "version=1.4.0")


def test_without_a_terminal_a_run_is_unattended_and_followed(desk: Desk, plan: str, play: Any) -> None:
    part = play(lambda operator: operator.succeed(output={"channel": "beta"}) or operator.seize())
    done = desk.call("run", "-f", plan, *RUN)
    assert (done.returncode, json.loads(done.stdout), done.stderr) == (0, {"channel": "beta"}, "")
    run = part.result()
    assert run["metadata"]["name"].startswith("release-")
    assert run["spec"]["attendance"] == "Unattended"
    assert run["spec"]["startedBy"] == "alice"
    assert run["spec"]["inputs"] == {"version": "1.4.0"}
    assert run["spec"]["plan"]["steps"][0]["id"] == "E0"


def test_the_envelope_of_a_failed_run(desk: Desk, plan: str, play: Any) -> None:
    condition = {
        "type": "Succeeded",
        "status": "False",
        "reason": "Failed",
        "message": "plan failed at step E0 (ask): unavailable",
        "lastTransitionTime": "2026-05-01T12:00:00Z",
    }
    play(lambda operator: operator.status(phase="Failed", conditions=[condition]))
    done = desk.call("run", "-f", plan, *RUN, "-o", "json")
    envelope = json.loads(done.stdout)
    assert done.returncode == 1
    assert (envelope["phase"], envelope["plan"], envelope["output"]) == ("Failed", "release", None)
    assert done.stderr.endswith("failed: plan failed at step E0 (ask): unavailable\n")


def test_an_error_gate_has_its_own_exit_code(desk: Desk, plan: str, play: Any) -> None:
    fired = {"status": "error", "message": "not today", "step": "E1", "output": {"why": 1}}
    play(lambda operator: operator.status(phase="Failed", exit=fired))
    done = desk.call("run", "-f", plan, *RUN)
    assert (done.returncode, json.loads(done.stdout), done.stderr) == (4, {"why": 1}, "✗ not today\n")


def test_detached_it_returns_at_once_and_people_can_be_asked(desk: Desk, plan: str) -> None:
    started = desk.json("run", "-f", plan, *RUN, "--detach")
    assert list(started) == ["run"]
    assert "attendance" not in desk.admin.get("planruns", started["run"])["spec"]
    done = desk.call("run", "-f", plan, *RUN, "--detach", "--name", "mine", "--attendance", "unattended")
    assert done.stdout == "planrun/mine started\n"
    assert desk.admin.get("planruns", "mine")["spec"]["attendance"] == "Unattended"


@pytest.mark.parametrize(
    ("words", "told"), [([], "version: is required"), (["--inputs", '{"version": 1}'], "version: must be")]
)
def test_inputs_that_do_not_fit_create_nothing(desk: Desk, plan: str, words: list[str], told: str) -> None:
    done = desk.call("run", "-f", plan, *words)
    assert (done.returncode, done.stdout) == (3, "")
    lines = done.stderr.splitlines()
    assert lines[0].startswith(told)
    assert json.loads(lines[1].removeprefix("schema: "))["required"] == ["version"]
    error = desk.json("run", "-f", plan, *words, code=3)
    assert (error["code"], list(error["details"])) == ("inputs_invalid", ["version"])
    assert desk.admin.call("GET", desk.admin.path("planruns")).object()["items"] == []


def test_a_person_is_told_which_inputs_are_missing(desk: Desk, tmp_path: Path) -> None:
    file = tmp_path / "plan.yaml"
    file.write_text(
        PLAN.replace("{version: {type: string}}", "{version: {type: string, description: To release}}")
    )
    shell = desk.terminal("run", "-f", str(file))
    shell.expect(pexpect.EOF)
    shell.close()
    assert shell.exitstatus == 3
    assert (shell.before or "").splitlines() == [
        "version: is required — To release [text]",
        "error: the inputs do not fit the plan: give each as --input NAME=VALUE [inputs_invalid]",
    ]


def test_events_claim_stderr_and_make_a_run_unattended(desk: Desk, plan: str, play: Any) -> None:
    def part(operator: Play) -> dict[str, Any]:
        operator.status(phase="Running", nodes={"E0": {"status": "Running"}})
        operator.succeed(nodes={"E0": {"status": "Succeeded", "reason": "request_unavailable"}})
        return operator.seize()

    playing = play(part)
    done = desk.call("run", "-f", plan, *RUN, GRAPH_EVENTS="jsonl")
    events = [json.loads(line) for line in done.stderr.splitlines()]
    assert (events[0]["event"], events[-2]["event"]) == ("run_started", "run_finished")
    assert {
        "event": "node_changed",
        "node": "E0",
        "status": "Succeeded",
        "reason": "request_unavailable",
    } in events
    assert playing.result()["spec"]["attendance"] == "Unattended"


def test_a_deleted_run_is_not_waited_for(desk: Desk, plan: str, play: Any) -> None:
    play(lambda operator: desk.admin.delete("planruns", operator.name).object())
    done = desk.call("run", "-f", plan, *RUN)
    assert done.returncode == 69
    assert "was deleted while it was followed" in done.stderr


def test_at_a_terminal_questions_are_asked_one_by_one_in_item_order(desk: Desk, plan: str, play: Any) -> None:
    def part(operator: Play) -> list[Any]:
        assert "attendance" not in operator.seize()["spec"]
        names = [operator.ask(f"item-{item}", item=item, node="M/do", prompt=f"Keep {item}?") for item in (1, 0)]
        answers = [operator.wait(name)["payload"] for name in reversed(names)]
        operator.succeed(output=answers)
        return answers

    playing = play(part)
    shell = desk.terminal("run", "-f", plan, *RUN)
    for item, channel in ((0, "beta"), (1, "stable")):
        shell.expect_exact(f"? Keep {item}? [M/do.{item}]")
        shell.expect_exact("nightly]: ")
        shell.sendline(channel)
        shell.expect_exact("[y/n]: ")
        shell.sendline("y")
    shell.expect(pexpect.EOF)
    shell.close()
    assert shell.exitstatus == 0
    assert playing.result() == [{"channel": "beta", "confirm": True}, {"channel": "stable", "confirm": True}]
    assert '"channel": "stable"' in shell.before


def test_a_question_that_somebody_else_answers_is_taken_away(desk: Desk, plan: str, play: Any) -> None:
    def part(operator: Play) -> None:
        first = operator.ask("first", prompt="First?")
        operator.wait(first)
        second = operator.ask("second", prompt="Second?")
        operator.succeed(output=operator.wait(second)["payload"])

    play(part)
    shell = desk.terminal("run", "-f", plan, *RUN)
    shell.expect_exact("? First? [E0]")
    shell.expect_exact("nightly]: ")
    shell.send("stab")
    name = desk.json("requests")["items"][0]["metadata"]["name"]
    desk.json("respond", name, "--payload", '{"channel": "beta", "confirm": false}', "--no-wait", user=desk.bob)
    shell.expect_exact("answered by bob meanwhile")
    shell.expect_exact("? Second? [E0]")
    shell.expect_exact("nightly]: ")
    shell.sendline("le")
    shell.expect_exact("must be one of")
    shell.sendline("stable")
    shell.expect_exact("[y/n]: ")
    shell.sendline("n")
    shell.expect(pexpect.EOF)
    shell.close()
    assert shell.exitstatus == 0
    assert '"channel": "stable"' in shell.before


@pytest.mark.parametrize(("final", "told"), [("Expired", "expired"), ("Canceled", "canceled")])
def test_a_question_that_closes_is_taken_away(desk: Desk, plan: str, play: Any, final: str, told: str) -> None:
    def part(operator: Play) -> None:
        name = operator.ask()
        shown.result(SECONDS)
        status = {"state": final, "resolvedAt": "2026-05-01T12:00:00Z"}
        desk.operator.patch("humanrequests", name, {"status": status}, subresource="status").object()
        operator.succeed()

    shown: Future[None] = Future()
    play(part)
    shell = desk.terminal("run", "-f", plan, *RUN)
    shell.expect_exact("nightly]: ")
    shown.set_result(None)
    shell.expect_exact(f"the question was {told} meanwhile")
    shell.expect_exact("done, 1 step")
    shell.expect(pexpect.EOF)
    shell.close()
    assert shell.exitstatus == 0


def test_an_answer_that_is_handed_back_is_asked_for_again(desk: Desk, plan: str, play: Any) -> None:
    def part(operator: Play) -> dict[str, Any]:
        name = operator.ask()
        operator.wait(name, resolve=False)
        desk._react(desk.admin.get("humanrequests", name), None)
        answer = operator.wait(name)
        operator.succeed()
        return answer

    playing = play(part)
    shell = desk.terminal("run", "-f", plan, *RUN)
    for channel in ("beta", "stable"):
        shell.expect_exact("nightly]: ")
        shell.sendline(channel)
        shell.expect_exact("[y/n]: ")
        shell.sendline("y")
        if channel == "beta":
            shell.expect_exact("channel: is not open today")
    shell.expect(pexpect.EOF)
    shell.close()
    assert shell.exitstatus == 0
    assert playing.result()["payload"]["channel"] == "stable"


@pytest.mark.parametrize(("key", "decision"), [("\r", "decline"), ("\x04", "unavailable")])
def test_not_answering_is_told_to_the_plan(desk: Desk, plan: str, play: Any, key: str, decision: str) -> None:
    def part(operator: Play) -> dict[str, Any]:
        answer = operator.wait(operator.ask())
        operator.succeed()
        return answer

    playing = play(part)
    shell = desk.terminal("run", "-f", plan, *RUN)
    shell.expect_exact("nightly]: ")
    shell.send(key)
    shell.expect(pexpect.EOF)
    shell.close()
    assert shell.exitstatus == 0
    assert playing.result() == {"decision": decision, "responder": "alice"}


def test_where_a_question_cannot_be_declined_it_stays_open_for_others(desk: Desk, plan: str, play: Any) -> None:
    play(lambda operator: operator.ask(decisions=["respond"]))
    shell = desk.terminal("run", "-f", plan, *RUN)
    shell.expect_exact("nightly]: ")
    shell.send("\x04")
    shell.expect_exact("Left open. Answer it with: kubectl compozy respond release-")
    shell.expect_exact("the run goes on")
    shell.expect(pexpect.EOF)
    shell.close()
    assert shell.exitstatus == 69
    (question,) = desk.json("requests")["items"]
    assert question["status"]["state"] == "Pending"


def test_who_leaves_a_question_open_is_told_what_the_run_waits_for(desk: Desk, plan: str, play: Any) -> None:
    def part(operator: Play) -> None:
        operator.ask(decisions=["respond"], item=0)
        operator.wait(operator.ask("other", item=1, decisions=["respond"], responders={"users": ["bob"]}))
        operator.succeed()

    play(part)
    shell = desk.terminal("run", "-f", plan, *RUN)
    shell.expect_exact("nightly]: ")
    shell.sendline("")
    shell.expect_exact("Left open. Answer it with: kubectl compozy respond release-")
    shell.expect_exact("The run waits for that. Ctrl-C stops following it, and leaves it as it is.")
    shell.expect_exact("nightly]: ")
    shell.sendline("beta")
    shell.expect_exact("[y/n]: ")
    shell.sendline("y")
    shell.expect_exact("alice may not answer: only user bob may")
    shell.expect(r"Answer it with: kubectl compozy respond (release-\S+-other) -n")
    assert isinstance(shell.match, re.Match)
    other = shell.match.group(1)
    shell.expect_exact("The run waits for that.")
    desk.json("respond", other, "--no-wait", "--set", "channel=beta", "--set", "confirm=y", user=desk.bob)
    shell.expect(pexpect.EOF)
    shell.close()
    assert shell.exitstatus == 0


def test_who_answers_a_paused_run_is_told_that_it_is_paused(desk: Desk, plan: str, play: Any) -> None:
    told = threading.Event()

    def part(operator: Play) -> None:
        desk.call("pause", operator.name)
        name = operator.ask()
        assert told.wait(SECONDS)
        operator.wait(name)
        operator.succeed()

    play(part)
    shell = desk.terminal("run", "-f", plan, *RUN)
    shell.expect_exact("nightly]: ")
    shell.sendline("beta")
    shell.expect_exact("[y/n]: ")
    shell.sendline("y")
    shell.expect_exact("it takes the answer up after kubectl compozy resume release-")
    told.set()
    shell.expect(pexpect.EOF)
    shell.close()
    assert shell.exitstatus == 0


def test_ctrl_c_leaves_the_run_alone(desk: Desk, plan: str, play: Any) -> None:
    play(lambda operator: operator.ask())
    shell = desk.terminal("run", "-f", plan, *RUN)
    shell.expect_exact("nightly]: ")
    shell.sendintr()
    shell.expect_exact("The run goes on. See it: kubectl compozy describe release-")
    shell.expect(pexpect.EOF)
    shell.close()
    assert shell.exitstatus == 130
    (run,) = desk.json("runs")["items"]
    assert "canceled" not in run["spec"]


def test_cancel(desk: Desk, plan: str, play: Any) -> None:
    desk.call("run", "-f", plan, *RUN, "--detach", "--name", "mine")

    def part(operator: Play) -> None:
        while not operator.seize()["spec"].get("canceled"):
            time.sleep(0.05)
        operator.status(phase="Canceled")

    play(part)
    assert desk.call("cancel", "planrun/mine").stdout == "planrun/mine canceled\n"
    assert desk.json("cancel", "mine") == {"ok": True, "run": "mine", "phase": "Canceled"}
    assert desk.json("cancel", "none", code=69)["code"] == "run_not_found"


def test_a_run_that_has_ended_cannot_be_canceled(desk: Desk, plan: str) -> None:
    desk.call("run", "-f", plan, *RUN, "--detach", "--name", "mine")
    desk.operator.patch("planruns", "mine", {"status": {"phase": "Succeeded"}}, subresource="status").object()
    assert desk.json("cancel", "mine", code=65)["code"] == "conflict"


def test_runs_and_describe(desk: Desk, plan: str) -> None:
    desk.call("run", "-f", plan, *RUN, "--detach", "--name", "mine")
    status = {"phase": "Running", "pendingRequests": 1}
    desk.operator.patch("planruns", "mine", {"status": status}, subresource="status").object()
    desk.open("mine-e0", run="mine", node="E0", expiresAt="2099-05-01T00:00:00Z")
    title, row = desk.call("runs").stdout.splitlines()
    assert title.split() == ["NAME", "PLAN", "PHASE", "WAITING", "AGE"]
    assert row.split()[:4] == ["mine", "<inline>", "Running", "1"]
    told = desk.call("describe", "mine").stdout
    assert told.startswith("planrun/mine  Running, 1 question open\n")
    assert "E0 closes in" in told
    assert "└─ ? E0  Waiting\n   └─ “Where should 1.2.0 deploy?”  humanrequest/mine-e0  waits for somebody" in told
    listed = desk.json("describe", "mine")
    assert (listed["run"]["metadata"]["name"], len(listed["requests"])) == ("mine", 1)
    assert desk.json("describe", "gone", code=69)["code"] == "run_not_found"


def test_plans(desk: Desk, plan: str, tmp_path: Path) -> None:
    assert desk.call("plan", "apply", "-f", plan).stdout == "plan/release created\n"
    assert desk.call("plan", "apply", "-f", plan).stdout == "plan/release unchanged\n"
    Path(plan).write_text(PLAN.replace("Which channel?", "What channel?"))
    done = desk.call("plan", "apply", "-f", plan)
    assert done.stdout == "plan/release configured\n"
    assert "has not looked at it yet" in done.stderr
    assert desk.call("plan", "list").stdout.splitlines()[1].split()[:3] == ["release", "Unknown", "1"]
    assert "What channel?" in desk.call("plan", "show", "release").stdout
    started = desk.json("run", "release", *RUN, "--detach")
    assert desk.admin.get("planruns", started["run"])["spec"]["planRef"] == {"name": "release"}
    assert desk.json("run", "none", code=69)["code"] == "plan_not_found"
    broken = tmp_path / "broken.yaml"
    broken.write_text(PLAN.replace("tool_name: ask", "tool_name: beg"))
    assert desk.call("plan", "apply", plan, "-f", plan).returncode == 2
    done = desk.call("plan", "apply", str(broken))
    assert done.returncode == 1
    assert done.stderr.splitlines()[0].startswith(f"{broken}:9:")


def test_a_plan_that_somebody_else_owns(desk: Desk, plan: str) -> None:
    """Server-side apply: fields of others are a conflict unless they are taken over."""
    desk.call("plan", "apply", "-f", plan)
    desk.bob.patch("plans", "release", {"spec": {"description": "mine"}}, fieldManager="other").object()
    Path(plan).write_text(PLAN + 'description: "ours"\n')
    assert desk.json("plan", "apply", "-f", plan, code=65)["code"] == "conflict"
    assert desk.json("plan", "apply", "-f", plan, "--force-conflicts")["spec"]["description"] == "ours"
