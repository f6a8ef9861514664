"""Adding, changing, renaming and removing steps: what changes and what stays."""

from __future__ import annotations

import pytest

from compozy.language.authoring.edits import (
    step_add,
    step_rename,
    step_rm,
    step_set,
)
from compozy.language.yaml_text import load
from support.edited_plan import PLAN, changes

pytestmark = pytest.mark.unit


def test_add_at_the_end_with_a_free_id_and_the_same_distance() -> None:
    edited = step_add(PLAN, {"toolName": "exit", "input": {"status": "success"}})
    assert (edited.step_id, edited.index, edited.steps) == ("E3", 3, 4)
    assert changes(PLAN, edited) == [
        "+",
        "+  - id: E3",
        "+    tool_name: exit",
        "+    input: { status: success }",
    ]


def test_add_before_stands_above_the_comment_of_the_other() -> None:
    edited = step_add(PLAN, {"id": "new", "tool_name": "x__y", "input": {}}, before="E1")
    assert (edited.step_id, edited.index) == ("new", 1)
    assert "  - id: new\n    tool_name: x__y\n    input: {}\n\n  # Then the gate.\n  - id: E1\n" in edited.text


def test_add_after_stands_below_the_comments_of_the_other() -> None:
    edited = step_add(PLAN, {"id": "new", "tool_name": "x__y", "input": {}}, after="E0")
    assert (
        "      # the end of the question\n\n  - id: new\n    tool_name: x__y\n    input: {}\n\n  # Then"
        in edited.text
    )


def test_add_in_a_body() -> None:
    edited = step_add(PLAN, {"id": "B2", "tool_name": "x__y", "input": {"a": "{{B1}}"}}, after="E2/do/B1")
    assert (edited.index, edited.steps) == (2, 3)
    assert changes(PLAN, edited) == [
        "+        - id: B2",
        "+          tool_name: x__y",
        '+          input: { a: "{{B1}}" }',
    ]


@pytest.mark.parametrize(
    "text", ["name: x\n", "name: x\nsteps: []\n", '{"name": "x"}', '{"name": "x", "steps": []}']
)
def test_the_first_step(text: str) -> None:
    edited = step_add(text, {"tool_name": "x__y", "input": {}})
    assert load(edited.text).value == {"name": "x", "steps": [{"id": "E0", "tool_name": "x__y", "input": {}}]}
    assert (edited.step_id, edited.index) == ("E0", 0)


def test_rm_takes_its_comments_and_leaves_those_of_others() -> None:
    edited = step_rm(PLAN, "E1")
    start, end = PLAN.index("  # Then the gate."), PLAN.index("  - id: E2")
    assert edited.text == PLAN[:start] + PLAN[end:]
    assert (edited.index, edited.steps) == (1, 2)


def test_rm_in_a_body() -> None:
    assert [line for line in changes(PLAN, step_rm(PLAN, "E2/do/B1")) if "B1" in line] == ["-        - id: B1"]


def test_step_set() -> None:
    edited = step_set(PLAN, "E2/do/B0", {"reasoning": "why", "input.c": [1]})
    assert changes(PLAN, edited) == [
        '-          input: { E0: "{{item.E0}}", toolName: "{{E0.answer.channel}}" }',
        "+          reasoning: why",
        '+          input: { E0: "{{item.E0}}", toolName: "{{E0.answer.channel}}", c: [1] }',
    ]  # fmt: skip


def test_rename_reaches_every_template_and_no_plain_text() -> None:
    edited = step_rename(PLAN, "E0", "choice")
    assert changes(PLAN, edited) == [
        "-  - id: E0   # the question",
        "+  - id: choice   # the question",
        '-      when: { value: "{{E0.answered}}", op: eq, to: false }',
        '+      when: { value: "{{choice.answered}}", op: eq, to: false }',
        "-        E0 said {{ E0.answer.channel }}",
        "-        {{#E0.answer}}{{channel}}{{E0.reason}}{{^E0.reason}}none{{/E0.reason}}{{/E0.answer}}",
        "+        E0 said {{ choice.answer.channel }}",
        "+        {{#choice.answer}}{{channel}}{{choice.reason}}{{^choice.reason}}none{{/choice.reason}}"
        "{{/choice.answer}}",
        '-      over: "{{E0.list}}"',
        '+      over: "{{choice.list}}"',
        '-          input: { E0: "{{item.E0}}", toolName: "{{E0.answer.channel}}" }',
        '+          input: { E0: "{{item.E0}}", toolName: "{{choice.answer.channel}}" }',
        '-  E0: "{{E0.answer.channel}}"',
        '+  E0: "{{choice.answer.channel}}"',
    ]
    assert edited.step_id == "choice"


def test_rename_in_a_body_stays_in_it() -> None:
    other = PLAN.replace("message: |", 'output: { B0: "{{B0.x}}" }\n      message: |')
    edited = step_rename(other, "E2/do/B0", "first")
    assert [line for line in changes(other, edited) if line[0] == "+"] == [
        "+        - id: first",
        '+          input: { a: "{{first.x}}", b: "{{ first }}" }',
    ]


def test_rename_to_a_word_that_yaml_reads_otherwise() -> None:
    text = "steps:\n  - { id: a, tool_name: x__y, input: {} }\n  - { id: b, tool_name: x__y, input: {} }\n"
    assert load(step_rename(text, "a", "null").text).value["steps"][0]["id"] == "null"
