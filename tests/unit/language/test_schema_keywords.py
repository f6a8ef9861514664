"""What each keyword of JSON Schema 2020-12 tells of a value that does not conform to it."""

import pytest

from compozy.language.schema import check_schema, field_errors
from compozy.language.shapes.subschemas import KEYWORDS

pytestmark = pytest.mark.unit

TEXT = {"type": "string"}
UNKNOWN = "is not a known field"
TABLE = [
    ("type", TEXT, 1, {"payload": "must be text"}),
    ("type", {"type": ["array", "object", "null"]}, 1, {"payload": "must be a list or an object or null"}),
    ("enum", {"enum": ["a", 1, None]}, 2, {"payload": 'must be one of "a", 1, null'}),
    ("const", {"const": {"a": 1}}, {"a": 2}, {"payload": 'must be {"a": 1}'}),
    ("multipleOf", {"multipleOf": 5}, 7, {"payload": "must be a multiple of 5"}),
    ("maximum", {"maximum": 5}, 6, {"payload": "must be at most 5"}),
    ("exclusiveMaximum", {"exclusiveMaximum": 5}, 5, {"payload": "must be less than 5"}),
    ("minimum", {"minimum": 5}, 4, {"payload": "must be at least 5"}),
    ("exclusiveMinimum", {"exclusiveMinimum": 5}, 5, {"payload": "must be more than 5"}),
    ("maxLength", {"maxLength": 2}, "abc", {"payload": "must have at most 2 characters"}),
    ("minLength", {"minLength": 1}, "", {"payload": "must have at least 1 character"}),
    ("pattern", {"pattern": "^a"}, "b", {"payload": "must match the pattern ^a"}),
    ("format", {"format": "date"}, "2026-13-40", {"payload": "must be a date such as 2026-01-31"}),
    ("maxItems", {"maxItems": 1}, [1, 2], {"payload": "must have at most 1 item"}),
    ("minItems", {"minItems": 2}, [1], {"payload": "must have at least 2 items"}),
    (
        "uniqueItems",
        {"uniqueItems": True},
        [{"a": 1}, {"a": 1.0}],
        {"payload": "must not hold the same item twice"},
    ),
    ("contains", {"contains": TEXT}, [1], {"payload": "has no item of the kind it must contain"}),
    (
        "minContains",
        {"contains": TEXT, "minContains": 2},
        ["a"],
        {"payload": "must have at least 2 items of the kind it must contain"},
    ),
    (
        "maxContains",
        {"contains": TEXT, "maxContains": 1},
        ["a", "b"],
        {"payload": "must have at most 1 item of the kind it must contain"},
    ),
    ("items", {"items": TEXT}, ["a", 1, 2], {"1": "must be text", "2": "must be text"}),
    ("items", {"items": {"required": ["name"]}}, [{"name": 1}, {}], {"1.name": "is required"}),
    ("items", {"prefixItems": [TEXT], "items": False}, ["a", 1], {"payload": "has too many items"}),
    (
        "prefixItems",
        {"prefixItems": [TEXT, {"type": "null"}]},
        [1, 2, 3],
        {"0": "must be text", "1": "must be null"},
    ),
    (
        "unevaluatedItems",
        {"allOf": [{"prefixItems": [TEXT]}], "unevaluatedItems": False},
        ["a", 1],
        {"1": "is one too many"},
    ),
    ("unevaluatedItems", {"contains": {"const": 1}, "unevaluatedItems": TEXT}, [1, 2], {"1": "must be text"}),
    ("required", {"required": ["b", "a"]}, {}, {"b": "is required", "a": "is required"}),
    ("maxProperties", {"maxProperties": 1}, {"a": 1, "b": 2}, {"payload": "must have at most 1 field"}),
    ("minProperties", {"minProperties": 1}, {}, {"payload": "must have at least 1 field"}),
    (
        "dependentRequired",
        {"dependentRequired": {"a": ["c", "d"], "b": ["e"], "x": ["y"]}},
        {"b": 1, "a": 1},
        {"c": "is required with `a`", "d": "is required with `a`", "e": "is required with `b`"},
    ),
    ("properties", {"properties": {"a": TEXT, "b": False}}, {"a": 1, "b": 1}, {"a": "must be text", "b": UNKNOWN}),
    ("patternProperties", {"patternProperties": {"^x": TEXT}}, {"x1": 1, "y": 1}, {"x1": "must be text"}),
    (
        "additionalProperties",
        {"properties": {"a": {}}, "additionalProperties": False},
        {"a": 1, "b": 1, "c": 1},
        {"b": UNKNOWN, "c": UNKNOWN},
    ),
    ("additionalProperties", {"additionalProperties": TEXT}, {"b": 1}, {"b": "must be text"}),
    ("unevaluatedProperties", {"unevaluatedProperties": False}, {"b": 1}, {"b": UNKNOWN}),
    (
        "propertyNames",
        {"propertyNames": {"maxLength": 1}},
        {"ab": 1},
        {"ab": "has a name that must have at most 1 character"},
    ),
    (
        "dependentSchemas",
        {"dependentSchemas": {"a": {"required": ["b"]}}},
        {"a": 1},
        {"b": "is required"},
    ),
    ("allOf", {"allOf": [TEXT, {"minimum": 5}]}, 1, {"payload": "must be text"}),
    ("anyOf", {"anyOf": [TEXT, {"type": "null"}]}, 1, {"payload": "fits none of the alternatives"}),
    ("anyOf", {"anyOf": [{"const": 1}, {"const": 2}]}, 3, {"payload": "must be one of 1, 2"}),
    (
        "oneOf",
        {"oneOf": [{"minimum": 1}, {"minimum": 2}]},
        3,
        {"payload": "fits more than one of the alternatives"},
    ),
    ("not", {"not": TEXT}, "a", {"payload": "is one of the values that are excluded"}),
    ("if", {"if": {"required": ["a"]}, "then": {"required": ["b"]}}, {"a": 1}, {"b": "is required"}),
    ("then", {"if": True, "then": False}, 1, {"payload": "must not be there"}),
    ("else", {"if": {"required": ["a"]}, "else": {"required": ["b"]}}, {}, {"b": "is required"}),
    ("$ref", {"$ref": "#/$defs/a", "$defs": {"a": TEXT}}, 1, {"payload": "must be text"}),
    ("$defs", {"properties": {"x": {"$ref": "#/$defs/a"}}, "$defs": {"a": TEXT}}, {"x": 1}, {"x": "must be text"}),
    ("definitions", {"$ref": "#/definitions/a", "definitions": {"a": TEXT}}, 1, {"payload": "must be text"}),
    ("$anchor", {"$ref": "#a", "$defs": {"b": {"$anchor": "a", **TEXT}}}, 1, {"payload": "must be text"}),
]
REFUSED = {"$dynamicRef", "$dynamicAnchor"}
NOTES = {
    *("$comment", "$id", "$schema", "$vocabulary", "contentEncoding", "contentMediaType", "contentSchema"),
    *("default", "deprecated", "description", "examples", "readOnly", "title", "writeOnly"),
}


def test_every_keyword_is_in_the_table():
    assert {row[0] for row in TABLE} | REFUSED | NOTES == KEYWORDS


@pytest.mark.parametrize(("keyword", "schema", "value", "errors"), TABLE)
def test_what_a_keyword_tells(keyword, schema, value, errors):
    assert check_schema(schema, "") == []
    found = field_errors(schema, value)
    assert found == errors
    assert list(found) == list(errors), "in a stable order"


@pytest.mark.parametrize("keyword", sorted(REFUSED))
def test_what_is_for_schemas_of_several_documents_is_refused(keyword):
    schema = {"properties": {"a": {keyword: "#x" if keyword.endswith("Ref") else "x"}}}
    [problem] = check_schema(schema, "expect")
    assert (problem.path, problem.code) == (f"expect.properties.a.{keyword}", "schema_reference_unsupported")


@pytest.mark.parametrize(
    "note",
    [
        {"contentEncoding": "base64", "contentMediaType": "application/json", "contentSchema": False},
        {"default": 1, "examples": [2], "readOnly": True, "writeOnly": True, "deprecated": True},
        {"title": "A", "description": "B", "$comment": "C", "x-compozy-kind": "agent"},
    ],
)
def test_notes_restrict_nothing(note):
    assert check_schema({"type": "string", **note}, "") == []
    assert field_errors({"type": "string", **note}, "{") == {}
