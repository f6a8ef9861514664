"""Typed text as JSON."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compozy.language.schema import field_errors
from compozy.language.shapes.bounds import json_faults
from compozy.requests.coerce import CoercionError, coerce, typed
from compozy.requests.forms import fields

pytestmark = pytest.mark.unit


STORABLE = st.floats(allow_nan=False, allow_infinity=False).filter(lambda number: not json_faults(number))


def field(schema):
    (entry,) = fields({"properties": {"a": schema}})
    return entry


MIXED = {"enum": ["3", 3, True, None, "Yes", "no", "ON", "On", " padded", ""]}


@pytest.mark.parametrize(
    ("schema", "text", "value"),
    [
        ({"type": "string"}, "3", "3"),
        ({"type": "string"}, "  two words ", "two words"),
        ({"type": "integer"}, "3", 3),
        ({"type": "integer"}, " -7\n", -7),
        ({"type": "integer"}, "+007", 7),
        ({"type": "integer"}, "-9223372036854775808", -(2**63)),
        ({"type": "number"}, "3", 3),
        ({"type": "number"}, "-2.5e3", -2500.0),
        ({"type": "number"}, ".5", 0.5),
        ({"type": "number"}, "5.", 5.0),
        ({"type": "number"}, "1e400".replace("400", "300"), 1e300),
        *(({"type": "boolean"}, word, True) for word in ("y", "yes", "true", "t", "1", "Y", "YES", "True")),
        *(({"type": "boolean"}, word, False) for word in ("n", "no", "false", "f", "0", "N", "nO", "FALSE")),
        ({"enum": ["stable", "Beta"]}, "STABLE", "stable"),
        ({"enum": ["stable", "Beta"]}, "beta", "Beta"),
        ({"type": "integer", "enum": [1, 2]}, "2", 2),
        (MIXED, "3", "3"),
        (MIXED, "true", True),
        (MIXED, "y", True),
        (MIXED, "NULL", None),
        ({"enum": ["Yes", "no"]}, "YES", "Yes"),
        ({"enum": ["Yes", "no"]}, "No", "no"),
        (MIXED, "On", "On"),
        (MIXED, '" padded"', " padded"),
        (MIXED, '""', ""),
        ({"oneOf": [{"const": 1, "title": "Number one"}, {"const": 2}]}, "number ONE", 1),
        ({"enum": ["a", "b"], "enumNames": ["First", "Second"]}, "second", "b"),
        ({"type": "array"}, '["a", {"b": 1.5}]', ["a", {"b": 1.5}]),
        ({}, "null", None),
    ],
)
def test_coercion(schema, text, value):
    found = coerce(field(schema), text)
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    ("schema", "text", "message"),
    [
        ({"type": "integer"}, "3.0", "must be an integer"),
        ({"type": "integer"}, "1_000", "must be an integer"),
        ({"type": "integer"}, "٣", "must be an integer"),
        ({"type": "integer"}, "9223372036854775808", "must be an integer"),
        ({"type": "integer"}, "9" * 10_000, "must be an integer"),
        ({"type": "integer"}, "three", "must be an integer"),
        ({"type": "number"}, "nan", "must be a number"),
        ({"type": "number"}, "-inf", "must be a number"),
        ({"type": "number"}, "1e999", "must be a number"),
        ({"type": "number"}, "1,5", "must be a number"),
        ({"type": "number"}, "1" * 10_000, "must be a number"),
        ({"type": "boolean"}, "maybe", "must be y or n"),
        ({"enum": ["stable", "beta"]}, "gamma", "must be one of stable | beta"),
        ({"enum": ["stable", "beta"]}, "stab", "must be one of stable | beta"),
        ({"enum": ["ON", "On"]}, "on", "could be any of ON | On"),
        (MIXED, "YES", "could be any of true | Yes"),
        # the Turkish dotless i is no i
        ({"enum": ["ship"]}, "sh\u0131p", "must be one of ship"),
        ({"type": "array"}, "[1,", "is not JSON: Expecting value at line 1, column 4"),
        ({"type": "array"}, "[" * 100_000, "is nested more than 64 levels deep"),
        ({"type": "array"}, "[NaN]", "is not JSON: NaN is no JSON number"),
        ({"type": "array"}, "[1e999]", "0 must be a finite number"),
        ({"type": "array"}, "[1e20]", "0 must fit in 64 bits"),
        ({"type": "array"}, "9" * 5000, "must fit in 64 bits"),
        ({"type": "array"}, '["\\ud800"]', "0 is not valid Unicode text"),
    ],
)
def test_what_cannot_be_coerced_says_what_can(schema, text, message):
    with pytest.raises(CoercionError) as raised:
        coerce(field(schema), text)
    assert str(raised.value) == message


SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | STORABLE
    | st.text(st.characters(exclude_categories=["Cs"]))
)


@given(SCALARS | st.lists(SCALARS))
def test_json_comes_back_as_it_was_written(value):
    assert coerce(field({}), json.dumps(value)) == value


@given(st.integers(-(2**63), 2**63 - 1))
def test_integers_come_back(number):
    assert coerce(field({"type": "integer"}), str(number)) == number
    assert coerce(field({"type": "number"}), str(number)) == number


@given(STORABLE)
def test_numbers_come_back(number):
    assert coerce(field({"type": "number"}), repr(number)) == number


@given(st.lists(SCALARS, min_size=1, max_size=5))
def test_every_choice_can_be_typed(values):
    entry = field({"enum": values})
    for choice in entry.choices:
        chosen = coerce(entry, choice.text)
        assert json.dumps(chosen) in {
            json.dumps(other.value) for other in entry.choices if other.text == choice.text
        }


@given(
    st.sampled_from(
        [{"type": "string"}, {"type": "integer"}, {"type": "number"}, {"type": "boolean"}, {"enum": ["a", 1]}, {}]
    ),
    st.text(),
)
def test_any_text_is_coerced_or_refused_and_what_is_coerced_conforms(schema, text):
    try:
        value = coerce(field(schema), text)
    except CoercionError as error:
        assert str(error)
    else:
        assert field_errors(schema, value) == {} or "\ud800" <= max(text) <= "\udfff"


TAGS = {"type": "array", "items": {"oneOf": [{"const": "a", "title": "Apple"}, {"const": "b"}, {"const": "c, d"}]}}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a", ["a"]),
        ("b,a", ["b", "a"]),
        (" B , APPLE ", ["b", "a"]),
        ("c, d", ["c, d"]),
        ("a, c, d, b", ["a", "c, d", "b"]),
        ("a, a", ["a", "a"]),
        ("[]", []),
        ('["a", "b"]', ["a", "b"]),
        ('["z"]', ["z"]),
    ],
)
def test_several_options_stand_between_commas_or_in_a_list(text, value):
    assert coerce(field(TAGS), text) == value


@pytest.mark.parametrize("text", ["z", "a,", ",", "", "a b", "a, z", "c", "a," * 20_000])
def test_what_is_no_option_is_refused(text):
    with pytest.raises(CoercionError, match=r"^must be some of a \(Apple\) \| b \| "):
        coerce(field(TAGS), text)


def test_options_keep_their_types():
    assert coerce(field({"type": "array", "items": {"enum": [1, True, None, "[x]"]}}), "1, y, null, [x]") == [
        1,
        True,
        None,
        "[x]",
    ]


@given(st.data())
def test_what_is_shown_for_a_list_can_be_typed(data):
    options = data.draw(st.lists(st.text(max_size=4), min_size=1, max_size=4, unique_by=lambda text: text.lower()))
    several = field({"type": "array", "items": {"enum": options}})
    value = data.draw(st.lists(st.sampled_from(options), max_size=3))
    try:
        assert coerce(several, typed(several, value)) == value
    except CoercionError as error:
        assert str(error).startswith("could be any of")
