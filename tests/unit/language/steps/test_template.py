"""Templates of the steps dialect, by example."""

import pytest

from compozy.language.errors import (
    BadPathError,
    EmptyDataError,
    LimitError,
    LoopVariableError,
    MissingStepError,
    RenderError,
    TemplateSyntaxError,
)
from compozy.language.steps.template import compile_value, parse

pytestmark = pytest.mark.unit

SCOPE = {
    "input": {
        "team": "Core",
        "max": 50,
        "ratio": 1.5,
        "go": True,
        "none": None,
        "empty": [],
        "blank": "",
        "zero": 0,
        "object": {},
        "words": ["one", "three"],
        "html": '<a href="x">&</a>',
        "tag": "{{input.team}}",
    },
    "E0": {
        "values": [
            {"id": 1, "title": "Fix", "labels": ["a", "b"], "owner": {"name": "Ada"}},
            {"id": 2, "title": "Ship"},
        ],
        "0": "key zero",
    },
    "title": "a root",
}


@pytest.mark.parametrize(
    ("template", "value"),
    [
        ("{{input.max}}", 50),
        ("{{ input.ratio }}", 1.5),
        ("{{\n input.go\t}}", True),
        ("{{input.none}}", None),
        ("{{input.words}}", ["one", "three"]),
        ("{{E0.values.1}}", {"id": 2, "title": "Ship"}),
        ("{{E0.values.0.owner}}", {"name": "Ada"}),
        ("{{E0.values.length}}", 2),
        ("{{input.team.length}}", 4),
        ("{{input.words.1.length}}", 5),
        ("{{input}}", SCOPE["input"]),
    ],
)
def test_a_single_tag_keeps_the_type_of_its_value(template, value):
    assert parse(template).render(SCOPE) == value
    assert type(parse(template).render(SCOPE)) is type(value)


def test_a_spliced_value_is_the_value_itself():
    assert parse("{{input.words}}").render(SCOPE) is SCOPE["input"]["words"]


@pytest.mark.parametrize(
    ("template", "text"),
    [
        ("", ""),
        ("plain } text {", "plain } text {"),
        (" {{input.max}}", " 50"),
        ("{{input.max}}\n", "50\n"),
        ("team {{input.team}}!", "team Core!"),
        ("{{input.max}}{{input.go}}{{input.ratio}}", "50true1.5"),
        ("<{{input.none}}>", "<>"),
        ("{{input.html}}.", '<a href="x">&</a>.'),
        ("see {{input.tag}}", "see {{input.team}}"),
        ("is {{input.words}}", 'is [\n  "one",\n  "three"\n]'),
        ("is {{input.object}}{{input.empty}}", "is {}[]"),
        # sections
        ("{{#E0.values}}{{title}};{{/E0.values}}", "a root;a root;"),
        ("{{#E0.values}}{{id}}{{^@last}}, {{/@last}}{{/E0.values}}", "1, 2"),
        ("{{#E0.values}}{{@index}}{{#@first}}!{{/@first}} {{/E0.values}}", "0! 1 "),
        ("{{#E0.values}}[{{#labels}}{{@index}}{{/labels}}]{{/E0.values}}", "[01][]"),
        (
            "{{#E0.values}}{{#owner}}{{name}} owns {{id}}{{/owner}}{{^owner}}nobody{{/owner}} {{/E0.values}}",
            "Ada owns 1 nobody ",
        ),
        ("{{#E0.values}}{{missing}}.{{/E0.values}}", ".."),
        ("{{#E0.values}}{{input.max}} {{/E0.values}}", "50 50 "),
        ("{{#input.words}}{{length}} {{/input.words}}", "3 5 "),
        ("{{#E0.values.0}}{{id}}{{/E0.values.0}}", "1"),
        ("{{#input.go}}yes{{/input.go}}", "yes"),
        ("{{# input.go }}yes{{/ input.go }}", "yes"),
        ("{{#input.zero}}zero is true{{/input.zero}}", "zero is true"),
        ("{{#input.object}}so is an empty object{{/input.object}}", "so is an empty object"),
        ("{{#input.none}}x{{/input.none}}{{^input.none}}none{{/input.none}}", "none"),
        ("{{#input.empty}}x{{/input.empty}}{{^input.empty}}none{{/input.empty}}", "none"),
        ("{{#input.blank}}x{{/input.blank}}{{^input.blank}}none{{/input.blank}}", "none"),
        ("{{#input.nope.deep}}x{{/input.nope.deep}}{{^input.nope}}none{{/input.nope}}", "none"),
        ("{{#E0.values.9}}x{{/E0.values.9}}{{^input.team.x}}none{{/input.team.x}}", "none"),
    ],
)
def test_everything_else_is_text(template, text):
    assert parse(template).render(SCOPE) == text
    assert parse(template).render_text(SCOPE) == text


@pytest.mark.parametrize(
    ("template", "text"), [("{{input.max}}", "50"), ("{{input.none}}", ""), ("{{input.go}}", "true")]
)
def test_text_can_be_asked_for(template, text):
    assert parse(template).render_text(SCOPE) == text


@pytest.mark.parametrize(
    ("template", "error", "code", "message"),
    [
        ("{{E7.x}}", MissingStepError, "missing_step", "E7 is not in scope; available: E0, input, title"),
        ("a{{#E7}}{{/E7}}", MissingStepError, "missing_step", "E7 is not in scope"),
        (
            "{{E0.values.0.idd}}",
            BadPathError,
            "bad_path",
            "E0.values.0 has no key idd; available: id, labels, owner, title",
        ),
        ("{{input.team.name}}", BadPathError, "bad_path", "input.team is text and has no keys"),
        ("{{input.max.0}}", BadPathError, "bad_path", "input.max is a number, not a list"),
        ("{{E0.0}}", BadPathError, "bad_path", "E0 is an object, not a list"),
        ("{{input.max.length}}", BadPathError, "bad_path", "length is of lists and text; input.max is a number"),
        ("{{input.none.length}}", BadPathError, "bad_path", "input.none is null"),
        ("{{input.empty.0}}", EmptyDataError, "empty_data", "input.empty is an empty list"),
        ("{{E0.values.2.id}}", EmptyDataError, "empty_data", "E0.values has 2 elements, so there is no index 2"),
        ("{{input.none.x}}", EmptyDataError, "empty_data", "input.none.x: input.none is null"),
        ("{{input.none.0}}", EmptyDataError, "empty_data", "input.none is null"),
        ("a{{#input.go}}{{nope}}{{/input.go}}", MissingStepError, "missing_step", "nope is not in scope"),
        (
            "a{{#input.go}}{{@index}}{{/input.go}}",
            LoopVariableError,
            "template_syntax",
            "inside a section over a list",
        ),
    ],
)
def test_what_cannot_be_rendered_says_why(template, error, code, message):
    with pytest.raises(error) as raised:
        parse(template).render(SCOPE)
    assert raised.value.code == code
    assert message in raised.value.message


@pytest.mark.parametrize(
    ("template", "offset", "message"),
    [
        ("ab {{", 3, "never closed"),
        ("{{}}", 0, "empty"),
        ("{{ }}", 0, "empty"),
        ("{{! note }}", 0, "comments"),
        ("{{> other}}", 0, "partials"),
        ("{{< other}}", 0, "parents"),
        ("{{$ block}}", 0, "blocks"),
        ("a{{#input.x}}b", 1, "never closed; end it with {{/input.x}}"),
        ("{{/input.x}}", 0, "never opened"),
        ("{{#input.a}}{{/input.b}}", 12, "opened as input.a"),
        ("{{E0.}}", 0, "stray dot"),
        ("{{.}}", 0, "stray dot"),
        ("{{E0..x}}", 0, "stray dot"),
        ("{{#}}{{/}}", 0, "empty"),
        ("{{@index}}", 0, "only inside a section"),
        ("{{^input.x}}{{@last}}{{/input.x}}", 12, "only inside a section"),
        ("{{E0.@index}}", 0, "cannot be part of a path"),
        ("{{0.x}}", 0, "must begin with a name"),
        ("{{E0.length.x}}", 0, "must be the last segment"),
        ("{{E0.99999999999999999999}}", 0, "too large"),
        ("{{#a}}" * 33 + "{{/a}}" * 33, 32 * 6, "deeper than 32"),
    ],
)
def test_what_cannot_be_read_is_refused_when_the_plan_is_loaded(template, offset, message):
    with pytest.raises(TemplateSyntaxError) as raised:
        parse(template)
    assert raised.value.offset == offset
    assert message in raised.value.message


@pytest.mark.parametrize(
    ("template", "roots"),
    [
        ("plain", set()),
        ("{{input.a}} {{E0.b}}", {"input", "E0"}),
        ("{{E1}}", {"E1"}),
        ("{{#E1.list}}{{name}}{{/E1.list}}", {"E1"}),
        ("{{#E1}}{{E2.x}}{{#nested}}{{y}}{{/nested}}{{/E1}}", {"E1", "E2"}),
        ("{{^E1.list}}{{nothing}}{{/E1.list}}", {"E1", "nothing"}),
        ("{{#E1}}{{^x}}{{y}}{{/x}}{{0}}{{/E1}}", {"E1"}),
    ],
)
def test_the_roots_that_must_be_in_scope_are_known_beforehand(template, roots):
    assert parse(template).roots() == roots


def test_static_strings_are_known_beforehand():
    assert parse("plain { } text").is_static
    assert not parse("{{input.a}}").is_static


def test_loops_that_multiply_are_stopped():
    nested = "{{#input.many}}" * 8 + "{{/input.many}}" * 8
    with pytest.raises(LimitError) as raised:
        parse("a" + nested).render({"input": {"many": [1] * 50}})
    assert raised.value.code == "template_limit"


def test_text_that_grows_too_long_is_stopped():
    with pytest.raises(LimitError):
        parse("{{#input.many}}{{input.text}}{{/input.many}}.").render(
            {"input": {"many": [1] * 100, "text": "x" * 20_000}}
        )


def test_values_are_rendered_inside_out_and_keys_are_left_alone():
    value = compile_value({"{{input.team}}": ["{{input.max}}", {"q": "team {{input.team}}"}], "plain": [1, None]})
    assert value.render(SCOPE) == {"{{input.team}}": [50, {"q": "team Core"}], "plain": [1, None]}
    assert not value.is_static
    assert value.roots() == {"input": (("{{input.team}}", 0), ("{{input.team}}", 1, "q"))}


def test_static_values_are_shared():
    value = compile_value({"a": {"b": [1, "x"]}, "c": "{{input.max}}"})
    assert value.render(SCOPE)["a"] is value.render({"input": {"max": 1}})["a"]
    assert compile_value([1, {"a": "b"}]).is_static


def test_errors_in_values_name_their_place():
    with pytest.raises(TemplateSyntaxError) as unreadable:
        compile_value({"a": ["ok", "{{"]})
    assert unreadable.value.path == ("a", 1)
    with pytest.raises(BadPathError) as unrenderable:
        compile_value({"a": [{"b": "{{input.nope}}"}]}).render(SCOPE)
    assert unrenderable.value.path == ("a", 0, "b")


def test_values_that_nest_too_deep_are_refused():
    value: object = "x"
    for _ in range(5_000):
        value = [value]
    with pytest.raises(RenderError) as raised:
        compile_value(value)
    assert raised.value.code == "value_too_deep"
