"""Schemas as forms, and forms as answers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compozy.language.field_order import ORDER, with_order
from compozy.requests.forms import MISSING, fields, payload_of

pytestmark = pytest.mark.unit


def lines(schema):
    return [(entry.name, entry.hint, entry.required) for entry in fields(schema)]


def test_fields_come_in_the_order_in_which_the_author_wrote_them():
    schema = {"properties": {"z": {"type": "string"}, "a": {"type": "integer"}}, "required": ["a"]}
    assert lines(schema) == [("z", "text", False), ("a", "integer", True)]


def test_an_order_that_was_written_down_survives_sorted_keys():
    schema = {
        "properties": {
            "z": {"type": "string"},
            "a": {
                "properties": {"y": {"type": "string"}, "b": {"type": "string"}},
                "default": {"properties": {"q": 1, "p": 2}},
            },
        }
    }
    written = with_order(schema)
    assert written["properties"]["a"]["default"] == {"properties": {"q": 1, "p": 2}}
    assert ORDER not in schema

    def stored(value):
        if isinstance(value, dict):
            return {key: stored(value[key]) for key in sorted(value)}
        return [stored(item) for item in value] if isinstance(value, list) else value

    assert (
        lines(stored(written))
        == lines(schema)
        == [("z", "text", False), ("a.y", "text", False), ("a.b", "text", False)]
    )
    assert with_order(written) == written


def test_an_order_that_does_not_match_hides_nothing():
    schema = {ORDER: ["b", "gone", "b"], "properties": {"a": {"type": "string"}, "b": {"type": "string"}}}
    assert [name for name, _, _ in lines(schema)] == ["b", "a"]
    assert [name for name, _, _ in lines({**schema, ORDER: "b"})] == ["a", "b"]


@pytest.mark.parametrize(
    ("schema", "type_", "hint"),
    [
        ({"type": "string"}, "string", "text"),
        ({"type": "string", "pattern": "^a", "format": "email"}, "string", "email"),
        ({"type": "string", "minLength": 3, "maxLength": 3}, "string", "text, 3 characters"),
        ({"type": "string", "minLength": 0, "maxLength": 9}, "string", "text, at most 9 characters"),
        ({"type": "string", "minimum": 9}, "string", "text"),
        ({"type": "integer", "minimum": 1}, "integer", "integer, at least 1"),
        ({"type": "integer", "minimum": 1, "maximum": 3}, "integer", "integer, 1 to 3"),
        ({"type": "integer", "minimum": 0, "multipleOf": 5}, "integer", "integer, at least 0, a multiple of 5"),
        (
            {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1.5},
            "number",
            "number, more than 0, less than 1.5",
        ),
        ({"type": "number"}, "number", "number"),
        ({"type": "boolean"}, "boolean", "y/n"),
        ({"enum": ["stable", "beta"]}, "enum", "stable | beta"),
        ({"type": "integer", "enum": [1, 2]}, "enum", "1 | 2"),
        ({"enum": ["a", None, True, 1.5, "", " b"]}, "enum", 'a | null | true | 1.5 | "" | " b"'),
        ({"const": "x"}, "enum", "x"),
        ({"type": "string", "oneOf": [{"const": "a", "title": "A"}, {"const": "b"}]}, "enum", "a (A) | b"),
        ({"oneOf": [{"const": "a", "title": "A"}, {"const": "b", "title": "b"}]}, "enum", "a (A) | b"),
        ({"anyOf": [{"const": 1, "title": "one"}]}, "enum", "1 (one)"),
        ({"type": "array", "items": {"enum": ["a", "b"]}}, "list", "any of a | b, with commas between"),
        (
            {"type": "array", "minItems": 1, "maxItems": 2, "items": {"oneOf": [{"const": "a", "title": "A"}]}},
            "list",
            "1 to 2 of a (A), with commas between",
        ),
        (
            {"type": "array", "minItems": 1, "items": {"type": "integer", "anyOf": [{"const": 1}, {"const": 2}]}},
            "list",
            "at least 1 of 1 | 2, with commas between",
        ),
        ({"type": "array", "items": {"enum": [["a"]]}}, "json", "json"),
        ({"type": "array", "prefixItems": [{}], "items": {"enum": ["a"]}}, "json", "json"),
        ({"type": "array", "items": {"type": "string"}}, "json", "json"),
        ({"items": {"enum": ["a"]}}, "json", "json"),
        ({"type": ["string", "null"]}, "json", "json"),
        ({"oneOf": [{"type": "string"}, {"type": "integer"}]}, "json", "json"),
        ({"type": "string", "anyOf": [{"minLength": 3}, {"pattern": "^x"}]}, "json", "json"),
        ({"type": "object"}, "json", "json"),
        ({"type": "object", "additionalProperties": {"type": "string"}}, "json", "json"),
        ({"type": "object", "properties": {}}, "json", "json"),
        ({"properties": {"b": {"type": "string"}}, "minProperties": 1}, "json", "json"),
        ({}, "json", "json"),
        (True, "json", "json"),
    ],
)
def test_hints(schema, type_, hint):
    (entry,) = fields({"type": "object", "properties": {"a": schema}})
    assert (entry.name, entry.type, entry.hint) == ("a", type_, hint)


def test_nested_objects_are_flattened_and_optional_where_any_part_of_the_way_is():
    name = {"type": "string", "x-compozy-kind": "agent", "description": "Who"}
    inner = {"type": "object", "required": ["name"], "properties": {"name": name, "note": {"type": "string"}}}
    schema = {"type": "object", "required": ["must"], "properties": {"must": inner, "may": inner}}
    assert lines(schema) == [
        ("must.name", "agent name", True),
        ("must.note", "text", False),
        ("may.name", "agent name", False),
        ("may.note", "text", False),
    ]
    assert (fields(schema)[0].entity_kind, fields(schema)[0].description) == ("agent", "Who")


def test_references_are_followed_and_recursion_ends_in_json():
    schema = {
        "$defs": {"who": {"type": "string", "description": "Anybody"}},
        "properties": {"a": {"$ref": "#/$defs/who", "description": "Reviewer"}},
    }
    assert [(entry.hint, entry.description) for entry in fields(schema)] == [("text", "Reviewer")]
    tree = {
        "$defs": {"t": {"properties": {"t": {"$ref": "#/$defs/t"}}}},
        "properties": {"t": {"$ref": "#/$defs/t"}},
    }
    assert [entry.hint for entry in fields(tree)] == ["json"]


@pytest.mark.parametrize(
    ("said", "label"),
    [
        ({"title": "T"}, "T"),
        ({"description": "D"}, "D"),
        ({"title": "T", "description": "D"}, "T: D"),
        ({"title": "T", "description": "T"}, "T"),
        ({}, ""),
    ],
)
def test_a_label_is_the_title_and_the_description(said, label):
    (entry,) = fields({"properties": {"a": {"type": "string", **said}}})
    assert entry.description == label


def test_the_options_of_a_list_may_be_referred_to():
    schema = {
        "$defs": {"tag": {"enum": ["a", "b"]}},
        "properties": {"tags": {"type": "array", "items": {"$ref": "#/$defs/tag"}}},
    }
    (entry,) = fields(schema)
    assert (entry.type, [choice.value for choice in entry.choices]) == ("list", ["a", "b"])


def test_the_default_of_an_object_is_that_of_its_fields():
    inner = {"properties": {"x": {"type": "integer", "default": 1}, "y": {"type": "integer", "default": 2}}}
    schema = {
        "default": {"b": {"y": 5}, "other": 1},
        "properties": {"a": {**inner, "default": {"x": 4}}, "b": {**inner, "default": {"y": 9}}},
    }
    assert {entry.name: entry.default for entry in fields(schema)} == {"a.x": 4, "a.y": 2, "b.x": 1, "b.y": 5}


def test_a_field_knows_the_optional_object_it_is_in():
    leaf = {"type": "string"}
    inner = {"properties": {"leaf": leaf}}
    outer = {"required": ["must"], "properties": {"must": inner, "may": inner, "leaf": leaf}}
    schema = {"required": ["must"], "properties": {"must": outer, "may": outer, "leaf": leaf}}
    assert {entry.name: ".".join(entry.group) for entry in fields(schema)} == {
        "must.must.leaf": "",
        "must.may.leaf": "must.may",
        "must.leaf": "",
        "may.must.leaf": "may",
        "may.may.leaf": "may.may",
        "may.leaf": "may",
        "leaf": "",
    }


def test_a_default_is_kept_even_if_it_is_false_or_null():
    schema = {
        "properties": {"a": {"type": "boolean", "default": False}, "b": {"default": None}, "c": {"type": "string"}}
    }
    assert [entry.default for entry in fields(schema)] == [False, None, MISSING]


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({"type": "object", "properties": {}}, []),
        ({"type": "string", "description": "Name"}, [("payload", "text", True)]),
        ({"enum": ["a"]}, [("payload", "a", True)]),
        ({"oneOf": [{"type": "object"}, {"type": "string"}]}, [("payload", "json", True)]),
        (
            {"type": "object", "properties": {"a": {"type": "string"}}, "minProperties": 1},
            [("payload", "json", True)],
        ),
        ({"type": "object"}, [("payload", "json", True)]),
        ({}, [("payload", "json", True)]),
        (
            {"properties": {"a": {"type": "string"}}, "required": ["b"]},
            [("a", "text", False), ("b", "json", True)],
        ),
        ({"properties": {"a": False, "b": {"type": "string"}}}, [("b", "text", False)]),
    ],
)
def test_the_whole_answer_can_be_one_field_or_none(schema, expected):
    assert lines(schema) == expected


@pytest.mark.parametrize(
    ("values", "payload"),
    [
        ({}, {}),
        ({("a",): 1, ("b", "c"): 2, ("b", "d", "e"): None}, {"a": 1, "b": {"c": 2, "d": {"e": None}}}),
        ({("a.b",): 1}, {"a.b": 1}),
        ({(): [1]}, [1]),
        ({(): None}, None),
    ],
)
def test_values_make_the_answer(values, payload):
    assert payload_of(values) == payload


def test_objects_are_there_although_nothing_is_in_them():
    assert payload_of({("a", "x"): 1}, [("a",), ("b", "c")]) == {"a": {"x": 1}, "b": {"c": {}}}


@given(
    st.dictionaries(
        st.text(min_size=1), st.sampled_from([{"type": "string"}, {"type": "boolean"}, {}, True]), min_size=1
    )
)
def test_every_property_has_a_field_of_its_own(properties):
    assert [entry.path for entry in fields({"properties": properties})] == [(name,) for name in properties]
