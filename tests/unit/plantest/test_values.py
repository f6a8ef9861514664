"""Values that conform to a schema, generated."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compozy.language.schema import check_schema, field_errors
from compozy.plantest.exploring.hints import hints_of
from compozy.plantest.exploring.unknown import Unknown
from compozy.plantest.exploring.values import MAX_VALUES, Hints, values_for

pytestmark = pytest.mark.unit


@pytest.mark.parametrize(
    ("schema", "some"),
    [
        ({"type": "boolean"}, [True, False]),
        ({"enum": ["a", 3, None]}, ["a", 3, None]),
        ({"oneOf": [{"const": 1, "title": "One"}, {"const": 2}]}, [1, 2]),
        ({"type": "integer", "minimum": 3, "maximum": 9}, [3, 9]),
        ({"type": "integer", "exclusiveMinimum": 3, "exclusiveMaximum": 9}, [4, 8]),
        ({"type": "number", "multipleOf": 0.25, "minimum": 0.3}, [0.5, 7.25]),
        ({"type": "string"}, ["text", "", "hot"]),
        ({"type": "string", "minLength": 5, "maxLength": 6}, ["textx", "xxxxxx"]),
        ({"type": "string", "format": "email"}, ["somebody@example.com"]),
        ({"type": "string", "pattern": "^v[0-9]"}, ["v1.0.0"]),
        ({"type": "string", "pattern": "^zz+$", "examples": ["zzz"]}, ["zzz"]),
        ({"type": ["string", "null"]}, ["text", None]),
        ({"type": "array", "items": {"enum": ["a", "b"]}}, [["a"], [], ["a", "b"], ["b"]]),
        ({"type": "array", "items": {"type": "string", "pattern": "^v[0-9]"}, "minItems": 2}, [["v1.0.0"] * 2]),
        ({"prefixItems": [{"const": 1}, {"const": "a"}]}, [[1, "a"]]),
        (
            {"required": ["a"], "properties": {"a": {"enum": [1, 2]}, "b": {"type": "boolean"}}},
            [{"a": 1, "b": True}, {"a": 1}, {"a": 2, "b": False}, {"a": 2}],
        ),
        (
            {"properties": {"a": {"required": ["b"], "properties": {"b": {"const": 1}}}}},
            [{"a": {"b": 1}}, {}],
        ),
        ({"$ref": "#/$defs/x", "$defs": {"x": {"type": "boolean"}}}, [True, False]),
        ({"allOf": [{"type": "integer", "minimum": 3}, {"maximum": 3}]}, [3]),
        ({"type": "integer"}, [6, 7, 8]),
        ({"type": "object", "additionalProperties": False}, [{}]),
        ({"type": "integer", "default": 12}, [12]),
    ],
)
def test_values_at_the_edges_are_there(schema, some):
    values = values_for(schema, Hints(("hot",), (7,)))
    assert [value for value in some if value not in values] == []


@pytest.mark.parametrize("schema", [{}, {"type": "object"}])
def test_without_any_rule_a_value_is_unknown(schema):
    assert [type(value) for value in values_for(schema)] == [Unknown]


def test_nothing_is_made_where_nothing_fits():
    assert values_for({"type": "string", "pattern": "^qqq$"}) == []


def test_many_fields_vary_one_at_a_time():
    schema = {"properties": {f"f{n}": {"enum": [0, 1, 2]} for n in range(10)}}
    values = values_for(schema)
    assert all(any(value.get(f"f{n}") == option for value in values) for n in range(10) for option in (0, 1, 2))
    assert len(values) <= MAX_VALUES


SCALARS = st.sampled_from(
    [
        {"type": "string"},
        {"type": "string", "minLength": 3, "maxLength": 4},
        {"type": "integer", "minimum": -3},
        {"type": "number", "exclusiveMaximum": 0.5},
        {"type": "boolean"},
        {"enum": ["a", None]},
        {"type": ["integer", "null"], "multipleOf": 3},
        {"type": "string", "format": "date"},
        {},
    ]
)


def _containers(inner):
    objects = st.builds(
        lambda properties, needed: {"properties": properties, "required": sorted(needed & set(properties))},
        st.dictionaries(st.sampled_from("abc"), inner, min_size=1),
        st.sets(st.sampled_from("abc")),
    )
    lists = st.builds(lambda items, least: {"items": items, "minItems": least}, inner, st.integers(0, 2))
    return objects | lists | st.builds(lambda one, other: {"anyOf": [one, other]}, inner, inner)


SCHEMAS = st.recursive(SCALARS, _containers, max_leaves=6)


@settings(max_examples=150, deadline=None)
@given(SCHEMAS)
def test_every_value_conforms_and_each_comes_once(schema):
    if check_schema(schema, ""):
        return
    values = values_for(schema)
    assert 0 < len(values) <= MAX_VALUES
    assert [field_errors(schema, value) for value in values] == [{}] * len(values)
    texts = [json.dumps(value, sort_keys=True) for value in values if not isinstance(value, Unknown)]
    assert len(texts) == len(set(texts)) or "Unknown" in repr(values)
    assert repr(values_for(schema)) == repr(values)


@pytest.mark.parametrize(
    ("spec", "texts", "numbers"),
    [
        ({"when": {"value": "{{E0.a}}", "op": "eq", "to": "hot"}}, ("hot",), ()),
        ({"where": {"value": 3, "op": "lt", "to": [4.5, "{{x}}", {"a": "deep"}]}}, ("deep",), (4.5, 3)),
        ({"when": "nodes.a.output.n > 7 && x == 'yes' || y == \"no\" && v1 < 2.5"}, ("yes", "no"), (7, 2.5)),
        ({"if": {"value": True, "op": "eq", "to": None}}, (), ()),
        ({"input": {"value": "no gate", "to": 3}}, (), ()),
    ],
)
def test_constants_of_gates_and_conditions_are_hints(spec, texts, numbers):
    hints = hints_of({"steps": [spec]})
    assert (hints.texts, hints.numbers) == (texts, numbers)
