"""Which strings of the graph dialect keep the JSON type of a value, and what they read."""

import pytest

from compozy.language.errors import BadPathError, RenderError, TemplateSyntaxError
from compozy.language.graph.template import compile_value, parse

pytestmark = pytest.mark.unit

SCOPE = {
    "inputs": {"n": 3, "ratio": 1.5, "list": [1, {"a": None}], "none": None, "yes": True, "map": {"a": {"b": 1}}},
    "nodes": {"ask": {"status": "succeeded", "output": None}},
}


@pytest.mark.parametrize(
    ("template", "path", "value"),
    [
        ("{{ .inputs.n }}", ("inputs", "n"), 3),
        ("{{.inputs.ratio}}", ("inputs", "ratio"), 1.5),
        ("{{- .inputs.list -}}", ("inputs", "list"), [1, {"a": None}]),
        ("{{\t.inputs.yes\n}}", ("inputs", "yes"), True),
        ("{{ .nodes.ask.output }}", ("nodes", "ask", "output"), None),
        ("{{ .inputs }}", ("inputs",), SCOPE["inputs"]),
        (" {{ .inputs.n }}", None, " 3"),
        ("{{ .inputs.n }}\n", None, "3\n"),
        ("  {{- .inputs.n -}}  ", None, "3"),
        ("{{ .inputs.n }}{{ .inputs.n }}", None, "33"),
        ("{{/* note */}}{{ .inputs.n }}", None, "3"),
        ("{{ .inputs.n | print }}", None, "3"),
        ("{{ (.inputs.n) }}", None, "3"),
        ("{{ $.inputs.n }}", None, "3"),
        ("{{ $x := .inputs.n }}", None, ""),
        ("{{ `.inputs.n` }}", None, ".inputs.n"),
        ("{{ . }}", None, "map[inputs:map[list:[1 map[a:<nil>]] map:map[a:map[b:1]] n:3 none:<nil> ratio:1.5 "
         "yes:true] nodes:map[ask:map[output:<nil> status:succeeded]]]"),
        ("{{ .nodes.ask.output }}.", None, "<no value>."),
    ],
)  # fmt: skip
def test_only_a_lone_path_keeps_its_type(template, path, value):
    compiled = parse(template)
    assert compiled.exact_path == path
    assert compiled.render(SCOPE) == value
    assert type(compiled.render(SCOPE)) is type(value)


def test_text_can_be_asked_for():
    assert parse("{{ .inputs.n }}").render_text(SCOPE) == "3"
    assert parse("{{ .inputs.none }}").render_text(SCOPE) == "<no value>"


@pytest.mark.parametrize(
    ("template", "references"),
    [
        ("plain", []),
        ("{{ .inputs.n }}", [("inputs.n", 3)]),
        ("a {{ if .inputs.yes }}{{ .nodes.ask.output }}{{ else if $.x }}{{ end }}", [
            ("inputs.yes", 8), ("nodes.ask.output", 25), ("x", 56),
        ]),
        ("{{ and .a.b (not .c) | printf `%v` .d }}", [("a.b", 7), ("c", 17), ("d", 35)]),
        # below a with, the dot is known when the path is
        ("{{ with .inputs.map }}{{ .a.b }}{{ $.n }}{{ . }}{{ else }}{{ .m }}{{ end }}", [
            ("inputs.map", 8), ("inputs.map.a.b", 25), ("n", 35), ("m", 61),
        ]),
        ("{{ with index .list 0 }}{{ .x }}{{ end }}", [("list", 14)]),
        # the elements of a range are not known
        ("{{ range $i, $e := .list }}{{ .x }}{{ $e.y }}{{ $.z }}{{ else }}{{ .w }}{{ end }}", [
            ("list", 19), ("z", 48), ("w", 67),
        ]),
        # a variable stands for its path unless it is set again
        ("{{ $m := .inputs.map }}{{ $m.a }}", [("inputs.map", 9), ("inputs.map.a", 26)]),
        ("{{ $m := .a }}{{ $m.b }}{{ $m = .c }}{{ $m.d }}", [("a", 9), ("c", 32)]),
        ("{{ $m := print .a }}{{ $m.b }}", [("a", 15)]),
        ("{{ (.a).b.c }}{{ (index .l 0).x }}", [("a", 4), ("a.b.c", 4), ("l", 24)]),
    ],
)  # fmt: skip
def test_the_paths_it_reads_are_known_beforehand(template, references):
    found = parse(template).references()
    assert [(".".join(reference.path), reference.offset) for reference in found] == references


def test_paths_are_named_once():
    assert parse("{{ .a.b }} {{ .c }} {{ .a.b }}").paths() == (("a", "b"), ("c",))


@pytest.mark.parametrize(
    ("template", "static"),
    [("", True), ("plain } {", True), ("a{{/* note */}}b", True), ("{{ `x` }}", False), ("{{ .a }}", False)],
)
def test_static_strings_hold_only_text_and_comments(template, static):
    assert parse(template).is_static is static


def test_values_are_rendered_inside_out_and_keys_are_left_alone():
    value = compile_value({"{{ .k }}": ["{{ .inputs.n }}", {"q": "n is {{ .inputs.n }}"}], "c": "a{{/* b */}}c"})
    assert value.render(SCOPE) == {"{{ .k }}": [3, {"q": "n is 3"}], "c": "ac"}
    assert value.paths() == (("inputs", "n"),)
    assert [place for place, _ in value.references()] == [("{{ .k }}", 0), ("{{ .k }}", 1, "q")]
    assert compile_value({"a": [1, "b"]}).is_static


def test_errors_in_values_name_their_place():
    with pytest.raises(TemplateSyntaxError) as unreadable:
        compile_value([{"a": "{{ if }}"}])
    assert unreadable.value.path == (0, "a")
    with pytest.raises(BadPathError) as unrenderable:
        compile_value({"a": ["{{ .nope }}"]}).render(SCOPE)
    assert unrenderable.value.path == ("a", 0)


def test_values_that_nest_too_deep_are_refused():
    value: object = {}
    for _ in range(5_000):
        value = {"a": value}
    with pytest.raises(RenderError) as raised:
        compile_value(value)
    assert raised.value.code == "value_too_deep"
