"""What is plain to see about a schema and a value is what the library would have said."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from compozy.language.schema import check_schema, shape_of
from compozy.language.shapes.bounds import json_faults
from compozy.language.shapes.plain import surely_conforms
from support.answer_strategies import answers
from support.language_strategies import json_values

pytestmark = pytest.mark.unit

NAMES = st.sampled_from(["a", "b", "type", "enum"])
VALUES = st.recursive(
    st.sampled_from([None, True, False, 0, 1, 1.0, 2.5, "", "a", "b", "string", [], {}, [1]]),
    lambda inner: st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=6,
)
TYPES = ["object", "string", "boolean", "integer", "number", "null", "array", "text", 1, None, ["string", "null"]]


def schemas(below):
    """Schemas of the plain keywords, right and wrong, and now and then of one that is not plain."""
    texts = st.sampled_from(["Title", "string", "", 7, None])
    keywords = {
        "properties": st.dictionaries(NAMES, below, max_size=3) | st.just([]),
        "required": st.lists(NAMES, max_size=3) | st.just("a") | st.just([1]),
        "enum": st.lists(st.sampled_from(["a", "b", "a", 1, None]), max_size=3) | st.just("ab"),
        "additionalProperties": st.sampled_from([True, False, {}, 1, {"type": "string"}]),
        "title": texts,
        "description": texts,
        "minLength": st.integers(-1, 2),
        "default": json_values,
    }
    return st.fixed_dictionaries({"type": st.sampled_from(TYPES)}, optional=keywords)


SCHEMAS = st.recursive(
    st.fixed_dictionaries({"type": st.sampled_from(TYPES)}) | st.sampled_from([True, {}]), schemas, max_leaves=6
)


def assert_sound(schema, value):
    if json_faults(schema) or json_faults(value) or not surely_conforms(schema, value):
        return
    assert check_schema(schema, "") == []
    assert list(shape_of(schema).errors(value)) == []


@settings(max_examples=1500)
@given(schema=SCHEMAS, value=VALUES)
@example(schema={"type": "string", "title": "string"}, value="a")
@example(schema={"type": "integer"}, value=True)
@example(schema={"type": "object", "properties": {"a": {"type": "text"}}}, value={})
@example(schema={"type": "object", "required": ["a", "a"]}, value={"a": 1})
@example(schema={"type": "string", "title": "a" * 70_000}, value="a")
@example(schema={"type": "object", "additionalProperties": False}, value={"a": 1})
def test_what_surely_conforms_is_found_no_fault_with(schema, value):
    assert_sound(schema, value)


@given(answers())
def test_so_it_is_with_the_questions_that_people_put(case):
    assert_sound(*case)


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"type": "string"}, "x"),
        ({"type": "object", "properties": {"a": {"type": "integer"}}}, {"a": 1}),
        (
            {
                "type": "object",
                "required": ["channel", "confirm"],
                "additionalProperties": False,
                "properties": {
                    "channel": {"type": "string", "enum": ["stable", "beta"], "title": "Channel"},
                    "confirm": {"type": "boolean", "description": "Go on?"},
                },
            },
            {"channel": "beta", "confirm": False},
        ),
    ],
)
def test_the_questions_of_every_day_are_plain(schema, value):
    assert surely_conforms(schema, value)
