"""The lint of `x-compozy-kind`."""

import pytest

from compozy.language.annotations import ENTITY_KINDS, kind_problems, secret_problems
from compozy.language.compile import compile_plan
from compozy.language.problems import PlanInvalid

pytestmark = pytest.mark.unit


@pytest.mark.parametrize("kind", ENTITY_KINDS)
def test_every_kind_is_known(kind):
    schema = {"properties": {"who": {"type": "string", "x-compozy-kind": kind}}}
    assert kind_problems(schema, "expect") == []


@pytest.mark.parametrize(
    ("schema", "path"),
    [
        ({"type": "string", "x-compozy-kind": "robot"}, "expect.x-compozy-kind"),
        ({"type": "string", "x-compozy-kind": ["agent"]}, "expect.x-compozy-kind"),
        ({"x-compozy-kind": "agent"}, "expect.type"),
        ({"type": ["string", "null"], "x-compozy-kind": "agent"}, "expect.type"),
        (
            {"properties": {"a": {"items": {"properties": {"b": {"x-compozy-kind": "agent"}}}}}},
            "expect.properties.a.items.properties.b.type",
        ),
        ({"anyOf": [{}, {"type": "string", "x-compozy-kind": ""}]}, "expect.anyOf[1].x-compozy-kind"),
        ({"$defs": {"a": {"x-compozy-kind": "agent"}}}, "expect.$defs.a.type"),
    ],
)
def test_a_wrong_annotation_is_told_where(schema, path):
    found = [(problem.path, problem.code) for problem in kind_problems(schema, "expect")]
    assert found == [(path, "request_entity_kind_invalid")]


def test_data_is_not_taken_for_a_schema():
    data = {"enum": [{"x-compozy-kind": "robot"}], "default": {"format": "password"}}
    assert kind_problems(data, "e") == secret_problems(data, "e") == []


@pytest.mark.parametrize(
    "field", [{"type": "string", "format": "password"}, {"type": "string", "writeOnly": True}]
)
def test_a_secret_is_named_never_typed(field):
    problems = secret_problems({"properties": {"token": field}}, "expect")
    assert [(problem.path, problem.code) for problem in problems] == [
        ("expect.properties.token", "request_secret_in_clear")
    ]
    assert secret_problems({"properties": {"token": {**field, "x-compozy-kind": "secret"}}}, "expect") == []


@pytest.mark.parametrize("secret", [{"format": "password"}, {"writeOnly": True}])
def test_steps_ask_for_no_secret_either(secret):
    schema = {"properties": {"token": {"type": "string", **secret}}}
    ask = {"id": "E0", "tool_name": "ask", "input": {"prompt": "Which?", "output_schema": schema}}
    with pytest.raises(PlanInvalid) as caught:
        compile_plan({"steps": [ask]})
    assert [(problem.path, problem.code) for problem in caught.value.problems] == [
        ("steps[0].input.output_schema.properties.token", "request_secret_in_clear")
    ]
    schema["properties"]["token"]["x-compozy-kind"] = "secret"
    compile_plan({"steps": [ask]})
