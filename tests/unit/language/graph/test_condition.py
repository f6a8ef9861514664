"""CEL conditions over the data of a run."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compozy.language.errors import ConditionError, ConditionSyntaxError
from compozy.language.graph.condition import MAX_LENGTH, compile_condition
from support.language_strategies import json_values, names

pytestmark = pytest.mark.unit

NINE_JOINED = "+".join(["item"] * 9)

SCOPE = {
    "inputs": {
        "n": 3,
        "ratio": 1.5,
        "whole": 2.0,
        "text": "héllo",
        "none": None,
        "yes": True,
        "list": [1, 2.5, "x", None, {"k": "v"}],
        "map": {"a": {"b": 1}},
        "big": 2**80,
        "a-b": 1,
    },
    "nodes": {
        "ask": {"status": "succeeded", "output": None},
        "tests": {"status": "succeeded", "output": {"passed": 9, "failed": []}},
    },
    "previous": {},
    "item": {"name": "one"},
    "index": 0,
    "generation": 2,
}


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ('inputs.text == "héllo"', True),
        ("nodes.ask.output != null", False),
        ("nodes.ask.output == null", True),
        ("nodes.tests.output != null", True),
        ("nodes.tests.output.passed > 5 && size(nodes.tests.output.failed) == 0", True),
        ("inputs.n == 3", True),
        ("inputs.n == 3.0", True),
        ("inputs.whole == 2", True),
        ("inputs.n > 2.5", True),
        ("inputs.ratio < 2", True),
        ("inputs.n + 1 == 4", True),
        ("inputs.n % 2 == 1", True),
        ("type(inputs.n) == int && type(inputs.ratio) == double", True),
        ("inputs.n == '3'", False),
        ("inputs.yes", True),
        ("!inputs.yes", False),
        ("inputs.yes ? inputs.n == 3 : false", True),
        ("inputs.list == [1, 2.5, 'x', null, {'k': 'v'}]", True),
        ("inputs.map == {'a': {'b': 1}}", True),
        ("inputs.list[4].k == 'v'", True),
        ("inputs['a-b'] == 1", True),
        ("2.5 in inputs.list", True),
        ("'n' in inputs", True),
        ("has(inputs.n) && !has(inputs.nope)", True),
        ("has(inputs.nope) && inputs.nope.deep == 1", False),
        ("inputs.nope == 1 || true", True),
        ("inputs.list.exists(x, x == 'x')", True),
        ("inputs.list.all(x, x != 'y')", True),
        ("inputs.list.filter(x, x != null).size() == 4", True),
        ("inputs.list.map(x, type(x) == string).exists(x, x)", True),
        ("inputs.text.startsWith('h') && inputs.text.matches('^h.+o$') && inputs.text.size() == 5", True),
        ("inputs.big > 9007199254740993", True),
        ("index == 0 && generation == 2 && item.name == 'one'", True),
        ("duration('90m') > duration('1h')", True),
        ("\n  inputs.n == 3 // the usual\n", True),
    ],
)
def test_conditions(text, holds):
    condition = compile_condition(text)
    assert condition.test(SCOPE) is holds
    assert condition.source == text


def test_fan_out_aliases_are_variables_of_any_type():
    condition = compile_condition("case.name == 'a' && case_index == 0", aliases=["case", "case_index"])
    assert condition.test({"case": {"name": "a"}, "case_index": 0})
    assert condition.paths() == (("case", "name"), ("case_index",))
    with pytest.raises(ConditionSyntaxError):
        compile_condition("case.name == 'a'")


@pytest.mark.parametrize(
    ("text", "line", "column", "code", "message"),
    [
        ("", 1, 1, "condition_invalid", "empty"),
        (" \n", 1, 1, "condition_invalid", "empty"),
        ("inputs.n ==", 1, 12, "condition_invalid", "Syntax error"),
        ("inputs.n == 3 and true", 1, 15, "condition_invalid", "Syntax error"),
        ("true &&\n  nope.x", 2, 3, "condition_invalid", "is not declared; the variables are best, event"),
        ("true && nope(1)", 1, 9, "condition_invalid", "nope is not declared"),
        ("1 == 'a'", 1, 3, "condition_invalid", "no matching overload for '_==_'"),
        ("inputs[1] == 2", 1, 7, "condition_invalid", "no matching overload"),
        ("inputs.a\0 == 1", 1, 9, "condition_invalid", "not text"),
        ("inputs.a == '\ud800'", 1, 14, "condition_invalid", "not text"),
        ("true" + " " * MAX_LENGTH, 1, MAX_LENGTH + 1, "condition_invalid", "longer than"),
        ("(" * 100 + "true" + ")" * 100, 1, 1, "condition_invalid", "limit"),
        ("1", 1, 1, "condition_not_bool", "of type int"),
        ("'a' + 'b'", 1, 1, "condition_not_bool", "of type string"),
        ("[true]", 1, 1, "condition_not_bool", "of type list"),
        ("[1].all(a, [1].all(b, [1].all(c, [1].all(d, true))))", 1, 34, "condition_invalid", "macros"),
        ("[1].map(a, a).map(a, a).map(a, a).map(a, a) == []", 1, 1, "condition_invalid", "macros"),
        (f"({NINE_JOINED}) + ({NINE_JOINED}) == ''", 1, 55, "condition_invalid", "16 additions"),
    ],
)  # fmt: skip
def test_what_cannot_be_a_condition_is_refused_with_its_place(text, line, column, code, message):
    with pytest.raises(ConditionSyntaxError) as raised:
        compile_condition(text)
    assert message in raised.value.message
    assert raised.value.code == code
    assert (raised.value.line, raised.value.column) == (line, column)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("nodes.nope.output == 1", "nodes.nope.output: nodes has no key nope; available: ask, tests"),
        ("nodes.ask.output.channel == 'a'", "nodes.ask.output.channel: nodes.ask.output is null"),
        ("inputs.text.x == 1", "inputs.text is text and has no keys"),
        ("has(inputs.nope.x)", "inputs.nope: inputs has no key nope"),
        ("trigger.x == 1", "trigger has no value here"),
        ("inputs.n", "the result is of type int, not a boolean"),
        ("inputs.none", "the result is of type null, not a boolean"),
        ("inputs.n > 'a'", "No matching overloads"),
        ("inputs.n / 0 == 1", "divide by zero"),
        ("inputs.list[9] == 1", "Index error"),
        ("inputs.text.matches('(')", "invalid regular expression"),
        ("inputs.big + 1 == 0", "No matching overloads"),
    ],
)
def test_what_cannot_be_evaluated_fails_and_says_why(text, message):
    with pytest.raises(ConditionError) as raised:
        compile_condition(text).test(SCOPE)
    assert raised.value.code == "predicate_evaluation_failed"
    assert message in raised.value.message
    assert raised.value.message.startswith(f"condition {text}: ")


@pytest.mark.parametrize(
    ("text", "references"),
    [
        ("true", []),
        ("nodes.a.output.x == 1 && inputs.y", [("nodes.a.output.x", 0), ("inputs.y", 25)]),
        ("inputs['a-b'].c == 1", [("inputs.a-b.c", 0)]),
        ("has(nodes.a.output)", [("nodes.a.output", 4)]),
        ("'a' in inputs", [("inputs", 7)]),
        ("inputs.list[0].x == 1", [("inputs.list", 0)]),
        ("inputs.map[inputs.key].x == 1", [("inputs.map", 0), ("inputs.key", 11)]),
        ("inputs.l.exists(x, x.name == item.name)", [("inputs.l", 0), ("item.name", 29)]),
        # a macro's own variable hides one of the scope
        ("inputs.l.exists(item, item.name == 'a')", [("inputs.l", 0)]),
        ("item.exists(item, item.x) || item.y", [("item", 0), ("item.y", 29)]),
        ("{'a': inputs.x}.a == [inputs.y][0]", [("inputs.x", 6), ("inputs.y", 22)]),
        ("size(inputs.l) > 0 && type(index) == int", [("inputs.l", 5), ("index", 27)]),
    ],
)
def test_the_paths_it_reads_are_known_beforehand(text, references):
    found = compile_condition(text).references()
    assert [(".".join(reference.path), reference.offset) for reference in found] == references


def test_paths_are_named_once():
    assert compile_condition("inputs.a == 1 || inputs.a == 2").paths() == (("inputs", "a"),)


def test_data_that_is_not_read_does_no_harm():
    deep: object = 1
    for _ in range(50_000):
        deep = [deep]
    scope = {"inputs": {"n": 3, "deep": deep, "odd": object()}}
    assert compile_condition("inputs.n == 3").test(scope)
    with pytest.raises(ConditionError) as raised:
        compile_condition("inputs.deep == 3").test(scope)
    assert "nests deeper than" in raised.value.message


def test_a_number_of_any_size_can_be_compared():
    assert compile_condition("inputs.n < 0").test({"inputs": {"n": -(2**64)}})
    with pytest.raises(ConditionError):
        compile_condition("inputs.n > 0").test({"inputs": {"n": 10**400}})


def test_text_is_not_cut_at_a_zero_character():
    scope = {"inputs": {"text": "admin\0x", "half": "\ud800"}}
    assert not compile_condition("inputs.text == 'admin'").test(scope)
    assert compile_condition("inputs.half != ''").test(scope)


@pytest.mark.parametrize(
    ("text", "inputs"),
    [
        ("inputs.l.all(x, inputs.big == inputs.big)", {"l": list(range(1000)), "big": list(range(100_000))}),
        ("inputs.l.all(x, inputs.l.all(y, inputs.l.all(z, z >= 0)))", {"l": list(range(1000))}),
        ("inputs.l.all(x, inputs.m.all(y, y >= 0))", {"l": list(range(200)), "m": list(range(200))}),
        ("inputs.l.map(x, x + x).map(x, x + x).size() == 1", {"l": ["x" * 100_000]}),
    ],
)
def test_conditions_that_cost_too_much_are_stopped(text, inputs):
    with pytest.raises(ConditionError) as raised:
        compile_condition(text).test({"inputs": inputs})
    assert "too much data" in raised.value.message or "budget exceeded" in raised.value.message


def test_searching_a_long_list_is_no_problem():
    users = [{"name": f"user-{number}", "note": "x" * 200, "teams": ["a", "b"]} for number in range(3000)]
    scope = {"inputs": {"users": users, "name": "user-2999", "names": [f"user-{number}" for number in range(500)]}}
    assert compile_condition("inputs.users.exists(u, u.name == inputs.name)").test(scope)
    assert not compile_condition("inputs.users.all(u, u.name in inputs.names)").test(scope)


tokens = [
    "inputs",
    ".",
    "n",
    "nodes",
    "item",
    "(",
    ")",
    "[",
    "]",
    "'a'",
    "1",
    "2.5",
    "==",
    "!=",
    "&&",
    "||",
    "!",
    "-",
    "+",
    "?",
    ":",
    ",",
    "{",
    "}",
    "has",
    "exists",
    "x",
    "null",
    "true",
    "in",
    "size",
]


@given(st.text(max_size=30) | st.lists(st.sampled_from(tokens), max_size=16).map("".join), json_values)
@settings(max_examples=300)
def test_any_text_compiles_and_evaluates_or_raises_our_errors(text, value):
    try:
        condition = compile_condition(text)
    except ConditionSyntaxError as error:
        assert 0 <= error.offset <= len(text)
        assert error.code in {"condition_invalid", "condition_not_bool"}
        return
    try:
        assert isinstance(condition.test({"inputs": {"n": value}, "nodes": {}, "item": value}), bool)
    except ConditionError as error:
        assert error.code == "predicate_evaluation_failed"


@given(json_values, st.lists(names, min_size=1, max_size=3))
def test_every_value_equals_itself_and_is_null_or_not(value, path):
    scope = value
    for name in reversed(path):
        scope = {name: scope}
    place = "inputs" + "".join(f"['{name}']" for name in path)
    assert compile_condition(f"{place} == {place}").test({"inputs": scope})
    assert compile_condition(f"{place} == null").test({"inputs": scope}) is (value is None)
