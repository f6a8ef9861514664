"""Values that nobody knows, and who looks at them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compozy.language.errors import RenderError
from compozy.language.steps.gate import compile_gate
from compozy.language.steps.template import compile_value
from compozy.plantest.exploring.fill import filled
from compozy.plantest.exploring.unknown import Unknown, Watch, holds_unknown, unwatched
from support.language_strategies import json_values

pytestmark = pytest.mark.unit

SCOPE = {
    "T": Unknown(),
    "E0": {"known": 1, "list": [1, Unknown()], "part": Unknown(), "deep": {"known": "x", "part": Unknown()}},
    "E1": {"known": 2},
}


@pytest.mark.parametrize(
    ("template", "touched"),
    [
        ("{{E0.known}}", False),
        ("{{E0.list.0}}", False),
        ("{{E0.list.length}}", False),
        ("{{E0.deep.known}} and {{E1.known}}", False),
        ("{{T}}", True),
        ("{{T.a.b}}", True),
        ("{{E0.part}}", True),
        ("{{E0.list.1}}", True),
        ("{{E0.deep.part.x}} ", True),
        ("{{#E0.list}}{{known}}{{/E0.list}}", True),
        ("{{#T.rows}}{{name}}{{/T.rows}}", True),
        ("text of {{E0.deep}}", True),
    ],
)
def test_only_looking_at_something_unknown_is_noticed(template, touched):
    watch = Watch(SCOPE)
    compile_value(template).render(watch)
    assert watch.touched is touched


@pytest.mark.parametrize("template", ["{{T.0}}", "{{T.rows.length}}", "{{E0.part.3.x}}"])
def test_what_fails_over_something_unknown_is_noticed(template):
    watch = Watch(SCOPE)
    with pytest.raises(RenderError):
        compile_value(template).render(watch)
    assert watch.touched


@pytest.mark.parametrize(
    ("value", "op", "touched"),
    [
        ("{{T.ok}}", "eq", True),
        ("{{E0.part}}", "not_empty", True),
        ("{{E0.deep}}", "eq", True),
        ("{{E0.list}}", "contains", True),
        ("{{E0.known}}", "eq", False),
    ],
)
def test_gates_over_something_unknown_are_noticed(value, op, touched):
    watch = Watch(SCOPE)
    compile_gate({"value": value, "op": op, "to": {"known": "x", "part": {}}}).test(watch)
    assert watch.touched is touched


def test_a_value_comes_out_as_it_was_inside():
    rendered = compile_value({"a": "{{E0.list}}", "b": ["{{E0}}", "{{E1}}"]}).render(Watch(SCOPE))
    value = unwatched(rendered)
    assert value["a"] is SCOPE["E0"]["list"]
    assert value["b"][0] is SCOPE["E0"]
    assert value["b"][1] == {"known": 2}


@given(st.dictionaries(st.text(max_size=4), json_values, min_size=1))
def test_what_is_known_is_never_watched(scope):
    watch = Watch(scope)
    assert {root: watch[root] for root in watch} == scope
    assert not watch.touched
    assert not holds_unknown(scope)


@pytest.mark.parametrize(
    ("schema", "value", "expected"),
    [
        ({"properties": {"a": {"enum": ["x", "y"]}}}, {"a": Unknown(), "b": 1}, {"a": "x", "b": 1}),
        ({"properties": {"a": {"type": "boolean"}}}, {"a": False}, {"a": False}),
        ({"properties": {"a": {"items": {"const": 3}}}}, {"a": [Unknown(), 3]}, {"a": [3, 3]}),
        ({"required": ["a"], "properties": {"a": {"const": 1}}}, Unknown(), {"a": 1}),
        ({"required": ["a"], "properties": {"a": {"const": 1}}}, {"b": Unknown()}, {"a": 1}),
        (None, {"a": 1}, {"a": 1}),
    ],
)
def test_unknown_parts_are_filled_so_that_they_conform(schema, value, expected):
    assert filled(schema, value) == expected
