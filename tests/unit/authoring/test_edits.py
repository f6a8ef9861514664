"""Edits of plan files, by examples: what changes, what stays, and what is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from difflib import unified_diff
from typing import Any

import pytest

from compozy.language.authoring.changes import AuthoringError
from compozy.language.authoring.edits import (
    Edited,
    EditRefused,
    set_fields,
    step_add,
    step_rename,
    step_rm,
    step_set,
    unset_fields,
)
from compozy.language.authoring.format import format_text
from compozy.language.problems import PlanInvalid
from compozy.language.yaml_text import load

pytestmark = pytest.mark.unit

PLAN = """\
# About the plan.
name: x

steps:
  # Ask first.
  - id: E0   # the question
    tool_name: ask
    input:
      prompt: "Which for {{input.version}}?"   # shown
      output_schema:
        type: object
        properties:
          channel: { enum: [stable, beta], description: "{{E0}} is no template here" }
      when_unanswered: default
      # used in CI
      default: { channel: beta }
      # the end of the question

  # Then the gate.
  - id: E1
    tool_name: exit
    reasoning: E0 and {{E0}} are plain text here
    input:
      when: { value: "{{E0.answered}}", op: eq, to: false }
      status: success
      message: |
        E0 said {{ E0.answer.channel }}
        {{#E0.answer}}{{channel}}{{E0.reason}}{{^E0.reason}}none{{/E0.reason}}{{/E0.answer}}

  - id: E2
    tool_name: map
    input:
      over: "{{E0.list}}"
      do:
        - id: B0
          tool_name: server__tool
          input: { E0: "{{item.E0}}", toolName: "{{E0.answer.channel}}" }
        - id: B1
          tool_name: server__tool
          input: { a: "{{B0.x}}", b: "{{ B0 }}" }
output:
  E0: "{{E0.answer.channel}}"
# The end.
"""

GRAPH = """\
graph:
  nodes:
    - { id: a, class: control, kind: ask, params: { prompt: A?, expect: { x: string } } }
    # the end
    - id: b
      class: action
      kind: transform
      params:
        map:
          x: { from: nodes.a.output.x }
  edges: [{ from: a, to: b }]
"""


def changes(before: str, edited: Edited) -> list[str]:
    """The lines that went and came."""
    lines = unified_diff(before.splitlines(), edited.text.splitlines(), lineterm="", n=0)
    return [line for line in lines if not line.startswith(("---", "+++", "@@"))]


SETS: dict[str, tuple[dict[str, Any], list[str]]] = {
    "a scalar; the comment at its line stays": (
        {"steps.E0.input.prompt": "Really?"},
        [
            '-      prompt: "Which for {{input.version}}?"   # shown',
            "+      prompt: Really?   # shown",
        ],
    ),
    "a key that is not there, in its usual place": (
        {"description": "Ask, then stop."},
        ["+description: Ask, then stop."],
    ),
    "before the first key": ({"identifier": "x"}, ["+identifier: x"]),
    "in a schema": (
        {"steps.E0.input.output_schema.properties.confirm": {"type": "boolean", "description": "Sure?"}},
        ['+          confirm: { type: boolean, description: "Sure?" }'],
    ),
    "in braces": (
        {"steps.E0.input.default.channel": "stable"},
        ["-      default: { channel: beta }", "+      default: { channel: stable }"],
    ),
    "a new key in braces": (
        {"steps.E1.input.when.to": True, "steps.E0.input.output_schema.properties.channel.title": "Way"},
        [
            '-          channel: { enum: [stable, beta], description: "{{E0}} is no template here" }',
            '+          channel: { enum: [stable, beta], description: "{{E0}} is no template here", title: Way }',
            '-      when: { value: "{{E0.answered}}", op: eq, to: false }',
            '+      when: { value: "{{E0.answered}}", op: eq, to: true }',
        ],
    ),
    "a block by a scalar": (
        {"output": "{{E0.answer.channel}}"},
        ["-output:", '-  E0: "{{E0.answer.channel}}"', '+output: "{{E0.answer.channel}}"'],
    ),
    "a scalar by a block": (
        {"name": "one\ntwo\n", "steps.E2.input.over": [{"a": [1]}, "x"]},
        [
            "-name: x",
            "+name: |",
            "+  one",
            "+  two",
            '-      over: "{{E0.list}}"',
            "+      over:",
            "+        - a: [1]",
            "+        - x",
        ],
    ),
    "an element of a list by its position": (
        {"steps.E0.input.output_schema.properties.channel.enum.0": "1.0"},
        [
            '-          channel: { enum: [stable, beta], description: "{{E0}} is no template here" }',
            '+          channel: { enum: ["1.0", beta], description: "{{E0}} is no template here" }',
        ],
    ),
    "the old spelling of a key": (
        {"steps.E0.input.whenUnanswered": "default", "inputSchema.type": "object"},
        ["+input_schema: { type: object }"],
    ),
    "a step in a body": (
        {"steps.E2.input.do.B1.tool_name": "other__tool"},
        ["-          tool_name: server__tool", "+          tool_name: other__tool"],
    ),
}


@pytest.mark.parametrize(("values", "expected"), SETS.values(), ids=SETS)
def test_set(values: dict[str, Any], expected: list[str]) -> None:
    edited = set_fields(PLAN, values)
    assert changes(PLAN, edited) == expected
    assert edited.existing == ()
    assert edited.steps == 3


WORDS = [
    "yes",
    "null",
    "1",
    "1e3",
    "",
    " x ",
    "a: b",
    "a, b?",
    "it's",
    "# x",
    "{{a}}",
    "été",
    "a\tb",
    "x\n\n",
    "- a",
]
SIGNS = [
    "'",
    '"',
    "\\",
    "a\n b\n",
    " a\nb",
    "\x85",
    "\u2028",
    "🎉",
    "72h",
    "12:30:45",
    "=",
    "~",
    "%x",
    "2026-01-01",
]
VALUES: list[Any] = [*WORDS, *SIGNS, 1, 1.5, 1e300, -0.0, True, None, [], {}, [[]], [[1], [{}]]]


@pytest.mark.parametrize("value", [*VALUES, {"a b": {"yes": 1}, "1": [{"x": "y\nz"}]}])
def test_any_value_arrives_in_a_block_and_in_braces(value: Any) -> None:
    text = "steps:\n  - { id: a, tool_name: x__y, input: {} }\n"
    in_block = step_add(text, {"id": "b", "tool_name": "x__y", "input": {"k": value}})
    third = in_block.text.replace("}\n", "}\n  - { id: c, tool_name: x__y, input: {} }\n", 1)
    in_braces = step_set(third, "c", {"input.k": value})
    for edited, step_id in ((in_block, "b"), (in_braces, "c")):
        found = [step["input"]["k"] for step in load(edited.text).value["steps"] if step["id"] == step_id]
        assert json.dumps(found) == json.dumps([value])


UNSETS: dict[str, tuple[list[str], list[str]]] = {
    "a key with the comment above it": (
        ["steps.E0.input.default", "steps.E0.input.when_unanswered"],
        [
            "-      when_unanswered: default",
            "-      # used in CI",
            "-      default: { channel: beta }",
        ],
    ),
    "the first key; a comment above is about the whole": (["name"], ["-name: x"]),
    "a block": (["output"], ["-output:", '-  E0: "{{E0.answer.channel}}"']),
    "in braces": (
        ["steps.E0.input.output_schema.properties.channel.description"],
        [
            '-          channel: { enum: [stable, beta], description: "{{E0}} is no template here" }',
            "+          channel: { enum: [stable, beta] }",
        ],
    ),
    "the first in brackets": (
        ["steps.E0.input.output_schema.properties.channel.enum.0"],
        [
            '-          channel: { enum: [stable, beta], description: "{{E0}} is no template here" }',
            '+          channel: { enum: [beta], description: "{{E0}} is no template here" }',
        ],
    ),
    "the only one": (["output.E0"], ["-output:", '-  E0: "{{E0.answer.channel}}"', "+output: {}"]),
}


@pytest.mark.parametrize(("paths", "expected"), UNSETS.values(), ids=UNSETS)
def test_unset(paths: list[str], expected: list[str]) -> None:
    assert changes(PLAN, unset_fields(PLAN, paths)) == expected


def test_unset_beside_a_dash() -> None:
    text = "colour: red\nsteps:\n  - tool_name: x__y\n    id: a\n    input: {}\n"
    edited = set_fields(text, {"steps.a.reasoning": "r"})
    assert unset_fields(edited.text, ["steps.a.reasoning"]).text == text


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


def test_a_manifest() -> None:
    text = f"apiVersion: compozy.dev/v1alpha1\nkind: Plan\nmetadata:\n  name: x\nspec:\n  steps:\n    - {STEP}\n"
    edited = set_fields(text, {"name": "y", "description": "d", "requests.expire_after": "1h"})
    assert load(edited.text).value["metadata"] == {"name": "y"}
    assert load(edited.text).value["spec"] | {"steps": []} == {
        "description": "d",
        "requests": {"expireAfter": "1h"},
        "steps": [],
    }
    assert load(step_rename(text, "a", "b").text).value["spec"]["steps"][0]["id"] == "b"


STEP = "{ id: a, tool_name: x__y, input: {} }"


def test_a_graph() -> None:
    edited = set_fields(GRAPH, {"graph.nodes.a.params.prompt": "B?", "graph.nodes.b.params.map.z": {"value": 1}})
    assert changes(GRAPH, edited) == [
        "-    - { id: a, class: control, kind: ask, params: { prompt: A?, expect: { x: string } } }",
        '+    - { id: a, class: control, kind: ask, params: { prompt: "B?", expect: { x: string } } }',
        "+          z: { value: 1 }",
    ]
    assert edited.steps == 2
    with pytest.raises(AuthoringError, match="no list of steps"):
        step_rm(GRAPH, "a")


def test_json_stays_json() -> None:
    text = format_text(json.dumps(load(PLAN).value))
    edited = step_rename(text, "E0", "choice")
    assert json.loads(edited.text) == load(step_rename(PLAN, "E0", "choice").text).value
    assert json.loads(set_fields(text, {"description": "d"}).text)["description"] == "d"
    assert list(json.loads(set_fields(text, {"description": "d"}).text)) == [
        "name",
        "description",
        "steps",
        "output",
    ]


REFUSED: dict[str, tuple[Callable[[str], Edited], list[tuple[str, str]]]] = {
    "a reference to nothing": (
        lambda text: set_fields(text, {"steps.E0.input.prompt": "{{E9.x}}"}),
        [("steps[0].input.prompt", "unknown_reference")],
    ),
    "an unknown key": (lambda text: set_fields(text, {"colour": 1}), [("colour", "unknown_key")]),
    "a required key": (
        lambda text: unset_fields(text, ["steps.E0.input.prompt"]),
        [("steps[0].input.prompt", "missing_key")],
    ),
    "one half of a rule": (
        lambda text: unset_fields(text, ["steps.E0.input.default"]),
        [("steps[0].input.default", "default_missing")],
    ),
    "a step of an unknown tool": (
        lambda text: step_add(text, {"tool_name": "aks", "input": {}}, before="E0"),
        [("steps[0].tool_name", "tool_unknown")],
    ),
    "an id that is taken": (lambda text: step_rename(text, "E0", "E1"), [("steps[1].id", "duplicate_step_id")]),
    "an id that is taken in a body": (
        lambda text: step_rename(text, "E1", "B0"),
        [("steps[2].input.do[0].id", "duplicate_step_id")],
    ),
    "a step that others refer to": (
        lambda text: step_rm(text, "E2/do/B0"),
        [(f"steps[2].input.do[1].input.{key}", "unknown_reference") for key in ("a", "b")],
    ),
    "a name that a section uses for something else": (
        lambda text: step_rename(text, "E0", "channel"),
        [("steps[1].input.message", "name_captured")],
    ),
    "a wrong value deep in a default": (
        lambda text: set_fields(text, {"steps.E0.input.default.channel": "gold"}),
        [("steps[0].input.default.channel", "default_invalid")],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("edit", "expected"), REFUSED.values(), ids=REFUSED)
def test_refused(edit: Callable[[str], Edited], expected: list[tuple[str, str]]) -> None:
    with pytest.raises(EditRefused) as caught:
        edit(PLAN)
    found = [(problem.path, problem.code) for problem in caught.value.introduced]
    assert found == expected
    assert caught.value.existing == ()


def test_a_new_problem_is_placed_in_the_file_as_it_is() -> None:
    text = (
        "steps:\n- {id: a, toolName: x__y, input: {}}\n- {id: b, toolName: x__y, input: {}}\n"
        "- id: c\n  toolName: x__y\n  input:\n    k: '{{b}}'\n"
    )
    with pytest.raises(EditRefused) as caught:
        step_rm(text, "b")
    assert [(p.path, p.line, p.column) for p in caught.value.introduced] == [("steps[2].input.k", 7, 5)]


BROKEN = """\
colour: red
steps:
  - id: a
    tool_name: ask
    input:
      prompt: "{{nowhere.x}}"
      output_schema: { properties: { x: { type: array } } }
  - tool_name: aks
    input: {}
  - id: c
    tool_name: exit
    input: { status: success, message: "{{later}}" }
"""


def codes(edited: Edited) -> list[str]:
    return sorted(problem.code for problem in edited.existing)


def test_problems_that_were_there_do_not_stop_an_edit() -> None:
    whole = ["ask_schema_not_primitive", "missing_key", "tool_unknown", "unknown_key"]
    whole += ["unknown_reference", "unknown_reference"]
    assert codes(set_fields(BROKEN, {"name": "x"})) == whole
    assert codes(step_add(BROKEN, {"id": "first", "tool_name": "x__y", "input": {}}, before="a")) == whole
    assert codes(step_rename(BROKEN, "a", "renamed")) == whole
    assert codes(step_rename(BROKEN, "c", "last")) == whole
    assert codes(step_rm(BROKEN, "a")) == ["missing_key", "tool_unknown", "unknown_key", "unknown_reference"]
    assert codes(unset_fields(BROKEN, ["colour"])) == [code for code in whole if code != "unknown_key"]
    assert codes(unset_fields(BROKEN, ["steps.1"])) == [*whole[:1], *whole[3:]]


def test_a_second_problem_of_the_same_kind_is_new() -> None:
    with pytest.raises(EditRefused) as caught:
        step_set(BROKEN, "c", {"input.output": {"k": "{{later}}"}})
    assert [(p.path, p.code) for p in caught.value.introduced] == [
        ("steps[2].input.output.k", "unknown_reference")
    ]
    assert len(caught.value.existing) == 6


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (lambda: step_rm(PLAN, "E9"), "there is no step 'E9'; there are: E0, E1, E2"),
        (lambda: step_rm(PLAN, "E2/do"), "names a body"),
        (lambda: step_rm(PLAN, "E1/do/B0"), "no list of steps at steps[1].input.do"),
        (lambda: step_set(PLAN, "E0", {"id": "E9"}), "renaming"),
        (lambda: set_fields(PLAN, {"steps.E9.id": 1}), "there is no E9 in steps"),
        (lambda: set_fields(PLAN, {"name.first": 1}), "name is no object"),
        (lambda: set_fields(PLAN, {"a..b": 1}), "no path"),
        (lambda: unset_fields(PLAN, ["description"]), "there is no description"),
        (lambda: step_add("steps: x\n", {"tool_name": "x__y", "input": {}}), "no list"),
        (lambda: step_add(PLAN, {"tool_name": "x__y", "input": {}}, before="E9"), "no step 'E9'"),
    ],
)
def test_nothing_at_the_place(edit: Callable[[], Edited], message: str) -> None:
    with pytest.raises(AuthoringError) as caught:
        edit()
    assert message in str(caught.value)


def test_an_alias_is_not_changed_behind_the_author_s_back() -> None:
    text = (
        "steps:\n  - { id: a, tool_name: x__y, input: &i { k: 1 } }\n  - { id: b, tool_name: x__y, input: *i }\n"
    )
    with pytest.raises(AuthoringError, match="aliases"):
        set_fields(text, {"steps.a.input.k": 2})
    with pytest.raises(AuthoringError, match="no object"):
        set_fields(text, {"steps.b.input.k": 2})


def test_a_text_that_is_not_yaml() -> None:
    with pytest.raises(PlanInvalid):
        set_fields("steps: [", {"name": "x"})
