"""The declared inputs of a graph plan."""

from __future__ import annotations

from typing import Any

import pytest

from compozy.language.problems import InputsInvalid
from support.graphs import compiled, problems, tool

pytestmark = pytest.mark.unit


def schema(**declared: Any) -> Any:
    return compiled([tool("a")], inputs=declared).input_schema


def test_every_type() -> None:
    declared = {
        "text": {"type": "string", "required": True, "enum": ["a", "b"], "description": "One of two."},
        "many": {"type": "number", "default": 3},
        "yes": {"type": "boolean", "default": False},
        "path": {"type": "file"},
        "who": {"type": "agent", "required": False},
        "what": {"type": "ref", "ref": {"kind": "secret"}},
        "on": {"type": "runtime", "default": {"model": "m", "speed": "fast"}},
    }
    told = schema(**declared)
    assert told["required"] == ["text"]
    assert told["additionalProperties"] is False
    assert told["properties"]["text"] == {"type": "string", "enum": ["a", "b"], "description": "One of two."}
    assert told["properties"]["who"] == {"type": "string", "x-compozy-kind": "agent"}
    assert told["properties"]["what"] == {"type": "string", "x-compozy-kind": "secret"}
    plan = compiled([tool("a")], inputs=declared)
    assert plan.resolve_inputs({"text": "a"}) == {
        "text": "a",
        "many": 3,
        "yes": False,
        "on": {"model": "m", "speed": "fast"},
    }


@pytest.mark.parametrize("runtime", [{"speed": "slow"}, {"colour": "red"}, {"model": 1}, "m"])
def test_a_runtime_has_known_parts(runtime: Any) -> None:
    plan = compiled([tool("a")], inputs={"on": {"type": "runtime"}})
    with pytest.raises(InputsInvalid):
        plan.resolve_inputs({"on": runtime})


@pytest.mark.parametrize(
    ("declared", "path", "code"),
    [
        ("string", "", "invalid_type"),
        ({}, ".type", "missing_key"),
        ({"type": "text"}, ".type", "input_type_invalid"),
        ({"type": ["string"]}, ".type", "input_type_invalid"),
        ({"type": "string", "colour": 1}, ".colour", "unknown_key"),
        ({"type": "string", "required": "yes"}, ".required", "invalid_type"),
        ({"type": "string", "description": 1}, ".description", "invalid_type"),
        ({"type": "string", "default": 1}, ".default", "input_default_invalid"),
        ({"type": "number", "default": True}, ".default", "input_default_invalid"),
        ({"type": "runtime", "default": {"speed": "slow"}}, ".default", "input_default_invalid"),
        ({"type": "string", "enum": ["a"], "default": "b"}, ".default", "input_default_invalid"),
        ({"type": "string", "enum": []}, ".enum", "input_enum_invalid"),
        ({"type": "string", "enum": "a"}, ".enum", "input_enum_invalid"),
        ({"type": "string", "enum": ["a", 1]}, ".enum[1]", "input_enum_invalid"),
        ({"type": "ref"}, ".ref", "input_ref_invalid"),
        ({"type": "ref", "ref": {}}, ".ref.kind", "input_ref_invalid"),
        ({"type": "ref", "ref": {"kind": "agent"}}, ".ref.kind", "input_ref_invalid"),
        ({"type": "string", "ref": {"kind": "skill"}}, ".ref", "input_ref_invalid"),
    ],
)
def test_inputs_that_cannot_be_right(declared: Any, path: str, code: str) -> None:
    told = [(problem.path, problem.code) for problem in problems([tool("a")], inputs={"x": declared})]
    assert told == [(f"inputs.x{path}", code)]


def test_inputs_are_an_object() -> None:
    [problem] = problems([tool("a")], inputs=["x"])
    assert (problem.path, problem.code) == ("inputs", "invalid_type")


def test_a_broken_schema_is_told_once() -> None:
    told = problems([tool("a", x="{{ .inputs.y }}")], inputSchema={"type": [{}], "properties": {"x": {}}})
    assert {problem.path.split(".")[0] for problem in told} == {"inputSchema"}
