"""Whatever JSON somebody takes for a schema, or for an answer to one: a verdict, never a crash."""

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from compozy.language.problems import PlanInvalid
from compozy.language.schema import (
    SchemaInvalid,
    check_schema,
    field_errors,
    flat_object_problems,
    normalize_schema,
)
from compozy.language.shapes.bounds import json_faults
from compozy.language.shapes.subschemas import KEYWORDS

pytestmark = pytest.mark.unit

NAMES = st.sampled_from(sorted(KEYWORDS)) | st.sampled_from(["a", "b", "", "x-compozy-kind", "enumNames", "^a"])
ODD = [
    *("#", "#/$defs/a", "#a", "http://x/#a", "(", "^a+$", "string", "object", "date", "\ud800", "$", "/"),
    *(0, 1, -1, 2**63, 10**400, 0.5, 1e20, 1e400, float("nan"), True, False, None),
]
ANY = st.recursive(
    st.sampled_from(ODD) | st.text(max_size=4) | st.integers() | st.floats(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(NAMES, inner, max_size=5),
    max_leaves=25,
)
EVERYTHING = settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@EVERYTHING
@given(schema=st.dictionaries(NAMES, ANY, max_size=5), value=ANY)
def test_any_schema_and_any_value(schema, value):
    problems = check_schema(schema, "expect")
    assert all(problem.code.startswith("schema_") and problem.message for problem in problems)
    assert all(len(problem.message) < 1000 for problem in problems)
    try:
        found = field_errors(schema, value)
    except SchemaInvalid:
        assert problems
        return
    assert not problems or json_faults(value)
    assert all(len(message) < 3000 for message in found.values())


@EVERYTHING
@given(ANY)
def test_any_value_as_a_schema(schema):
    check_schema(schema, "")
    flat_object_problems(schema, "")
    try:
        assert normalize_schema(normalize_schema(schema)) == normalize_schema(schema)
    except PlanInvalid as invalid:
        assert invalid.problems


TYPES = ["string", "integer", "number", "boolean", "null", "array", "object"]
ORDINARY = st.recursive(
    st.fixed_dictionaries(
        {"type": st.sampled_from(TYPES) | st.lists(st.sampled_from(TYPES), min_size=1, max_size=3, unique=True)},
        optional={
            "minimum": st.integers(-3, 3) | st.sampled_from([0.5, -1.5]),
            "exclusiveMaximum": st.integers(-3, 9),
            "multipleOf": st.sampled_from([1, 2, 0.5, 0.25]),
            "minLength": st.integers(0, 3),
            "maxLength": st.integers(0, 5),
            "pattern": st.sampled_from(["^a", "b$", "[0-9]+", "^(a|b)*$"]),
            "minItems": st.integers(0, 2),
            "maxItems": st.integers(0, 3),
            "uniqueItems": st.booleans(),
            "minProperties": st.integers(0, 2),
        },
    )
    | st.fixed_dictionaries(
        {"enum": st.lists(st.sampled_from([0, 1, 1.0, True, None, "a", [1], {"a": 0}]), min_size=1)}
    )
    | st.fixed_dictionaries({"const": st.sampled_from([0, False, "a", [], [0], {"a": False}])}),
    lambda inner: st.fixed_dictionaries(
        {},
        optional={
            "properties": st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
            "required": st.lists(st.sampled_from("abc"), max_size=2, unique=True),
            "additionalProperties": inner | st.booleans(),
            "propertyNames": inner,
            "items": inner,
            "prefixItems": st.lists(inner, min_size=1, max_size=2),
            "contains": inner,
            "minContains": st.integers(0, 2),
            "maxContains": st.integers(0, 2),
            "oneOf": st.lists(inner, min_size=1, max_size=3),
            "anyOf": st.lists(inner, min_size=1, max_size=3),
            "allOf": st.lists(inner, min_size=1, max_size=2),
            "dependentRequired": st.dictionaries(st.sampled_from("ab"), st.just(["c"]), max_size=2),
            "unevaluatedProperties": inner | st.booleans(),
            "unevaluatedItems": inner | st.booleans(),
        },
    ),
    max_leaves=8,
)
VALUES = st.recursive(
    st.sampled_from([0, 1, -1, 1.0, 2.5, True, False, None, "", "a", "ab", "b", "7"]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from("abcd"), inner, max_size=4),
    max_leaves=8,
)


@EVERYTHING
@given(schema=ORDINARY, value=VALUES)
def test_the_library_alone_comes_to_the_same_verdict(schema, value):
    errors = field_errors(schema, value)
    assert (errors == {}) == Draft202012Validator(schema).is_valid(value)
    assert list(errors) == list(field_errors(schema, value))
    # Kubernetes sorts the names and writes 1.0 as 1: the verdict is the same after that.
    stored = _stored(value)
    assert field_errors(_stored(schema), stored).keys() == errors.keys()


def _stored(value):
    """What is read back of a value that was stored."""
    if isinstance(value, dict):
        return {name: _stored(value[name]) for name in sorted(value)}
    if isinstance(value, list):
        return [_stored(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


@EVERYTHING
@given(ANY)
def test_what_is_no_fault_survives_being_stored(value):
    if not json_faults(value):
        assert json.loads(json.dumps(value, allow_nan=False)) == value
        json.dumps(value, ensure_ascii=False).encode()
