"""The terminal prompt on a real pseudo-terminal."""

import json
import subprocess
import sys

import pexpect
import pytest

pytestmark = pytest.mark.unit

PROGRAM = """
import os, pathlib, sys
from compozy.hosts.dialogue import Streams
from compozy.hosts.terminal import Question, ask, can_ask
schema = {
    "type": "object",
    "required": ["channel", "confirm"],
    "properties": {
        "channel": {"enum": ["stable", "beta", "nightly"], "description": "Release channel"},
        "confirm": {"type": "boolean", "description": "Really cut it?"},
    },
}
question = Question("Which channel should this release go to?", "E0", schema)
if can_ask(sys.stdin, sys.stderr, os.environ):
    outcome = ask(question, Streams(sys.stderr, sys.stdin))
else:
    outcome = None
pathlib.Path(sys.argv[1]).write_text(repr(outcome))
"""

TRANSCRIPT = """
? Which channel should this release go to? [E0]
  (blank cancels)
  channel — Release channel [stable | beta | nightly]: nightly
  confirm — Really cut it? [y/n]: y
"""

CHANNEL, CONFIRM = "nightly]: ", "[y/n]: "


@pytest.fixture
def outcome_file(tmp_path):
    return tmp_path / "outcome"


@pytest.fixture
def terminal(outcome_file):
    """Standard output goes elsewhere, as where it carries what the run delivers."""
    command = f'exec {json.dumps(sys.executable)} -c "$PROGRAM" {json.dumps(str(outcome_file))} >/dev/null'
    environment = {"PROGRAM": PROGRAM, "PYTHONIOENCODING": "utf-8", "PATH": ""}
    child = pexpect.spawn("/bin/sh", ["-c", command], env=environment, encoding="utf-8", timeout=60)
    yield child
    child.close(force=True)


def finished(child):
    child.expect(pexpect.EOF)
    child.wait()


def test_the_transcript_is_the_one_on_the_page(terminal, outcome_file):
    transcript = ""
    for prompt, typed in ((CHANNEL, "nightly"), (CONFIRM, "y")):
        terminal.expect_exact(prompt)
        transcript += terminal.before + terminal.after
        terminal.sendline(typed)
    finished(terminal)
    transcript += terminal.before
    assert transcript.replace("\r\n", "\n") == TRANSCRIPT
    assert (
        outcome_file.read_text() == "Answered(payload={'channel': 'nightly', 'confirm': True}, decision='respond')"
    )


def test_a_blank_line_declines(terminal, outcome_file):
    terminal.expect_exact(CHANNEL)
    terminal.sendline("")
    finished(terminal)
    assert outcome_file.read_text() == "Declined()"


def test_a_fourth_wrong_value_declines(terminal, outcome_file):
    for _ in range(4):
        terminal.expect_exact(CHANNEL)
        terminal.sendline("gamma")
    finished(terminal)
    assert outcome_file.read_text() == "Declined()"


def test_the_end_of_input_means_that_nobody_is_there(terminal, outcome_file):
    terminal.expect_exact(CHANNEL)
    terminal.sendline("beta")
    terminal.expect_exact(CONFIRM)
    terminal.sendeof()
    finished(terminal)
    assert outcome_file.read_text() == "Unavailable()"


def test_nobody_is_asked_where_stdin_is_no_terminal(outcome_file):
    arguments = [sys.executable, "-c", PROGRAM, str(outcome_file)]
    shown = subprocess.run(arguments, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True)
    assert outcome_file.read_text() == "None"
    assert shown.stderr == ""
