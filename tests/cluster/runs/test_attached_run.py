"""`kubectl compozy run` at a real terminal: asks field by field, and stdout carries only the deliverable."""

import json

import pexpect
import pytest

from support import plans
from support.stage import BIN, eventually

pytestmark = pytest.mark.cluster

PLAN = plans.STEPS
INPUTS = ("--input", "version=1.4.0", "--input", "fallback=beta")
FIELD = r"channel — Release channel \[stable \| beta \| nightly\]: "


@pytest.fixture
def person(stage):
    """Somebody who may start runs and answer their questions."""
    return stage.api.user("olga", stage.namespace, ["authors", "responders"])


@pytest.fixture
def attached(stage, person, tmp_path):
    """Start an attached run at a pseudo-terminal; its stdout goes to a file of its own."""
    path, output = tmp_path / "plan.yaml", tmp_path / "stdout"
    path.write_text(PLAN)
    terminals = []

    def start(*arguments, environment=None):
        words = [str(BIN / "kubectl"), "compozy", "run", "-f", str(path), *INPUTS, *arguments]
        command = "exec " + " ".join(f"'{word}'" for word in [*words, "-n", stage.namespace]) + f" > '{output}'"
        env = stage.environment(person, environment)
        terminal = pexpect.spawn("/bin/sh", ["-c", command], env=env, encoding="utf-8", timeout=30)
        terminals.append(terminal)
        terminal.stdout_path = output
        return terminal

    yield start
    for terminal in terminals:
        terminal.close(force=True)


def ended(terminal):
    terminal.expect(pexpect.EOF)
    terminal.close()
    return terminal.exitstatus


def result_of(stage):
    [run] = stage.admin.call("GET", stage.admin.path("planruns")).object()["items"]
    return stage.finished(run["metadata"]["name"])


def test_it_walks_the_schema_field_by_field(stage, attached):
    terminal = attached()
    terminal.expect_exact("? Which channel for 1.4.0? [E0]\r\n  (blank cancels)\r\n  ")
    terminal.expect(FIELD)
    terminal.sendline("NIGHTLY")
    terminal.expect(r"confirm — Really\? \[y/n\]: ")
    terminal.sendline("yes")
    assert ended(terminal) == 0
    assert json.loads(terminal.stdout_path.read_text()) == {"channel": "nightly"}
    assert result_of(stage)["nodes"]["E0"]["output"] == {
        "answer": {"channel": "nightly", "confirm": True},
        "answered": True,
    }


def test_a_blank_line_on_a_required_field_declines(stage, attached):
    terminal = attached()
    terminal.expect(FIELD)
    terminal.sendline("")
    assert ended(terminal) == 0
    assert result_of(stage)["nodes"]["E0"]["output"]["reason"] == "declined"


def test_a_value_that_cannot_be_coerced_is_asked_again_three_times_then_declined(stage, attached):
    terminal = attached()
    for _ in range(4):
        terminal.expect(FIELD)
        terminal.sendline("loud")
    assert ended(terminal) == 0
    assert result_of(stage)["nodes"]["E0"]["output"]["reason"] == "declined"


def test_the_end_of_input_is_unavailable(stage, attached):
    terminal = attached()
    terminal.expect(FIELD)
    terminal.sendeof()
    assert ended(terminal) == 0
    assert result_of(stage)["nodes"]["E0"]["output"]["reason"] == "unavailable"


@pytest.mark.parametrize("variable", ["GRAPH_EVENTS", "COMPOZY_EVENTS"])
def test_events_claim_stderr_and_make_the_run_unattended(stage, attached, variable):
    terminal = attached(environment={variable: "jsonl"})
    terminal.expect(pexpect.EOF)
    lines = [json.loads(line) for line in terminal.before.splitlines() if line.startswith("{")]
    assert lines and all("event" in line for line in lines)
    assert "?" not in "".join(line for line in terminal.before.splitlines() if not line.startswith("{"))
    status = result_of(stage)
    assert (status["attended"], status["nodes"]["E0"]["output"]["reason"]) == (False, "unavailable")


def test_stdin_that_is_no_terminal_makes_the_run_unattended(stage, person, tmp_path):
    path = tmp_path / "plan.yaml"
    path.write_text(PLAN)
    done = stage.plugin("run", "-f", str(path), *INPUTS, user=person, stdin="nightly\ny\n")
    assert done.returncode == 0, done.stderr
    assert result_of(stage)["attended"] is False


def test_somebody_else_answers_while_the_prompt_is_shown(stage, attached):
    terminal = attached()
    terminal.expect(FIELD)
    [run] = stage.admin.call("GET", stage.admin.path("planruns")).object()["items"]
    question = eventually(lambda: stage.requests(run["metadata"]["name"]), "it asks")[0]
    assert stage.answer(question, plans.STEPS_ANSWER).ok
    terminal.expect("answered by alice")
    assert ended(terminal) == 0


def test_an_interrupt_leaves_the_run_and_says_how_to_go_on(stage, attached):
    terminal = attached()
    terminal.expect(FIELD)
    terminal.sendintr()
    terminal.expect("The run goes on")
    terminal.expect("kubectl compozy describe")
    assert ended(terminal) == 130
    [run] = stage.admin.call("GET", stage.admin.path("planruns")).object()["items"]
    assert stage.question(run["metadata"]["name"])
