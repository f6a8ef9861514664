"""What holds of every Go template."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compozy.language.errors import RenderError, TemplateSyntaxError
from compozy.language.graph.template import compile_value, parse
from support.language_strategies import json_values, names

pytestmark = pytest.mark.unit

words = [
    "if",
    "else",
    "end",
    "range",
    "with",
    "break",
    "print",
    "printf",
    "eq",
    "index",
    "len",
    "join",
    "default",
    "and",
]
signs = ["{{", "}}", "{{-", "-}}", "(", ")", "|", ":=", "=", ",", " ", ".", "$", '"', "`", "'", "/*", "*/", "\n"]
values = ["$x", ".a", ".b.c", "1", "-1.5", "0x", '"%d"', "true", "nil", "text"]
templates = st.text(max_size=40) | st.lists(st.sampled_from(words + signs + values), max_size=24).map("".join)
scopes = st.dictionaries(st.sampled_from(["a", "b", "x"]), json_values, max_size=3)

operands = st.sampled_from([".", "$", ".a", ".b", "$.a", "1", '"t"', "true", "nil", "(print .a 1)", "(len .b)"])
pipelines = st.one_of(
    operands,
    st.tuples(st.sampled_from(["print", "json", "not", "len", "html"]), operands).map(" ".join),
    st.tuples(st.sampled_from(["eq", "index", "default", "join", "lt"]), operands, operands).map(" ".join),
    st.tuples(operands, st.sampled_from(['printf "%v"', "json", "not", "len", "default 1"])).map(" | ".join),
)
actions = pipelines.map(lambda pipeline: "{{ " + pipeline + " }}")
programs = st.recursive(
    st.one_of(st.just("text"), actions),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map("".join),
        st.tuples(st.sampled_from(["if", "with", "range"]), pipelines, inner, inner).map(
            lambda parts: f"{{{{ {parts[0]} {parts[1]} }}}}{parts[2]}{{{{ else }}}}{parts[3]}{{{{ end }}}}"
        ),
    ),
    max_leaves=6,
)
RENDER_CODES = {"bad_path", "empty_data", "template_call", "template_limit"}


@given(templates, scopes)
def test_any_text_parses_and_renders_or_raises_our_errors(text, scope):
    try:
        template = parse(text)
    except TemplateSyntaxError as error:
        assert 0 <= error.offset <= len(text)
        return
    try:
        assert isinstance(template.render_text(scope), str)
    except RenderError as error:
        assert error.code in RENDER_CODES


@given(programs, scopes)
def test_programs_parse_and_render_or_raise_our_errors(text, scope):
    try:
        template = parse(text)
    except TemplateSyntaxError as error:
        assert "nil" in error.message
        return
    for reference in template.references():
        assert text[reference.offset] in ".$("
    try:
        assert isinstance(template.render(scope), str) or template.exact_path is not None
    except RenderError as error:
        assert error.code in RENDER_CODES


@given(json_values, st.lists(names, min_size=1, max_size=4), st.sampled_from(["{{ %s }}", "{{%s}}", "{{- %s -}}"]))
def test_every_value_survives_a_lone_path(value, path, form):
    scope = value
    for name in reversed(path):
        scope = {name: scope}
    template = parse(form % ("." + ".".join(path)))
    assert template.exact_path == tuple(path)
    assert template.paths() == (tuple(path),)
    assert template.render(scope) is value


@given(json_values)
def test_json_reads_back_as_the_same_value(value):
    assert json.loads(parse("{{ json .v }}").render_text({"v": value})) == value


@given(st.text())
def test_text_is_printed_and_sliced_whole(text):
    assert parse("{{ .v }}.").render_text({"v": text}) == text + "."
    assert parse("{{ print (slice .v 0) }}").render_text({"v": text}) == text.encode(errors="replace").decode()


@given(json_values)
def test_rendered_text_is_never_a_template_again(value):
    text = "{{ .secret }}" + json.dumps(value)
    assert parse("{{ .text }}.").render({"text": text, "secret": "leaked"}) == text + "."


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_floats_print_with_no_digit_lost(number):
    assert float(parse("{{ .v }}.").render_text({"v": number})[:-1]) == number


@given(json_values)
def test_compiling_a_value_without_actions_changes_nothing(value):
    if "{{" not in json.dumps(value, ensure_ascii=False):
        compiled = compile_value(value)
        assert compiled.is_static
        assert compiled.render({}) == value
