"""JSON as the expression languages see it: equality, text, and the places of errors."""

import pytest

from compozy.language.budget import MAX_OUTPUT, Budget, TextBuffer
from compozy.language.errors import (
    LanguageError,
    LimitError,
    RenderError,
    TemplateSyntaxError,
    format_path,
    name_keys,
)
from compozy.language.values import MAX_DEPTH, dump_json, json_equal

pytestmark = pytest.mark.unit


def nested(depth: int) -> object:
    value: object = 1
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("left", "right", "equal"),
    [
        (1, 1.0, True),
        (1, "1", False),
        (1, True, False),
        (0, False, False),
        (True, True, True),
        (None, None, True),
        (None, False, False),
        (None, 0, False),
        ("a", "a", True),
        ([1, [2]], [1.0, [2]], True),
        ([1, 2], [2, 1], False),
        ([1], [1, 1], False),
        ({"a": 1, "b": [None]}, {"b": [None], "a": 1}, True),
        ({"a": 1}, {"a": True}, False),
        ({"a": 1}, {"b": 1}, False),
        ({}, [], False),
        ([], {}, False),
        ("", [], False),
    ],
)
def test_equality_is_that_of_json(left, right, equal):
    assert json_equal(left, right) is equal
    assert json_equal(right, left) is equal


def test_values_too_deep_are_refused_rather_than_crashing():
    with pytest.raises(RenderError) as refused:
        json_equal(nested(MAX_DEPTH + 1), nested(MAX_DEPTH + 1))
    assert refused.value.code == "value_too_deep"
    with pytest.raises(RenderError) as refused:
        dump_json(nested(100_000))
    assert refused.value.code == "value_too_deep"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"b": 1, "a": [True, None]}, '{"a":[true,null],"b":1}'),
        ("é", '"é"'),
        (3.0, "3"),
        (1.5, "1.5"),
        ([], "[]"),
    ],
)
def test_json_text_is_compact_with_sorted_keys(value, text):
    assert dump_json(value) == text


def test_numbers_too_long_to_print_are_refused():
    with pytest.raises(RenderError) as refused:
        dump_json(10**5000)
    assert refused.value.code == "value_unprintable"


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ((), ""),
        (("params", "routes", 0, "when"), "params.routes[0].when"),
        ((0, "a"), "[0].a"),
    ],
)
def test_paths_are_written_as_in_kubernetes(path, text):
    assert format_path(path) == text


def test_errors_begin_with_their_path():
    assert str(LanguageError("is wrong", path=("a", 0))) == "a[0]: is wrong"
    assert str(LanguageError("is wrong")) == "is wrong"


def test_syntax_errors_say_line_and_column():
    error = TemplateSyntaxError("no", "ab\ncd", 4)
    assert (error.line, error.column, error.offset) == (2, 2, 4)
    assert error.message == "line 2, column 2: no"
    assert error.code == "template_syntax"


def test_available_keys_are_sorted_and_at_most_twelve():
    assert name_keys([]) == "none"
    assert name_keys({"b": 1, "a": 2}) == "a, b"
    assert name_keys([f"k{number:02}" for number in range(15)]).endswith("k11 and 3 more")


def test_text_and_work_are_bounded():
    buffer = TextBuffer(Budget())
    buffer.write("x" * MAX_OUTPUT)
    with pytest.raises(LimitError):
        buffer.write("x")
    with pytest.raises(LimitError):
        TextBuffer(Budget(work=3)).branch().write("four")
