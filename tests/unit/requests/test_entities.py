"""Entities that an answer names are found wherever the schema applies."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compozy.language.schema import SchemaInvalid, check_schema, field_errors
from compozy.language.shapes.shape import TooCostlyError
from compozy.requests.entities import EntityReference, references
from support.naive_entities import named

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
        # where nothing else has evaluated it
        ({"additionalProperties": AGENT}, {"a": "x"}, [("a", "agent", "x")]),
        (
            {"anyOf": [{"properties": {"a": {"minLength": 9}}}, True], "unevaluatedProperties": AGENT},
            {"a": "x"},
            [("a", "agent", "x")],
        ),
        (
            {"if": {"properties": {"a": {"const": "x"}}}, "unevaluatedProperties": AGENT},
            {"a": "x", "b": "y"},
            [("b", "agent", "y")],
        ),
        (
            {"patternProperties": {"^a": True}, "unevaluatedProperties": AGENT},
            {"ab": "x", "b": "y"},
            [("b", "agent", "y")],
        ),
        ({"unevaluatedItems": AGENT}, ["x"], [("0", "agent", "x")]),
        ({"prefixItems": [True], "unevaluatedItems": AGENT}, ["x", "y"], [("1", "agent", "y")]),
        ({"allOf": [{"prefixItems": [True]}], "unevaluatedItems": AGENT}, ["x", "y"], [("1", "agent", "y")]),
        ({"allOf": [{"items": True}], "unevaluatedItems": AGENT}, ["x"], []),
        ({"contains": {"const": "x"}, "unevaluatedItems": AGENT}, ["x", "y"], [("1", "agent", "y")]),
        ({"$defs": {"l": {"items": True}}, "$ref": "#/$defs/l", "unevaluatedItems": AGENT}, ["x"], []),
        # both of a list that is given twice, and a branch that does not fit names nothing
        ({"items": AGENT, "contains": SKILL}, ["x"], [("0", "agent", "x"), ("0", "skill", "x")]),
        ({"anyOf": [{"items": AGENT, "minItems": 2}, {"items": SKILL}]}, ["x"], [("0", "skill", "x")]),
        (
            {"patternProperties": {"a": AGENT, "b": SKILL}},
            {"ab": "x"},
            [("ab", "agent", "x"), ("ab", "skill", "x")],
        ),
        # indexes and names of any depth
        (
            {"items": {"items": {"properties": {"by": {"items": AGENT}}}}},
            [[], [{}, {"by": ["x", "y"]}]],
            [("1.1.by.0", "agent", "x"), ("1.1.by.1", "agent", "y")],
        ),
        ({"properties": {"a": AGENT}}, {"a": None}, [("a", "agent", None)]),
        ({"properties": {"a": AGENT}}, "text", []),
        ({"items": AGENT}, {"0": "x"}, []),
        ({"properties": {"a": {"const": "x", **AGENT}}}, {"a": "x"}, [("a", "agent", "x")]),
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


TREE = {
    "type": "object",
    "properties": {"who": AGENT, "child": {"$ref": "#"}, "all": {"items": {"$ref": "#/$defs/part"}}},
    "$defs": {"part": {"anyOf": [SKILL, {"$ref": "#"}]}},
}


def test_a_value_that_takes_too_many_ways_through_a_schema_is_refused():
    """Two patterns that lead back to the root: 2^40 ways to the bottom."""
    schema = {"patternProperties": {"a": {"$ref": "#"}, "^a": {"$ref": "#"}}}
    payload = {}
    for _ in range(40):
        payload = {"a": payload}
    with pytest.raises(TooCostlyError):
        references(schema, payload)


_ENUM = {**SKILL, "enum": ["x"]}
_CLOSED = [{}, {"type": "object"}, {"minLength": 2}, {"const": "x"}, True, False, {"required": ["a"]}]
PARTS = st.sampled_from([AGENT, SKILL, _ENUM, {"$ref": "#/$defs/d"}, *_CLOSED])


def _schemas(inner):
    some = st.lists(inner, min_size=1, max_size=2)
    named_parts = st.dictionaries(st.sampled_from("ab"), inner, max_size=2)
    keywords = {
        **dict.fromkeys(("properties", "dependentSchemas"), named_parts),
        "patternProperties": st.dictionaries(st.sampled_from(["a", "^b", "."]), inner, max_size=2),
        **dict.fromkeys(("allOf", "anyOf", "oneOf", "prefixItems"), some),
        **dict.fromkeys(("additionalProperties", "unevaluatedProperties", "propertyNames"), inner),
        **dict.fromkeys(("items", "unevaluatedItems", "contains", "not", "if", "then", "else"), inner),
    }
    return st.sets(st.sampled_from(sorted(keywords)), max_size=4).flatmap(
        lambda chosen: st.fixed_dictionaries({keyword: keywords[keyword] for keyword in sorted(chosen)})
    )


SCHEMAS = st.builds(
    lambda schema, definition: {**schema, "$defs": {"d": definition}},
    st.recursive(PARTS, _schemas, max_leaves=6).filter(lambda schema: isinstance(schema, dict)),
    st.sampled_from([AGENT, {"properties": {"a": SKILL}}, {"items": AGENT}, {"minLength": 2}]),
)
PAYLOADS = st.recursive(
    st.sampled_from(["x", "long", 3, None]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("abc"), inner, max_size=2),
    max_leaves=5,
)


@given(SCHEMAS | st.just(TREE), PAYLOADS)
def test_it_finds_what_a_naive_reading_finds(schema, payload):
    expected = named(schema, payload)
    assert (expected is None) == bool(field_errors(schema, payload))
    if expected is not None:
        found = references(schema, payload)
        assert {(one.path, one.kind, repr(one.value)) for one in found} == expected
        assert len(found) == len(expected)


@given(SCHEMAS, PAYLOADS)
def test_what_is_found_is_in_the_payload(schema, payload):
    for reference in references(schema, payload):
        value = payload
        if reference.path != "payload":
            for segment in reference.path.split("."):
                value = value[int(segment)] if isinstance(value, list) else value[segment]
        # A name can be what it is about itself: that is what `propertyNames` says.
        assert reference.value in (value, reference.path.rpartition(".")[2])
    if not field_errors(schema, payload):
        assert all(isinstance(reference.value, str) for reference in references(schema, payload))
