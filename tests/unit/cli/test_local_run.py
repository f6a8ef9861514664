"""`run --local` at a real terminal: the same engine and the same prompt, without a cluster."""

import json
import sys
from pathlib import Path

import pexpect
import pytest

from support import plans

pytestmark = pytest.mark.unit

PLUGIN = str(Path(sys.executable).parent / "kubectl-compozy")
FIELD = r"channel — Release channel \[stable \| beta \| nightly\]: "
ORDERED = """
steps:
  - id: E0
    tool_name: ask
    input:
      prompt: Who?
      output_schema:
        properties:
          zip: { type: string, description: Zip }
          age: { type: integer, description: Age }
output: { age: "{{E0.answer.age}}" }
"""


@pytest.fixture
def local(tmp_path, monkeypatch):
    """Start a local run of a plan at a pseudo-terminal. No kubeconfig is there."""
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "nothing"))
    started = []

    def start(text, *arguments, **files):
        for name, content in {"plan": text, **files}.items():
            (tmp_path / f"{name}.yaml").write_text(content)
        words = ["run", "--local", "-f", str(tmp_path / "plan.yaml"), *arguments]
        terminal = pexpect.spawn(PLUGIN, words, encoding="utf-8", timeout=20)
        terminal.setecho(False)
        started.append(terminal)
        return terminal

    yield start
    for terminal in started:
        terminal.close(force=True)


def result_of(terminal):
    """The exit code, and the JSON that was printed among what stderr shows."""
    terminal.expect(pexpect.EOF)
    terminal.close()
    printed, _ = json.JSONDecoder().raw_decode(terminal.before[terminal.before.index("{") :])
    return terminal.exitstatus, printed


INPUTS = ("--input", "version=1.4.0", "--input", "fallback=beta")


def test_it_asks_and_delivers(local):
    terminal = local(plans.STEPS, *INPUTS)
    terminal.expect_exact("? Which channel for 1.4.0? [E0]\r\n  (blank cancels)\r\n  ")
    terminal.expect(FIELD)
    terminal.sendline("Nightly")
    terminal.expect(r"confirm — Really\? \[y/n\]: ")
    terminal.sendline("TRUE")
    assert result_of(terminal) == (0, {"channel": "nightly"})


@pytest.mark.parametrize(
    ("act", "reason"),
    [
        (lambda terminal: terminal.sendline(""), "declined"),
        (lambda terminal: [terminal.sendline("loud") for _ in range(4)], "declined"),
        (lambda terminal: terminal.sendeof(), "unavailable"),
    ],
    ids=["blank", "wrong four times", "end of input"],
)
def test_what_is_no_answer(local, act, reason):
    terminal = local(plans.STEPS, *INPUTS, "-o", "json")
    terminal.expect(FIELD)
    act(terminal)
    code, envelope = result_of(terminal)
    assert (code, envelope["nodes"]["E0"]["output"]["reason"]) == (0, reason)
    assert envelope["exit"]["message"] == "nobody answered"


def test_fields_are_asked_in_the_order_in_which_they_were_written(local):
    terminal = local(ORDERED)
    terminal.expect(r"zip — Zip \[text\]: ")
    terminal.sendline("12345")
    terminal.expect(r"age — Age \[integer\]: ")
    terminal.sendline("7")
    assert result_of(terminal) == (0, {"age": 7})


def test_a_question_of_a_called_plan_says_where_it_is(local):
    outer = 'steps: [{ id: S, tool_name: plan__inner, input: {} }]\noutput: { age: "{{S.age}}" }\n'
    terminal = local(outer, inner="identifier: inner" + ORDERED)
    terminal.expect_exact("? Who? [inner→E0]")
    terminal.expect("zip")
    terminal.sendline("x")
    terminal.expect("age")
    terminal.sendline("3")
    assert result_of(terminal) == (0, {"age": 3})
