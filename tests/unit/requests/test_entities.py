"""Entities that an answer names are found wherever the schema applies."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compozy.language.schema import SchemaInvalid, check_schema, field_errors
from compozy.requests.entities import EntityReference, references

pytestmark = pytest.mark.unit

AGENT = {"type": "string", "x-compozy-kind": "agent"}
SKILL = {"type": "string", "x-compozy-kind": "skill"}


@pytest.mark.parametrize(
    ("schema", "payload", "found"),
    [
        (AGENT, "bob", [("payload", "agent", "bob")]),
        ({"properties": {"a": AGENT}}, {"a": "bob", "b": "x"}, [("a", "agent", "bob")]),
        (
            {"properties": {"assignment": {"properties": {"reviewer": AGENT}}}},
            {"assignment": {"reviewer": "bob"}},
            [("assignment.reviewer", "agent", "bob")],
        ),
        (
            {"properties": {"reviewers": {"items": {"properties": {"name": AGENT}}}}},
            {"reviewers": [{"name": "a"}, {}, {"name": "b"}]},
            [("reviewers.0.name", "agent", "a"), ("reviewers.2.name", "agent", "b")],
        ),
        ({"prefixItems": [AGENT], "items": SKILL}, ["a", "s"], [("0", "agent", "a"), ("1", "skill", "s")]),
        ({"patternProperties": {"^by_": AGENT}}, {"by_x": "a", "x": "b"}, [("by_x", "agent", "a")]),
        (
            {"properties": {"a": {}}, "additionalProperties": AGENT},
            {"a": "x", "b": "y"},
            [("b", "agent", "y")],
        ),
        (
            {"allOf": [{"properties": {"a": {}}}], "unevaluatedProperties": AGENT},
            {"a": "x", "b": "y"},
            [("b", "agent", "y")],
        ),
        ({"allOf": [{"properties": {"a": AGENT}}, {}]}, {"a": "x"}, [("a", "agent", "x")]),
        (
            {"anyOf": [{"required": ["b"], "properties": {"a": SKILL}}, {"properties": {"a": AGENT}}]},
            {"a": "x"},
            [("a", "agent", "x")],
        ),
        (
            {"oneOf": [{"maxLength": 3, **AGENT}, {"minLength": 4, **SKILL}]},
            "long",
            [("payload", "skill", "long")],
        ),
        (
            {
                "if": {"properties": {"kind": {"const": "agent"}}},
                "then": {"properties": {"name": AGENT}},
                "else": {"properties": {"name": SKILL}},
            },
            {"kind": "skill", "name": "x"},
            [("name", "skill", "x")],
        ),
        ({"if": {"properties": {"n": AGENT}, "required": ["n"]}}, {"n": "x"}, [("n", "agent", "x")]),
        ({"contains": {"pattern": "^a", **AGENT}}, ["abc", "xyz"], [("0", "agent", "abc")]),
        ({"propertyNames": AGENT}, {"bob": 1}, [("bob", "agent", "bob")]),
        (
            {"dependentSchemas": {"a": {"properties": {"b": AGENT}}}},
            {"a": 1, "b": "x"},
            [("b", "agent", "x")],
        ),
        ({"dependentSchemas": {"a": {"properties": {"b": AGENT}}}}, {"b": "x"}, []),
        ({"$defs": {"who": AGENT}, "items": {"$ref": "#/$defs/who"}}, ["x"], [("0", "agent", "x")]),
        (
            {"properties": {"name": AGENT, "child": {"$ref": "#"}}},
            {"name": "a", "child": {"name": "b", "child": {}}},
            [("name", "agent", "a"), ("child.name", "agent", "b")],
        ),
        # an enum on the same property wins
        ({"properties": {"a": {"enum": ["x"], **AGENT}}}, {"a": "x"}, []),
        ({"allOf": [{"enum": ["x"]}, AGENT]}, "x", [("payload", "agent", "x")]),
        # found once, however often the schema says so
        ({"allOf": [AGENT, AGENT]}, "x", [("payload", "agent", "x")]),
        ({"allOf": [AGENT, SKILL]}, "x", [("payload", "agent", "x"), ("payload", "skill", "x")]),
        # what is excluded names nothing
        ({"not": {"properties": {"a": AGENT}, "required": ["b"]}}, {"a": "x"}, []),
        # what is no string is reported, not passed over
        ({"properties": {"a": {"x-compozy-kind": "agent"}}}, {"a": 3}, [("a", "agent", 3)]),
    ],
)
def test_references(schema, payload, found):
    assert check_schema(schema, "") == []
    assert references(schema, payload) == [EntityReference(*entry) for entry in found]


def test_an_unusable_schema_is_refused():
    with pytest.raises(SchemaInvalid):
        references({"$ref": "https://example.com/"}, {})


PARTS = st.sampled_from([AGENT, SKILL, {}, {"type": "object"}, {"minLength": 2}, True])
SCHEMAS = st.recursive(
    PARTS,
    lambda inner: st.fixed_dictionaries(
        {},
        optional={
            "properties": st.dictionaries(st.sampled_from("ab"), inner),
            "additionalProperties": inner,
            "unevaluatedProperties": inner,
            "items": inner,
            "anyOf": st.lists(inner, min_size=1, max_size=2),
            "if": inner,
            "then": inner,
            "contains": inner,
        },
    ),
    max_leaves=5,
).filter(lambda schema: isinstance(schema, dict))
PAYLOADS = st.recursive(
    st.sampled_from(["x", "long", 3, None]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("abc"), inner, max_size=2),
    max_leaves=5,
)


@given(SCHEMAS, PAYLOADS)
def test_what_is_found_is_in_the_payload(schema, payload):
    for reference in references(schema, payload):
        value = payload
        if reference.path != "payload":
            for segment in reference.path.split("."):
                value = value[int(segment)] if isinstance(value, list) else value[segment]
        assert value == reference.value
    if not field_errors(schema, payload):
        assert all(isinstance(reference.value, str) for reference in references(schema, payload))
