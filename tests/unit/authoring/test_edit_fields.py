"""Setting and removing fields, in all kinds of documents: what changes and what stays."""

from __future__ import annotations

import json
from typing import Any

import pytest

from compozy.language.authoring.changes import AuthoringError
from compozy.language.authoring.edits import (
    set_fields,
    step_add,
    step_rename,
    step_rm,
    step_set,
    unset_fields,
)
from compozy.language.authoring.format import format_text
from compozy.language.yaml_text import load
from support.edited_plan import GRAPH, PLAN, changes

pytestmark = pytest.mark.unit


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


STEP = "{ id: a, tool_name: x__y, input: {} }"


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
