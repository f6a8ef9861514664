"""Gates: `{value, op, to}`."""

import pytest
from hypothesis import given

from compozy.language.errors import (
    GateError,
    GateSyntaxError,
    LanguageError,
    MissingStepError,
    TemplateSyntaxError,
)
from compozy.language.steps.gate import compile_gate
from support.language_strategies import json_values

pytestmark = pytest.mark.unit


@pytest.mark.parametrize(
    ("value", "op", "to", "holds"),
    [
        (0, "eq", 0, True),
        (1, "eq", 1.0, True),
        (1, "eq", "1", False),
        (1, "ne", "1", True),
        (False, "eq", 0, False),
        (None, "eq", None, True),
        ({"a": [1]}, "eq", {"a": [1]}, True),
        (3, "gt", 2, True),
        (2, "gt", 2, False),
        (1.5, "lt", 2, True),
        (2, "gte", 2.0, True),
        (3, "lte", 2, False),
        (None, "empty", None, True),
        ([], "empty", None, True),
        ("", "empty", None, True),
        ({}, "empty", None, True),
        (0, "empty", None, False),
        (False, "empty", None, False),
        ([0], "empty", None, False),
        (["a"], "not_empty", None, True),
        (0, "not_empty", None, True),
        ("", "not_empty", None, False),
        ("hello world", "contains", "world", True),
        ("hello", "contains", "z", False),
        ([1, "2"], "contains", 2, False),
        ([1, {"a": None}], "contains", {"a": None}, True),
        ([True], "contains", 1, False),
    ],
)
def test_operations(value, op, to, holds):
    assert compile_gate({"value": value, "op": op, "to": to}).test({}) is holds
    spliced = compile_gate({"value": "{{input.value}}", "op": op, "to": "{{input.to}}"})
    assert spliced.test({"input": {"value": value, "to": to}}) is holds


def test_to_is_null_when_it_is_absent():
    assert compile_gate({"value": "{{E0.reason}}", "op": "eq"}).test({"E0": {"reason": None}})


@pytest.mark.parametrize(
    ("value", "op", "to", "message"),
    [
        ("a", "gt", "b", "gt compares numbers; value is text and to is text"),
        (1, "lte", None, "to is null"),
        (True, "gt", 0, "value is a boolean"),
        (1, "contains", 1, "value is a number"),
        ("1", "contains", 1, "value is text and to is a number"),
        ({"a": 1}, "contains", "a", "value is an object"),
    ],
)
def test_operands_that_do_not_suit_the_op_fail(value, op, to, message):
    gate = compile_gate({"value": "{{input.value}}", "op": op, "to": "{{input.to}}"})
    with pytest.raises(GateError) as raised:
        gate.test({"input": {"value": value, "to": to}})
    assert raised.value.code == "gate_failed"
    assert message in raised.value.message


@pytest.mark.parametrize(
    ("data", "path", "message"),
    [
        (None, None, "a gate is an object"),
        ([], None, "not a list"),
        ({"op": "eq"}, ("value",), "no value"),
        ({"value": 1}, ("op",), "no op"),
        ({"value": 1, "op": "eq", "two": 2}, ("two",), "unknown key two"),
        ({"value": 1, "op": "is"}, ("op",), "use one of contains, empty, eq, gt, gte, lt, lte, ne, not_empty"),
        ({"value": 1, "op": ["eq"]}, ("op",), "unknown op"),
        ({"value": 1, "op": "{{input.op}}"}, ("op",), "unknown op"),
        ({"value": "{{input.n}}", "op": "gt"}, ("to",), "gt compares numbers; to is null"),
        ({"value": "3", "op": "lt", "to": 4}, ("value",), "value is text"),
    ],
)
def test_gates_of_the_wrong_shape_are_refused_when_the_plan_is_loaded(data, path, message):
    with pytest.raises(GateSyntaxError) as raised:
        compile_gate(data)
    assert raised.value.code == "gate_invalid"
    assert raised.value.path == path
    assert message in raised.value.message


def test_templates_in_a_gate_are_checked_and_located():
    with pytest.raises(TemplateSyntaxError) as raised:
        compile_gate({"value": 1, "op": "eq", "to": ["{{"]})
    assert raised.value.path == ("to", 0)
    gate = compile_gate({"value": "{{E0.a}}", "op": "eq", "to": {"x": "{{input.b}} {{E0.c}}"}})
    assert gate.roots() == {"E0": (("value",), ("to", "x")), "input": (("to", "x"),)}
    with pytest.raises(MissingStepError):
        gate.test({})


@given(json_values, json_values)
def test_ne_is_never_eq(value, to):
    try:
        equal = compile_gate({"value": value, "op": "eq", "to": to}).test({})
    except LanguageError:
        return
    assert compile_gate({"value": value, "op": "ne", "to": to}).test({}) is not equal


@given(json_values)
def test_a_value_is_empty_or_not(value):
    scope = {"input": value}
    empty = compile_gate({"value": "{{input}}", "op": "empty"}).test(scope)
    assert compile_gate({"value": "{{input}}", "op": "not_empty"}).test(scope) is not empty


@given(json_values)
def test_a_list_contains_what_is_put_into_it(value):
    scope = {"input": {"list": [0, value], "value": value}}
    assert compile_gate({"value": "{{input.list}}", "op": "contains", "to": "{{input.value}}"}).test(scope)
