"""Schemas are usable or refused with a place; values conform or are told where they do not."""

import json
import math
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from compozy.language.schema import (
    SchemaInvalid,
    check_schema,
    field_errors,
    flat_object_problems,
    normalize_schema,
    with_defaults,
)

pytestmark = pytest.mark.unit

RELEASE = {
    "type": "object",
    "required": ["channel", "confirm"],
    "properties": {
        "channel": {"enum": ["stable", "beta", "nightly"], "description": "Release channel"},
        "confirm": {"type": "boolean", "description": "Really cut it?"},
    },
}


def test_importing_the_face_does_not_import_jsonschema():
    code = "import sys, compozy.language.schema; print('jsonschema' in sys.modules)"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert shown.strip() == "False"


# -- whether a schema can be used ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "schema",
    [
        RELEASE,
        {},
        {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "$id": "https://example.com/x",
            "type": "null",
        },
        {"$defs": {"name": {"type": "string"}}, "properties": {"a": {"$ref": "#/$defs/name"}}},
        {"$defs": {"name": {"$anchor": "name", "type": "string"}}, "properties": {"a": {"$ref": "#name"}}},
        {"properties": {"child": {"$ref": "#"}}},
        {"properties": {"$ref": {"type": "string"}, "$schema": {"type": "string"}}},
        {"enum": [{"$ref": "https://example.com/only-data"}]},
        {"pattern": r"^\p{L}[\w.-]{1,30}$"},
        {"type": "string", "x-compozy-kind": "agent"},
    ],
)
def test_usable_schemas_have_no_problems(schema):
    assert check_schema(schema, "expect") == []


@pytest.mark.parametrize(
    ("schema", "path", "code"),
    [
        ([], "expect", "schema_invalid"),
        (True, "expect", "schema_invalid"),
        ({1: 2}, "expect", "schema_invalid"),
        ({"maximum": math.inf}, "expect.maximum", "schema_invalid"),
        ({"type": "strin"}, "expect.type", "schema_invalid"),
        ({"properties": {"a": {"type": "dict"}}}, "expect.properties.a.type", "schema_invalid"),
        ({"allOf": [{}, {"maxLength": -1}]}, "expect.allOf[1].maxLength", "schema_invalid"),
        ({"required": "channel"}, "expect.required", "schema_invalid"),
        ({"$ref": "https://example.com/schema"}, "expect.$ref", "schema_remote_reference"),
        ({"items": {"$ref": "other.json#/a"}}, "expect.items.$ref", "schema_remote_reference"),
        ({"items": {"$ref": "file:///etc/passwd"}}, "expect.items.$ref", "schema_remote_reference"),
        ({"$ref": "#/$defs/nowhere"}, "expect.$ref", "schema_reference_unresolved"),
        ({"$ref": "#nowhere"}, "expect.$ref", "schema_reference_unresolved"),
        ({"$ref": "#/enum/0", "enum": [{"pattern": "("}]}, "expect.$ref", "schema_reference_unresolved"),
        ({"allOf": [{"$ref": "#/allOf/x"}]}, "expect.allOf[0].$ref", "schema_reference_unresolved"),
        ({"$ref": "#"}, "expect", "schema_reference_circular"),
        ({"anyOf": [{"not": {"$ref": "#"}}]}, None, "schema_reference_circular"),
        ({"$dynamicRef": "#x"}, "expect.$dynamicRef", "schema_reference_unsupported"),
        ({"items": {"$id": "https://example.com/"}}, "expect.items.$id", "schema_reference_unsupported"),
        ({"$schema": "http://json-schema.org/draft-07/schema#"}, "expect.$schema", "schema_dialect_unsupported"),
        (
            {"items": {"$schema": "http://json-schema.org/draft-07/schema#"}},
            "expect.items.$schema",
            "schema_dialect_unsupported",
        ),
        ({"pattern": "(?=a)b"}, "expect.pattern", "schema_pattern_unsupported"),
        ({"patternProperties": {r"(a)\1": {}}}, r"expect.patternProperties.(a)\1", "schema_pattern_unsupported"),
        ({"description": "x" * 70_000}, "expect", "schema_too_large"),
        ({"title": "string"}, "expect", "schema_shorthand_ambiguous"),
    ],
)
def test_unusable_schemas_are_told_where(schema, path, code):
    problems = check_schema(schema, "expect")
    assert [problem.code for problem in problems] == [code]
    assert path is None or problems[0].path == path


def test_a_schema_nested_too_deeply_is_refused_and_the_deepest_allowed_one_works():
    def nested(levels):
        schema = {"type": "string"}
        for _ in range(levels):
            schema = {"properties": {"a": schema}}
        return schema

    assert check_schema(nested(19), "") == []
    assert [problem.code for problem in check_schema(nested(21), "")] == ["schema_invalid"]
    value = 1
    for _ in range(19):
        value = {"a": value}
    assert field_errors(nested(19), value) == {".".join("a" * 19): "must be text"}


def test_a_schema_that_contains_itself_is_refused():
    schema = {"properties": {}}
    schema["properties"]["again"] = schema
    assert [problem.code for problem in check_schema(schema, "")] == ["schema_invalid"]
    with pytest.raises(SchemaInvalid):
        field_errors(schema, {})


def test_a_value_is_never_held_to_an_unusable_schema():
    with pytest.raises(SchemaInvalid) as raised:
        field_errors({"$ref": "https://example.com/"}, {})
    assert raised.value.problems[0].code == "schema_remote_reference"


# -- whether a value conforms -------------------------------------------------------------------------------

REVIEWERS = {
    "type": "object",
    "required": ["assignment"],
    "properties": {
        "assignment": {
            "type": "object",
            "required": ["reviewer"],
            "properties": {"reviewer": {"type": "string"}},
            "additionalProperties": False,
        },
        "backups": {"type": "array", "items": {"type": "object", "required": ["name"]}, "maxItems": 2},
    },
}


@pytest.mark.parametrize(
    ("schema", "value", "errors"),
    [
        (RELEASE, {"channel": "nightly", "confirm": True}, {}),
        (RELEASE, {"channel": "nightly", "confirm": True, "extra": 1}, {}),
        (RELEASE, {}, {"channel": "is required", "confirm": "is required"}),
        (
            RELEASE,
            {"channel": "Nightly", "confirm": True},
            {"channel": 'must be one of "stable", "beta", "nightly"'},
        ),
        (RELEASE, {"channel": "beta", "confirm": "true"}, {"confirm": "must be true or false"}),
        (RELEASE, [], {"payload": "must be an object"}),
        (RELEASE, None, {"payload": "must be an object"}),
        (REVIEWERS, {"assignment": {}}, {"assignment.reviewer": "is required"}),
        (REVIEWERS, {"assignment": {"reviewer": 3}}, {"assignment.reviewer": "must be text"}),
        (REVIEWERS, {"assignment": {"reviewer": "x", "also": 1}}, {"assignment.also": "is not a known field"}),
        (
            REVIEWERS,
            {"assignment": {"reviewer": "x"}, "backups": [{"name": "y"}, {}]},
            {"backups.1.name": "is required"},
        ),
        ({"type": "integer"}, True, {"payload": "must be an integer"}),
        ({"type": "integer"}, 3.5, {"payload": "must be an integer"}),
        ({"type": "integer"}, 3.0, {}),
        ({"type": "number"}, False, {"payload": "must be a number"}),
        ({"type": "number"}, math.nan, {"payload": "must be a finite number"}),
        ({}, {"a": [math.inf]}, {"a.0": "must be a finite number"}),
        ({}, 2**63, {"payload": "must fit in 64 bits"}),
        ({}, {"a": "\ud800"}, {"a": "is not valid Unicode text"}),
        ({"enum": [1]}, True, {"payload": "must be one of 1"}),
        ({"const": 0}, False, {"payload": "must be 0"}),
        ({"type": ["string", "null"]}, 1, {"payload": "must be text or null"}),
        ({"minimum": 3}, 2, {"payload": "must be at least 3"}),
        ({"maxLength": 1}, "ab", {"payload": "must have at most 1 character"}),
        ({"multipleOf": 0.01}, 19.99, {}),
        ({"multipleOf": 0.1}, 0.3, {}),
        ({"multipleOf": 0.1}, 0.25, {"payload": "must be a multiple of 0.1"}),
        ({"multipleOf": 1e-300}, 2**62, {}),
        ({"multipleOf": 3e-300}, 2**62, {"payload": "must be a multiple of 3e-300"}),
        ({"pattern": "[0-9]{4}"}, "a12345", {}),
        ({"pattern": "^[0-9]{4}$"}, "a12345", {"payload": "must match the pattern ^[0-9]{4}$"}),
        ({"pattern": "^[0-9]{4}$"}, "1234\n", {"payload": "must match the pattern ^[0-9]{4}$"}),
        ({"uniqueItems": True}, [1, True, "1"], {}),
        ({"uniqueItems": True}, [1, 1.0], {"payload": "must not hold the same item twice"}),
        ({"oneOf": [{"const": "a", "title": "A"}, {"const": "b"}]}, "c", {"payload": 'must be one of "a", "b"'}),
        ({"oneOf": [{"minimum": 1}, {"minimum": 2}]}, 3, {"payload": "fits more than one of the alternatives"}),
        ({"anyOf": [{"type": "object", "required": ["x"]}, {"type": "string"}]}, {}, {"x": "is required"}),
        ({"dependentRequired": {"a": ["b"]}}, {"a": 1}, {"b": "is required with `a`"}),
        ({"properties": {"a": False}}, {"a": 1}, {"a": "is not a known field"}),
        (
            {"allOf": [{"properties": {"a": {}}}], "unevaluatedProperties": False},
            {"a": 1, "b": 2},
            {"b": "is not a known field"},
        ),
        (
            {"patternProperties": {"^x-": {"type": "string"}}, "additionalProperties": False},
            {"x-a": 1, "y": 2},
            {"x-a": "must be text", "y": "is not a known field"},
        ),
        ({"if": {"required": ["a"]}, "then": {"required": ["b"]}}, {"a": 1}, {"b": "is required"}),
        ({"not": {"type": "string"}}, "x", {"payload": "is one of the values that are excluded"}),
    ],
)
def test_faults_by_dotted_path(schema, value, errors):
    assert field_errors(schema, value) == errors


def test_no_message_repeats_the_value():
    secret = "hunter2-is-the-answer"
    schema = {
        "properties": {
            "a": {"enum": ["x"]},
            "b": {"pattern": "^x$"},
            "c": {"const": 1},
            "d": {"maxLength": 1},
            "e": {"type": "integer"},
            "f": {"format": "date"},
            "g": {"not": {}},
            "h": {"oneOf": [{"type": "null"}]},
        }
    }
    errors = field_errors(schema, dict.fromkeys("abcdefgh", secret))
    assert sorted(errors) == list("abcdefgh")
    assert secret not in json.dumps(errors)


def test_patterns_that_ruin_backtracking_engines_are_harmless():
    text = "a" * 50_000 + "!"
    assert field_errors({"pattern": "^(a+)+$"}, text) == {"payload": "must match the pattern ^(a+)+$"}
    schema = {
        "patternProperties": {"^(a|a)*$": False},
        "additionalProperties": True,
        "unevaluatedProperties": False,
    }
    assert field_errors(schema, {text: 1}) == {}


def test_a_schema_that_multiplies_is_cut_off():
    doubling = {f"d{i}": {"allOf": [{"$ref": f"#/$defs/d{i + 1}"}] * 2} for i in range(40)}
    schema = {"$defs": {**doubling, "d40": {}}, "$ref": "#/$defs/d0"}
    assert check_schema(schema, "") == []
    assert field_errors(schema, {}) == {
        "payload": "takes too many steps to check against its schema: simplify the schema"
    }


NUMBERS = list(range(20_000))
NAMES = {f"name{i}": i for i in range(20_000)}


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"items": {"enum": list(range(-8000, 0))}, "maxItems": 1}, NUMBERS),
        ({"items": {"not": {"enum": [{"a": i} for i in range(5000)]}}}, [{"a": -1}] * 9000),
        ({"allOf": [{"uniqueItems": True}] * 1500}, NUMBERS),
        ({"patternProperties": {f"^{i}x": {} for i in range(3500)}, "additionalProperties": False}, NAMES),
        ({"allOf": [{"items": True}] * 1500}, NUMBERS),
        ({"contains": {"minimum": 0}, "unevaluatedItems": False}, NUMBERS),
        ({"pattern": "(a|aa|aaa){1,300}b$"}, "a" * 1_000_000),
        ({"propertyNames": {"pattern": "a{1,1000}$"}}, {"a" * i: 1 for i in range(1500)}),
    ],
    ids=range(8),
)
def test_much_held_to_much_is_judged_or_cut_off(schema, value):
    """Each takes minutes or hours where one after the other is compared."""
    assert check_schema(schema, "") == []
    assert len(field_errors(schema, value)) <= 100


def test_a_large_form_is_well_within_the_bound():
    schema = {
        "properties": {f"f{number}": {"enum": [f"o{option}" for option in range(50)]} for number in range(50)},
        "additionalProperties": False,
    }
    assert field_errors(schema, {f"f{number}": f"o{number}" for number in range(50)}) == {}
    rows = {"items": {"properties": {"a": {"type": "string", "pattern": "^[a-z]+$"}}, "required": ["a"]}}
    assert field_errors(rows, [{"a": "word"}] * 5000) == {}


def test_deep_and_huge_values_are_refused_not_crashed_on():
    tree = {"type": "object", "properties": {"child": {"$ref": "#"}}}
    value = {}
    for _ in range(60):
        value = {"child": value}
    assert field_errors(tree, value) == {}
    for _ in range(10_000):
        value = {"child": value}
    assert list(field_errors(tree, value).values()) == ["is nested more than 64 levels deep"]
    shared = [0] * 1000
    assert field_errors({}, [[shared] * 1000] * 1000) == {"payload": "has more than 100000 parts"}


def test_a_hundred_faults_are_enough():
    assert len(field_errors({"items": {"type": "string"}}, list(range(500)))) == 100
    assert len(field_errors({"required": [f"f{i}" for i in range(500)]}, {})) == 100


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc") | st.text(), inner, max_size=3)
    ),
    max_leaves=8,
)
SCHEMAS = st.recursive(
    st.sampled_from(
        [
            {},
            True,
            False,
            {"type": "string"},
            {"type": "integer"},
            {"type": "object"},
            {"type": ["array", "null"]},
            {"enum": [1, "a", None]},
            {"const": True},
            {"minimum": 1},
            {"maxLength": 2},
            {"required": ["a"]},
            {"minItems": 1, "uniqueItems": True},
            {"maxProperties": 1},
            {"multipleOf": 2},
        ]
    ),
    lambda inner: st.fixed_dictionaries(
        {},
        optional={
            "properties": st.dictionaries(st.sampled_from("abc"), inner, max_size=2),
            "patternProperties": st.dictionaries(st.sampled_from(["^a", "b$", ""]), inner, max_size=1),
            "additionalProperties": inner,
            "unevaluatedProperties": inner,
            "unevaluatedItems": inner,
            "items": inner,
            "prefixItems": st.lists(inner, min_size=1, max_size=2),
            "contains": inner,
            "propertyNames": inner,
            "allOf": st.lists(inner, min_size=1, max_size=2),
            "anyOf": st.lists(inner, min_size=1, max_size=2),
            "oneOf": st.lists(inner, min_size=1, max_size=2),
            "not": inner,
            "if": inner,
            "then": inner,
            "else": inner,
            "dependentSchemas": st.dictionaries(st.sampled_from("ab"), inner, max_size=1),
        },
    ),
    max_leaves=6,
)


@settings(max_examples=300, deadline=None)
@given(schema=SCHEMAS.filter(lambda schema: isinstance(schema, dict)), value=JSON)
def test_agrees_with_the_reference_and_never_raises(schema, value):
    errors = field_errors(schema, value)
    assert all(path and message for path, message in errors.items())
    try:
        json.dumps(value, allow_nan=False, ensure_ascii=False).encode()
        # Kubernetes writes a larger number with an exponent, and keeps it.
        within = all(abs(n) < 2**63 or (isinstance(n, float) and abs(n) >= 1e21) for n in _numbers(value))
    except ValueError:
        within = False
    if within:
        assert (errors == {}) == Draft202012Validator(schema).is_valid(value)
    else:
        assert errors


def _numbers(value):
    if isinstance(value, list | dict):
        return [n for child in (value.values() if isinstance(value, dict) else value) for n in _numbers(child)]
    return [value] if isinstance(value, int | float) else []


# -- the short form -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("raw", "schema"),
    [
        (
            {"release_url": "string"},
            {"type": "object", "properties": {"release_url": {"type": "string"}}, "required": ["release_url"]},
        ),
        (
            {"b": {"type": "integer", "minimum": 1}, "a": {"name": "string"}},
            {
                "type": "object",
                "properties": {
                    "b": {"type": "integer", "minimum": 1},
                    "a": {"type": "object", "properties": {"name": {"type": "string"}}},
                },
                "required": ["b", "a"],
            },
        ),
        # one name that is no keyword makes the others names too
        (
            {"title": "string", "url": "string"},
            {
                "type": "object",
                "properties": {"title": {"type": "string"}, "url": {"type": "string"}},
                "required": ["title", "url"],
            },
        ),
        (RELEASE, RELEASE),
        ({"type": "string", "x-compozy-kind": "agent"}, {"type": "string", "x-compozy-kind": "agent"}),
        ({}, {}),
    ],
)
def test_the_short_form_is_an_object_with_all_its_fields_required(raw, schema):
    assert normalize_schema(raw) == schema
    assert normalize_schema(normalize_schema(raw)) == schema
    assert list(normalize_schema(raw).get("properties", {})) == list(schema.get("properties", {}))


def test_only_a_map_can_be_normalized():
    with pytest.raises(SchemaInvalid):
        normalize_schema(["string"])


def test_defaults_fill_absent_top_level_properties_only():
    schema = {
        "properties": {
            "channel": {"default": "beta"},
            "tags": {"default": []},
            "kept": {"default": 1},
            "nested": {"properties": {"x": {"default": 1}}},
            "open": True,
        }
    }
    filled = with_defaults(schema, {"kept": None})
    assert filled == {"kept": None, "channel": "beta", "tags": []}
    filled["tags"].append("mine")
    assert with_defaults(schema, {})["tags"] == []
    assert with_defaults({}, {"a": 1}) == {"a": 1}


# -- flat objects of the steps dialect ----------------------------------------------------------------------


@pytest.mark.parametrize(
    "schema",
    [
        RELEASE,
        {"properties": {"a": {"type": "string"}}},
        {"properties": {"a": {"type": "array", "enum": ["x"]}, "b": {"enum": [1, True, None]}}},
        {"properties": {"a": {"type": "string", "oneOf": [{"const": "x", "title": "X"}]}}},
        {"properties": {"a": {"oneOf": [{"const": "x", "title": "X"}, {"const": 1}]}}},
        {"properties": {"a": {"anyOf": [{"const": "x", "title": "X"}, {"const": 1}]}}},
    ],
)
def test_flat_objects(schema):
    assert flat_object_problems(schema, "steps[0].input.output_schema") == []


@pytest.mark.parametrize(
    ("schema", "path", "code"),
    [
        ({"type": "array"}, "s.type", "ask_schema_not_object"),
        ({"type": ["object", "null"], "properties": {"a": {"type": "string"}}}, "s.type", "ask_schema_not_object"),
        ({"type": "object"}, "s.properties", "ask_schema_no_properties"),
        ({"properties": {}}, "s.properties", "ask_schema_no_properties"),
        ({"properties": {"a": {"type": "object"}}}, "s.properties.a", "ask_schema_not_primitive"),
        ({"properties": {"a": {"type": "array"}}}, "s.properties.a", "ask_schema_not_primitive"),
        ({"properties": {"a": {}}}, "s.properties.a", "ask_schema_not_primitive"),
        ({"properties": {"a": True}}, "s.properties.a", "ask_schema_not_primitive"),
        ({"properties": {"a": {"type": ["string", "null"]}}}, "s.properties.a", "ask_schema_not_primitive"),
        ({"properties": {"a": {"oneOf": [{"const": ["x"]}]}}}, "s.properties.a", "ask_schema_not_primitive"),
        ({"properties": {"a": {"oneOf": [{"type": "string"}]}}}, "s.properties.a", "ask_schema_not_primitive"),
        ({"properties": {"a": {"enum": [["x"]]}}}, "s.properties.a", "ask_schema_not_primitive"),
        ({"properties": {"a": {"type": "text"}}}, "s.properties.a.type", "schema_invalid"),
        ("object", "s", "schema_invalid"),
    ],
)
def test_what_is_not_flat(schema, path, code):
    assert [(problem.path, problem.code) for problem in flat_object_problems(schema, "s")] == [(path, code)]
