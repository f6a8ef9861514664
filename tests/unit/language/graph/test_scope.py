"""The scope that templates and conditions are read over: persistent maps that behave like objects."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rpds import HashTrieMap

from compozy.language.compiled import Table
from compozy.language.errors import ConditionError, RenderError, TemplateSyntaxError
from compozy.language.graph.condition import MAX_COST, compile_condition
from compozy.language.graph.dialect import GraphDialect
from compozy.language.graph.template import compile_value, parse
from compozy.language.graph.template.parser import parse_nodes, read_nodes
from support.language_strategies import json_values, names

pytestmark = pytest.mark.unit


def scope() -> Table:
    dialect = GraphDialect()
    found = dialect.record(dialect.scope({"n": 3}, 2), "one", "Succeeded", {"x": [1, 2]})
    return dialect.record(found, "two", "Skipped", None)


def test_a_record_leaves_the_scope_before_it_alone() -> None:
    dialect = GraphDialect()
    before = dialect.scope({}, 1)
    after = dialect.record(before, "a", "Succeeded", 1)
    assert (list(before["nodes"]), list(after["nodes"])) == ([], ["a"])
    assert after["nodes"]["a"] == {"status": "succeeded", "output": 1}
    assert {root: before[root] for root in ("trigger", "event", "previous", "best", "progress")} == {
        "trigger": {},
        "event": {},
        "previous": {},
        "best": {},
        "progress": {},
    }


@pytest.mark.parametrize(
    ("template", "text"),
    [
        ("{{ .nodes.one.output.x }}!", "[1 2]!"),
        ("{{ .nodes.two.output }}|{{ .nodes.two.status }}", "<no value>|skipped"),
        ("{{ range $id, $node := .nodes }}{{ $id }}={{ $node.status }} {{ end }}", "one=succeeded two=skipped "),
        ("{{ len .nodes }}{{ with .nodes }}{{ .one.status }}{{ end }}", "2succeeded"),
        ('{{ (index .nodes "one").status }}', "succeeded"),
        ("{{ $all := .nodes }}{{ $all.two.status }}{{ $.generation }}", "skipped2"),
        ("{{ json .previous }}{{ if .previous }}x{{ else }}y{{ end }}", "{}y"),
        ("{{ len . }}{{ range $key, $_ := . }} {{ $key }}{{ end }}", f"8 {' '.join(sorted(scope()))}"),
    ],
)
def test_templates(template: str, text: str) -> None:
    assert parse(template).render(scope()) == text


@pytest.mark.parametrize("template", ["{{ .nodes }}", "{{ json .nodes }}", "{{ json . }}", "{{ json $ }}"])
def test_whole_maps_become_plain_json(template: str) -> None:
    value = parse(template).render(scope())
    plain = json.loads(value) if isinstance(value, str) else json.loads(json.dumps(value))
    assert plain.get("nodes", plain)["one"] == {"status": "succeeded", "output": {"x": [1, 2]}}


def test_errors_name_what_there_is() -> None:
    with pytest.raises(RenderError, match="has no key three; available: one, two"):
        compile_value("{{ .nodes.three.output }}").render(scope())


@pytest.mark.parametrize(
    ("condition", "holds"),
    [
        ("nodes.one.output.x[1] == 2", True),
        ("nodes.two.output == null && nodes.two.status == 'skipped'", True),
        ("'one' in nodes && !('three' in nodes) && size(nodes) == 2", True),
        ("nodes.exists(id, nodes[id].status == 'skipped')", True),
        ("has(nodes.one.output.x) && !has(nodes.one.output.y)", True),
        ("previous == {} && inputs.n == 3 && generation == 2", True),
    ],
)
def test_conditions(condition: str, holds: bool) -> None:
    assert compile_condition(condition).test(scope()) is holds


@given(st.dictionaries(names, json_values, min_size=1))
def test_persistent_maps_read_like_objects(values: dict[str, Any]) -> None:
    name = min(values)
    for text in (
        f"{{{{ .x.{name} }}}}",
        "{{ json .x }}",
        "{{ .x }}|",
        "{{ range $k, $v := .x }}{{ $k }}{{ json $v }}{{ end }}",
    ):
        template = parse(text)
        assert template.render({"x": HashTrieMap(values)}) == template.render({"x": values})


@given(st.text(alphabet='{}. abc_1-|"\n', max_size=14) | names.map(lambda name: f"{{{{ .{name} }}}}"))
def test_the_short_way_of_reading_gives_what_the_long_one_does(text: str) -> None:
    try:
        expected = read_nodes(text)
    except TemplateSyntaxError as error:
        with pytest.raises(TemplateSyntaxError, match="line"):
            parse_nodes(text)
        assert "{{" in text, error
    else:
        assert parse_nodes(text) == expected


def test_too_much_work_is_told_with_its_cost_and_the_limit() -> None:
    condition = compile_condition("inputs.all.all(x, inputs.all.all(y, inputs.all.all(z, x + y + z > 0)))")
    with pytest.raises(ConditionError) as error:
        condition.test({"inputs": {"all": list(range(4000))}})
    assert "inputs.all.all(x" in error.value.message
    assert f"limit {MAX_COST}" in error.value.message
    assert "cost " in error.value.message
