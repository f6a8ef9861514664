"""What is wrong with a Go template, found when it is read or when it is rendered."""

import pytest

from compozy.language.errors import LimitError, RenderError, TemplateSyntaxError
from compozy.language.graph.template import parse

pytestmark = pytest.mark.unit

SCOPE = {
    "n": 1,
    "s": "text",
    "none": None,
    "yes": True,
    "list": ["a", "b"],
    "map": {"b": 1, "a": {"c": 2}},
    "many": [1] * 60,
    "long": "x" * 20_000,
}


@pytest.mark.parametrize(
    ("template", "offset", "message"),
    [
        ("a {{ .x", 2, "never closed"),
        ("{{ .x }", 6, "unexpected '}'"),
        ("{{}}", 2, "no value"),
        ("{{ - }}", 3, "bad number"),
        ("{{/* note", 0, "comment is never closed"),
        ("{{/* note */ }}", 0, "must fill its action"),
        ("{{ /* note */ }}", 3, "unexpected '/'"),
        ('{{ "a }}', 3, "quote is never closed"),
        ('{{ "a\nb" }}', 3, "quote is never closed"),
        ("{{ `a }}", 3, "quote is never closed"),
        ("{{ 'ab' }}", 3, "not one character"),
        ("{{ '' }}", 3, "not one character"),
        (r'{{ "\q" }}', 3, r"unknown escape \q"),
        (r'{{ "\ud800" }}', 3, "no character"),
        (r"{{ '\777' }}", 3, "larger than a byte"),
        ("{{ 1x }}", 3, "bad number"),
        ("{{ 08 }}", 3, "bad number"),
        ("{{ 0x }}", 3, "bad number"),
        ("{{ 1i }}", 3, "complex"),
        ("{{ 9223372036854775808 }}", 3, "64 bits"),
        ("{{ 1e999 }}", 3, "too large"),
        ("{{ " + "9" * 5000 + " }}", 3, "too long"),
        ("{{ .1.x }}", 5, "has no fields"),
        ("{{ . x }}", 5, "no function x"),
        ("{{ ..x }}", 4, "has no fields"),
        ("{{ .a..b }}", 5, "unexpected ."),
        ("{{ 1.5.x }}", 6, "has no fields"),
        ("{{ nil.x }}", 6, "has no fields"),
        ("{{ .a, 1 }}", 5, "unexpected ,"),
        ("{{ .a .b }}", 3, "not a function"),
        ("{{ nil }}", 3, "nil is not a command"),
        ("{{ .a% }}", 5, "unexpected '%'"),
        ("{{ € }}", 3, "unexpected '€'"),
        ("{{ : }}", 3, "expected :="),
        ("{{ nope .a }}", 3, "there is no function nope; available: and, default, eq"),
        ("{{ call .a }}", 3, "no function call"),
        ("{{ not }}", 3, "not cannot take 0 arguments; use not .a"),
        ("{{ .a | not 1 }}", 8, "not cannot take 2 arguments"),
        ("{{ len len }}", 7, "len cannot take 0 arguments"),
        ("{{ 1 | 2 }}", 7, "must be a function"),
        ("{{ .a | .b }}", 8, "must be a function"),
        ("{{ .a | }}", 8, "no value"),
        ("{{ | .a }}", 3, "no value"),
        ("{{ ( .a }}", 8, "never closed"),
        ("{{ .a ) }}", 6, "never opened"),
        ("{{ () }}", 4, "no value"),
        ("{{ $x }}", 3, "undefined variable $x; declare it with :="),
        ("{{ $x = 1 }}", 3, "undefined variable"),
        ("{{ $x := $x }}", 9, "undefined variable"),
        ("{{ $ := 1 }}", 3, "cannot be declared"),
        ("{{ if true }}{{ $x := 1 }}{{ end }}{{ $x }}", 38, "undefined variable"),
        ("{{ if true }}{{ $x := 1 }}{{ else }}{{ $x }}{{ end }}", 39, "undefined variable"),
        ("{{ print ($x := 1) }}", 10, "inside parentheses"),
        ("{{ $a, $b := .l }}", 5, "only range"),
        ("{{ range $a, $b, $c := .l }}{{ end }}", 15, "only range declares two"),
        ("{{ range $a, .l }}{{ end }}", 9, "declared with :="),
        ("{{ if }}{{ end }}", 6, "if has no value"),
        ("{{ if .a }}", 3, "the if is never ended; add {{end}}"),
        ("{{ if .a }}{{ else }}", 3, "the if is never ended"),
        ("{{ end }}", 3, "{{end}} without"),
        ("{{ else }}", 3, "{{else}} without"),
        ("{{ if .a }}{{ else }}{{ else }}{{ end }}", 24, "second else"),
        ("{{ if .a }}{{ else with .b }}{{ end }}", 19, "unexpected with"),
        ("{{ range .a }}{{ else if .b }}{{ end }}", 22, "unexpected if"),
        ("{{ if .a }}{{ end .b }}", 18, "unexpected b in end"),
        ("{{ break }}", 3, "break outside of a range"),
        ("{{ if .a }}{{ continue }}{{ end }}", 14, "continue outside of a range"),
        ('{{ define "x" }}{{ end }}', 3, "define is not supported"),
        ('{{ template "x" }}', 3, "template is not supported"),
        ('{{ block "x" . }}{{ end }}', 3, "block is not supported"),
        ("{{ " + "(" * 50 + "1" + ")" * 50 + " }}", 43, "deeper than 40"),
        ("{{ if 1 }}" * 50 + "{{ end }}" * 50, 403, "deeper than 40"),
    ],
)
def test_what_cannot_be_read_is_refused_with_its_place(template, offset, message):
    with pytest.raises(TemplateSyntaxError) as raised:
        parse(template)
    assert message in raised.value.message
    assert raised.value.offset == offset
    assert raised.value.code == "template_syntax"


@pytest.mark.parametrize(
    ("template", "code", "message"),
    [
        ("{{ .nope }}", "bad_path", ".nope: . has no key nope; available: list, long, many, map, n, none, s, yes"),
        ("{{ .map.x }}.", "bad_path", ".map.x: .map has no key x; available: a, b"),
        ("{{ $.map.a.x.y }}", "bad_path", "$.map.a.x.y: $.map.a has no key x"),
        ("{{ .s.x }}", "bad_path", ".s is text and has no keys"),
        ("{{ .list.x }}", "bad_path", ".list is a list and has no keys; take an element of it with index"),
        ("{{ .none.x }}", "empty_data", ".none.x: .none is null"),
        ("{{ (index .map `x`).y }}", "empty_data", "(…).y: (…) is null"),
        ("{{ with .map }}{{ .x }}{{ end }}", "bad_path", ". has no key x; available: a, b"),
        ("{{ index .list 2 }}", "template_call", "index: position 2 is out of range; the last is 1"),
        ("{{ index .list -1 }}", "template_call", "out of range"),
        ("{{ index .list `a` }}", "template_call", "a position is a whole number, not text"),
        ("{{ index .list true }}", "template_call", "not a boolean"),
        ("{{ index .list 0.5 }}", "template_call", "whole number"),
        ("{{ index .map 1 }}", "template_call", "an object is indexed by text"),
        ("{{ index .none 1 }}", "template_call", "index: null cannot be indexed"),
        ("{{ slice .s 2 1 }}", "template_call", "slice: the start 2 is after the end 1"),
        ("{{ slice .s 0 9 }}", "template_call", "out of range"),
        ("{{ slice .n 0 }}", "template_call", "a number cannot be sliced"),
        ("{{ len .n }}", "template_call", "len: a number has no length"),
        ("{{ eq .n .s }}", "template_call", "eq: a number and text cannot be compared"),
        ("{{ eq .n .yes }}", "template_call", "a number and a boolean"),
        ("{{ eq .list .list }}", "template_call", "eq: a list cannot be compared"),
        ("{{ ne .n .map }}", "template_call", "ne: an object cannot be compared"),
        ("{{ lt .n .s }}", "template_call", "lt: orders two numbers or two texts"),
        ("{{ ge .none .none }}", "template_call", "not null and null"),
        ("{{ gt .yes .yes }}", "template_call", "not a boolean and a boolean"),
        ("{{ join 1 .list }}", "template_call", "join: the separator is text"),
        ("{{ join `,` .none }}", "template_call", "join: joins a list, not null"),
        ("{{ printf .n }}", "template_call", "printf: the format is text"),
        ("{{ printf `%d` .s }}", "template_call", "printf: %d does not suit text"),
        ("{{ printf `%s` .none }}", "template_call", "printf: %s does not suit null"),
        ("{{ printf `%d` 1.5 }}", "template_call", "%d does not suit a number"),
        ("{{ printf `%z` .n }}", "template_call", "%z does not suit a number"),
        ("{{ printf `%d` }}", "template_call", "there is no argument for %d"),
        ("{{ printf `%d` 1 2 }}", "template_call", "1 arguments more"),
        ("{{ printf `%9999d` 1 }}", "template_call", "up to 1000"),
        ("{{ printf `%*d` `a` 1 }}", "template_call", "whole number"),
        ("{{ range .s }}{{ end }}", "template_call", "range: cannot go through text"),
        ("{{ range .yes }}{{ end }}", "template_call", "cannot go through a boolean"),
    ],
)
def test_what_cannot_be_rendered_says_why(template, code, message):
    with pytest.raises(RenderError) as raised:
        parse(template).render(SCOPE)
    assert raised.value.code == code
    assert message in raised.value.message


@pytest.mark.parametrize(
    "template",
    [
        "{{ range 1000000000 }}{{ end }}",
        "{{ range .many }}" + "{{ range $.many }}" * 3 + "{{ end }}" * 4,
        "{{ range .many }}{{ $.long }}{{ end }}",
        "{{ $s := .long }}{{ range .many }}{{ $s = print $s $s }}{{ end }}",
        "{{ range 100000 }}{{ $x := len $.long }}{{ end }}",
        "{{ range .many }}{{ $x := printf `%1000s%1000s` $.long $.long }}{{ $x = json $x }}{{ end }}",
    ],
)
def test_templates_that_run_or_grow_without_bound_are_stopped(template):
    with pytest.raises(LimitError) as raised:
        parse(template).render(SCOPE)
    assert raised.value.code == "template_limit"


def test_values_too_deep_to_print_are_refused():
    value: object = 1
    for _ in range(50_000):
        value = [value]
    for template in ("{{ .deep }}.", "{{ json .deep }}", "{{ print .deep }}"):
        with pytest.raises(RenderError) as raised:
            parse(template).render({"deep": value})
        assert raised.value.code == "value_too_deep"


def test_long_chains_of_else_if_are_not_nesting():
    chain = (
        "{{ if eq .n 0 }}"
        + "".join(f"{{{{ else if eq .n {number} }}}}{number}" for number in range(1, 500))
        + "{{ end }}"
    )
    assert parse(chain).render_text({"n": 499}) == "499"
