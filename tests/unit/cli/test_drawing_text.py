"""Pictures as Mermaid and as Graphviz source: nothing that an author writes gets out of its label."""

from __future__ import annotations

import re
import shutil
import subprocess
from datetime import UTC, datetime
from typing import Any, get_args
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compozy.api.planrun import NodeState
from compozy.cli.drawing.dot import quoted, to_dot
from compozy.cli.drawing.looks import HANDLED, STATES
from compozy.cli.drawing.mermaid import escaped, to_mermaid
from compozy.cli.drawing.model import Drawing, Form, Link, Shape
from compozy.cli.drawing.planned import draw_plan
from compozy.cli.drawing.standing import put_run
from compozy.cli.graphviz import to_svg

pytestmark = pytest.mark.unit

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)
NEEDS_DOT = pytest.mark.skipif(shutil.which("dot") is None, reason="Graphviz is not installed")

PLAN: dict[str, Any] = {
    "graph": {
        "nodes": [
            {"id": "each", "kind": "fan-out", "collection": "{{ .inputs.all }}"},
            {
                "id": "choose",
                "kind": "ask",
                "params": {"prompt": "Which?", "expires": {"after": "1h", "route": "late"}},
            },
            {"id": "late", "kind": "transform"},
            {"id": "joined", "kind": "collect"},
        ],
        "edges": [
            {"from": "each", "to": "choose"},
            {"from": "choose", "to": "joined"},
            {"from": "choose", "to": "late"},
            {"from": "late", "to": "joined"},
        ],
    }
}


def a_run() -> Drawing:
    drawing = draw_plan(PLAN, "rel-1")
    nodes = {
        "each": {"status": "Running", "lanes": {"total": 3, "succeeded": 1, "failed": 0, "canceled": 0}},
        "choose": {"status": "Running", "items": {"0": {"status": "Succeeded"}}},
        "late": {"status": "Running", "items": {"0": {"status": "Skipped"}}},
    }
    spec = {"node": "choose", "item": 1}
    asked = {"metadata": {"name": "q", "creationTimestamp": "2026-05-01T11:50:00Z"}, "spec": spec}
    put_run(drawing, "Running", nodes, [asked], NOW)
    return drawing


def test_a_plan_as_mermaid() -> None:
    assert to_mermaid(draw_plan(PLAN, "p")) == (
        "flowchart TD\n"
        '  n0[/"each<br/>fan-out"\\]:::plain\n'
        '  n3[\\"joined<br/>collect"/]:::plain\n'
        '  subgraph g0["for each of #123;#123; #46;inputs.all #125;#125;"]\n'
        '    n1(["☺ choose<br/>ask<br/>Which?"]):::people\n'
        '    n2["late<br/>transform"]:::plain\n'
        "  end\n"
        "  n0 --> n1\n"
        "  n1 --> n3\n"
        '  n1 -.->|"expires after 1h"| n2\n'
        "  n2 --> n3\n"
        "  linkStyle 0 stroke:#7b8794,stroke-width:1.5px\n"
        "  linkStyle 1 stroke:#7b8794,stroke-width:1.5px\n"
        "  linkStyle 2 stroke:#7b8794,stroke-width:1.5px,stroke-dasharray:8 4\n"
        "  linkStyle 3 stroke:#7b8794,stroke-width:1.5px\n"
        "  style g0 fill:transparent,stroke:#7b8794,stroke-dasharray:4 4\n"
        "  classDef plain fill:#eef2ff,color:#0f172a,stroke:#475569,stroke-width:1.5px\n"
        "  classDef people fill:#fdf4ff,color:#4a044e,stroke:#a21caf,stroke-width:2px\n"
    )


def test_a_run_as_mermaid() -> None:
    lines = to_mermaid(a_run()).splitlines()
    assert lines[1:13] == [
        '  n0[/"… each<br/>fan-out"\\]:::running',
        '  n3[\\"· joined<br/>collect"/]:::pending',
        '  subgraph g0["for each of #123;#123; #46;inputs.all #125;#125;#58; 1/3 lanes done, 1 waiting"]',
        '    n1(["? ☺ choose<br/>ask<br/>Which?<br/>1 waiting, 1 succeeded<br/>item 1#58; waits for somebody '
        'since 10m"]):::waiting',
        '    n2["#45; late<br/>transform"]:::skipped',
        "  end",
        "  n0 ==> n1",
        "  n1 ==> n3",
        '  n1 -.->|"expires after 1h"| n2',
        "  n2 -.-> n3",
        "  linkStyle 0 stroke:#15803d,stroke-width:3px",
        "  linkStyle 1 stroke:#15803d,stroke-width:3px",
    ]
    assert lines[13] == "  linkStyle 2 stroke:#8b95a3,stroke-width:1.5px,stroke-dasharray:1 4"


def test_a_run_as_graphviz_source() -> None:
    source = to_dot(a_run())
    assert source.startswith('digraph "rel-1" {\n')
    for part in (
        'n0 [shape="trapezium", class="running", label="… each\\nfan-out", style="filled"',
        'subgraph cluster_0 {\n    label="for each of {{ .inputs.all }}: 1/3 lanes done, 1 waiting";',
        'n1 [shape="egg", class="waiting", label="? ☺ choose\\nask\\nWhich?\\n1 waiting, 1 succeeded\\nitem 1: ',
        'n2 [shape="box", class="skipped", label="- late\\ntransform", style="filled,dotted"',
        'n1 -> n3 [color="#15803d", penwidth="3", style="solid"]',
        'n1 -> n2 [color="#8b95a3", penwidth="1.5", style="dotted", label=" expires after 1h "]',
    ):
        assert part in source


def test_every_state_has_a_look_of_its_own_beside_its_colour() -> None:
    assert set(STATES) == set(get_args(NodeState))
    looks = [look for name, look in STATES.items() if name != "Ready"] + [HANDLED]
    apart = {(look.mark, look.width, look.dashes) for look in looks}
    assert len(apart) == len(STATES)
    for look in looks:
        assert contrast(look.text, look.fill) >= 4.5 or look is STATES["Skipped"]


def contrast(one: str, other: str) -> float:
    """The ratio of WCAG 2."""

    def luminance(colour: str) -> float:
        parts = [int(colour[index : index + 2], 16) / 255 for index in (1, 3, 5)]
        red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


HOSTILE = [
    'say "hi"] --> n9["x',
    "<img src=x onerror=alert(1)>",
    "`code` **bold** _it_",
    "%%{init: {'theme': 'dark'}}%%",
    "line\nend\nsubgraph g9",
    "a --> b; click a call f()",
    "\\N \\G \\",
    "&lt;b&gt; &#34;",
    "#34; #quot;",
    '}}]])|"|',
    "1. list",
    "- list",
    "style: #x;",
    "\x1b[2J\u202e\x00",
    "🧑‍🚀 日本語 Ж",
    "x" * 500,
]


def hostile(text: str) -> Drawing:
    """Everything that an author can name, named so."""
    nodes = [
        {"id": text, "kind": text, "review": {"prompt": text}},
        {"id": "r", "kind": "route", "routes": [{"when": text, "to": text}], "default": text},
        {"id": "f", "kind": "fan-out", "collection": text},
        {"id": "b", "kind": "branch", "condition": text},
    ]
    edges = [{"from": "r", "to": text}, {"from": "f", "to": "b"}]
    return draw_plan({"graph": {"nodes": nodes, "edges": edges}}, text)


MERMAID_LINE = re.compile(
    r"""flowchart\ TD
    | \s*n\d+(\[/|\[\\|\(\[|\{\{?|>|\[\[?)"[^"`<>&%{}\[\]()|;\\]*"(\\\]|/\]|\]\)|\}\}?|\]\]?):::[a-z]+
    | \s*subgraph\ g\d+\["[^"`<>&%{}\[\]()|;\\]*"\]
    | \s*end
    | \s*n\d+\ (-->|-\.->|==>)(\|"[^"`<>&%{}\[\]()|;\\]*"\|)?\ n\d+
    | \s*(linkStyle\ \d+|style\ g\d+|classDef\ [a-z]+)\ [a-z0-9#:,. -]+
    """,
    re.VERBOSE,
)


def assert_tame(source: str) -> None:
    """Every line is one of ours; inside of labels there are only letters, our breaks and entities."""
    for line in source.splitlines():
        bare = re.sub(r"#[0-9]+;", "", line.replace("<br/>", " "))
        assert MERMAID_LINE.fullmatch(bare), line


@pytest.mark.parametrize("text", HOSTILE)
def test_nothing_gets_out_of_a_label_of_mermaid(text: str) -> None:
    assert_tame(to_mermaid(hostile(text)))


@given(st.text(min_size=1))
def test_no_text_gets_out_of_a_label(text: str) -> None:
    drawing = hostile(text)
    assert_tame(to_mermaid(drawing))
    # Without its strings, Graphviz source is only ours.
    left = re.sub(r'"(\\.|[^"\\])*"', "@", to_dot(drawing))
    assert re.fullmatch(r"[a-z0-9_@=,;\s\[\]{}<>-]*", left)


@given(st.text(alphabet=st.characters(codec="ascii", categories=["P", "S", "N", "L", "Zs"])))
def test_an_escaped_text_can_be_read_back(text: str) -> None:
    back = re.sub(r"#([0-9]+);", lambda found: chr(int(found[1])), escaped(text))
    assert back == text


@pytest.mark.parametrize(
    ("text", "plain"), [("v1.4.0, a_b-c", "v1.4.0, a_b-c"), ("1. x", "1#46; x"), ("a__b", "a#95;#95;b"), ("", "")]
)
def test_what_is_harmless_stays_readable(text: str, plain: str) -> None:
    assert escaped(text) == plain


def test_a_string_of_graphviz_means_what_was_written() -> None:
    assert quoted('a "b" \\N', "&lt;") == '"a \\"b\\" \\\\N\\n&amp;lt;"'


def test_long_texts_are_cut() -> None:
    source = to_mermaid(hostile("x" * 500))
    assert max(map(len, re.findall("x+", source))) <= 56


def every_form_and_state() -> Drawing:
    drawing = Drawing("all", is_run=True)
    for form in get_args(Form):
        for state in get_args(NodeState):
            drawing.add(Shape(f"{form}-{state}", f"{form} {state}", "kind", form, status=state))
    names = list(drawing.shapes)
    for index, (kind, taken) in enumerate(
        (kind, taken) for kind in ("flow", "exception", "body") for taken in (True, False, None)
    ):
        drawing.links.append(Link(names[index], names[index + 9], "label", kind, taken))  # type: ignore[arg-type]
    return drawing


def test_every_form_and_state_is_drawn() -> None:
    drawing = every_form_and_state()
    assert_tame(to_mermaid(drawing))
    for state in get_args(NodeState):
        assert f"classDef {state.lower()} " in to_mermaid(drawing)


@NEEDS_DOT
@pytest.mark.parametrize(
    "drawing", [a_run(), every_form_and_state(), *map(hostile, HOSTILE)], ids=["run", "all", *map(ascii, HOSTILE)]
)
def test_graphviz_draws_it(drawing: Drawing) -> None:
    root = ElementTree.fromstring(to_svg(to_dot(drawing)))
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    kinds = [group.get("class", "").split()[0] for group in root.iter("{http://www.w3.org/2000/svg}g")]
    assert kinds.count("node") == len(drawing.shapes)
    assert kinds.count("edge") == len(drawing.links)
    if drawing.title in HOSTILE[:2]:
        texts = ["".join(text.itertext()) for text in root.iter("{http://www.w3.org/2000/svg}text")]
        assert any(drawing.title in text for text in texts)


@NEEDS_DOT
def test_the_source_has_no_warnings() -> None:
    done = subprocess.run(["dot", "-Tsvg"], input=to_dot(a_run()), capture_output=True, text=True, check=True)
    assert done.stderr == ""
