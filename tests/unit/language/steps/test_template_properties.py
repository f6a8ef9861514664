"""What holds of every template of the steps dialect."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compozy.language.errors import RenderError, TemplateSyntaxError
from compozy.language.steps.template import compile_value, parse
from support.language_strategies import json_values, names

pytestmark = pytest.mark.unit

pieces = st.sampled_from(
    [
        "{{",
        "}}",
        "#",
        "^",
        "/",
        "@index",
        "@last",
        "a",
        "b",
        "input",
        ".",
        "0",
        "length",
        " ",
        "{{a}}",
        "{{#a}}",
        "{{/a}}",
        "{{^b}}",
        "{{/b}}",
    ]
)
templates = st.text(max_size=40) | st.lists(pieces, max_size=20).map("".join)
scopes = st.dictionaries(st.sampled_from(["a", "b", "input", "E0"]), json_values, max_size=4)


@given(templates, scopes)
def test_any_text_parses_and_renders_or_raises_our_errors(text, scope):
    try:
        template = parse(text)
    except TemplateSyntaxError as error:
        assert 0 <= error.offset <= len(text)
        return
    try:
        rendered = template.render_text(scope)
    except RenderError as error:
        assert error.code in {"missing_step", "bad_path", "empty_data", "template_syntax"}
        return
    assert isinstance(rendered, str)
    assert not template.is_static or rendered == text


@given(templates, scopes)
def test_a_template_fails_for_a_missing_root_only_when_it_named_it(text, scope):
    try:
        template = parse(text)
    except TemplateSyntaxError:
        return
    complete = {root: {} for root in template.roots()} | scope
    try:
        template.render(complete)
    except RenderError as error:
        # A bare key in a section over something that is no element is the one name that is not known beforehand.
        assert error.code != "missing_step" or "{{#" in text.replace(" ", "")


@given(json_values, st.lists(names, min_size=1, max_size=4))
def test_every_value_survives_a_splice(value, path):
    scope = value
    for name in reversed(path):
        scope = {name: scope}
    assert parse("{{" + ".".join(path) + "}}").render(scope) is value


@given(json_values)
def test_values_in_text_are_json_or_bare(value):
    text = parse("{{input}}").render_text({"input": value})
    if isinstance(value, str):
        assert text == value
    elif value is None:
        assert text == ""
    else:
        assert json.loads(text) == value


@given(json_values)
def test_rendered_text_is_never_a_template_again(value):
    text = "{{input.secret}}" + json.dumps(value)
    assert parse("{{input.text}}.").render({"input": {"text": text, "secret": "leaked"}}) == text + "."


@given(json_values)
def test_compiling_a_value_without_tags_changes_nothing(value):
    try:
        compiled = compile_value(value)
    except TemplateSyntaxError:
        assert "{{" in json.dumps(value, ensure_ascii=False)
        return
    if compiled.is_static:
        assert compiled.render({}) == value
