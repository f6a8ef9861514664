"""What Go templates print: `go_templates.yaml` holds the examples."""

from pathlib import Path

import pytest
import yaml

from compozy.language.graph.template import parse

pytestmark = pytest.mark.unit

DOCUMENT = yaml.safe_load(Path(__file__).with_name("go_templates.yaml").read_text(encoding="utf-8"))
EXAMPLES = [
    pytest.param(example["template"], example["prints"], id=f"{group}: {example['template']}")
    for group, examples in DOCUMENT["examples"].items()
    for example in examples
]


@pytest.mark.parametrize(("template", "text"), EXAMPLES)
def test_prints_what_go_prints(template, text):
    assert parse(template).render_text(DOCUMENT["scope"]) == text


@pytest.mark.parametrize(
    ("template", "text"),
    [
        # JSON does not tell 2 from 2.0, so both compare, index and format alike
        ("{{ eq .two 2 }} {{ eq .two_as_float 2 }} {{ lt .half 1 }}", "true true true"),
        ("{{ index .list .two_as_float }} {{ printf `%d %.1f` .two_as_float .two }}", "c 2 2.0"),
        ("{{ range .two_as_float }}{{ . }}{{ end }}", "01"),
        # and numbers print without exponent up to 10^21
        ("{{ .million }} {{ .precise }} {{ .huge }} {{ json .two_as_float }}", "1000000 1234567.5 1e+21 2"),
        # lists of any element type, and text, can be joined
        ("{{ join `,` .list }} {{ join `,` `a` }}", "a,b,c a"),
    ],
)
def test_where_numbers_and_lists_are_easier_than_in_go(template, text):
    scope = {
        "two": 2,
        "two_as_float": 2.0,
        "half": 0.5,
        "million": 1e6,
        "precise": 1234567.5,
        "huge": 1e21,
        "list": ["a", "b", "c"],
    }
    assert parse(template).render_text(scope) == text
