"""The terminal prompt on a real pseudo-terminal."""

import json
import subprocess
import sys

import pexpect
import pytest

pytestmark = pytest.mark.unit

PROGRAM = """
import json, os, pathlib, sys
from compozy.hosts.dialogue import Streams
from compozy.hosts.terminal import Question, ask, can_ask
question = Question("Which channel should this release go to?", "E0", json.loads(sys.argv[2]))
if can_ask(sys.stdin, sys.stderr, os.environ):
    outcome = ask(question, Streams(sys.stderr, sys.stdin))
else:
    outcome = None
pathlib.Path(sys.argv[1]).write_text(repr(outcome))
"""

RELEASE = {
    "type": "object",
    "required": ["channel", "confirm"],
    "properties": {
        "channel": {"enum": ["stable", "beta", "nightly"], "description": "Release channel"},
        "confirm": {"type": "boolean", "description": "Really cut it?"},
    },
}

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
def opened(outcome_file):
    """Opens the form of a schema. Standard output goes elsewhere, as where it carries what the run delivers."""
    children = []

    def open_form(schema):
        command = (
            f'exec {json.dumps(sys.executable)} -c "$PROGRAM" {json.dumps(str(outcome_file))} "$SCHEMA" >/dev/null'
        )
        environment = {
            "PROGRAM": PROGRAM,
            "SCHEMA": json.dumps(schema),
            "PYTHONIOENCODING": "utf-8",
            "PATH": "",
        }
        child = pexpect.spawn("/bin/sh", ["-c", command], env=environment, encoding="utf-8", timeout=60)
        children.append(child)
        return child

    yield open_form
    for child in children:
        child.close(force=True)


@pytest.fixture
def terminal(opened):
    return opened(RELEASE)


def filled(child, *lines):
    """Answers each prompt with a line and returns what was on the screen."""
    shown = ""
    for prompt, typed in lines:
        child.expect_exact(prompt)
        shown += child.before + child.after
        child.sendline(typed)
    finished(child)
    return (shown + child.before).replace("\r\n", "\n")


def finished(child):
    child.expect(pexpect.EOF)
    child.wait()


def test_the_transcript_is_the_one_on_the_page(terminal, outcome_file):
    assert filled(terminal, (CHANNEL, "nightly"), (CONFIRM, "y")) == TRANSCRIPT
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
    arguments = [sys.executable, "-c", PROGRAM, str(outcome_file), json.dumps(RELEASE)]
    shown = subprocess.run(arguments, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True)
    assert outcome_file.read_text() == "None"
    assert shown.stderr == ""


ENUM = {"required": ["channel"], "properties": {"channel": {"enum": ["stable", "beta"], "default": "beta"}}}


def test_enter_sends_the_default_of_an_enum(opened, outcome_file):
    shown = filled(opened(ENUM), ("(Enter = beta): ", ""))
    assert "  channel [stable | beta] (Enter = beta): \n" in shown
    assert outcome_file.read_text() == "Answered(payload={'channel': 'beta'}, decision='respond')"


TAGS = {
    "required": ["tags"],
    "properties": {
        "tags": {
            "type": "array",
            "title": "Kinds of change",
            "minItems": 1,
            "items": {"anyOf": [{"const": "fix", "title": "Bug fix"}, {"const": "docs"}]},
        }
    },
}
TAGS_SHOWN = """
? Which channel should this release go to? [E0]
  (blank cancels)
  tags — Kinds of change [at least 1 of fix (Bug fix) | docs, with commas
  | between]: bug fix, docs
"""


def test_several_options_are_chosen_on_one_line(opened, outcome_file):
    assert filled(opened(TAGS), ("between]: ", "bug fix, docs")) == TAGS_SHOWN
    assert outcome_file.read_text() == "Answered(payload={'tags': ['fix', 'docs']}, decision='respond')"


ASSIGNMENT = {
    "required": ["assignment"],
    "properties": {
        "assignment": {
            "required": ["reviewer"],
            "properties": {
                "reviewer": {"type": "string", "description": "Who looks at it"},
                "due": {"type": "string", "format": "date"},
            },
        },
        "backup": {
            "required": ["name"],
            "properties": {"name": {"type": "string"}, "urgent": {"type": "boolean", "default": True}},
        },
    },
}
ASSIGNMENT_SHOWN = """
? Which channel should this release go to? [E0]
  (blank cancels)
  assignment.reviewer — Who looks at it [text]: bob
  assignment.due [date]: 2026-13-40
  must be a date such as 2026-01-31; try again
  assignment.due [date]: 2026-12-24
  backup.name [text]:\x20
  backup.urgent [y/n] (Enter = true):\x20
"""


def test_a_nested_object_with_an_invalid_and_then_a_valid_answer(opened, outcome_file):
    due = "assignment.due [date]: "
    lines = [("reviewer — Who looks at it [text]: ", "bob"), (due, "2026-13-40"), (due, "2026-12-24")]
    lines += [("backup.name [text]: ", ""), ("(Enter = true): ", "")]
    assert filled(opened(ASSIGNMENT), *lines) == ASSIGNMENT_SHOWN
    assert outcome_file.read_text() == (
        "Answered(payload={'assignment': {'reviewer': 'bob', 'due': '2026-12-24'}}, decision='respond')"
    )


EITHER = {"oneOf": [{"type": "object", "required": ["url"]}, {"type": "array", "items": {"type": "integer"}}]}


def test_what_is_no_form_is_shown_and_answered_as_json(opened, outcome_file):
    shown = filled(opened(EITHER), ("}]}: ", "[1, x]"), ("}]}: ", '["x"]'), ("}]}: ", "[1, 2]"))
    assert "  payload [json]\n  | as one line of JSON, by this schema: {" in shown
    assert json.dumps(EITHER) in shown.replace("\n  | ", " ")
    assert "  is not JSON: Expecting value at line 1, column 5; try again\n" in shown
    assert outcome_file.read_text() == "Answered(payload=[1, 2], decision='respond')"


def test_nothing_to_fill_in_is_a_plain_confirmation(opened, outcome_file):
    filled(opened({"type": "object", "properties": {}}), ("confirm [y/n]: ", "y"))
    assert outcome_file.read_text() == "Answered(payload={}, decision='respond')"
