"""Documents that mean harm: refused with a problem of ours, in bounded time and memory, never with a crash."""

import datetime
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compozy.language.compile import compile_plan
from compozy.language.document import parse_document
from compozy.language.errors import format_path
from compozy.language.problems import PlanInvalid, Problem
from compozy.language.yaml_text import MAX_BYTES
from support import plans
from support.graphs import ENVELOPE, EXAMPLES, places_in, with_value

pytestmark = pytest.mark.unit

KEYS = st.sampled_from(
    [
        *(
            "steps",
            "graph",
            "nodes",
            "edges",
            "id",
            "kind",
            "class",
            "params",
            "tool_name",
            "input",
            "prompt",
            "if",
        ),
        *(
            "output_schema",
            "properties",
            "type",
            "over",
            "do",
            "then",
            "else",
            "where",
            "when",
            "value",
            "op",
            "to",
        ),
        *(
            "map",
            "template",
            "expect",
            "routes",
            "default",
            "status",
            "output",
            "solver",
            "inputs",
            "input_schema",
        ),
        *("apiVersion", "metadata", "spec", "enum", "required", "concurrency", "initial", "expires", "after"),
    ]
)
WORDS = st.sampled_from(
    [
        *("ask", "exit", "map", "reduce", "decide", "filter", "agent", "plan__x", "a__b", "route", "transform"),
        *(
            "control",
            "action",
            "object",
            "string",
            "E0",
            "E1",
            "{{E0.x}}",
            "{{item}}",
            "{{ .inputs.a }}",
            "{{",
            "72h",
        ),
        *("nodes.a.output != null", "success", "fail", "default", "eq", "gt", "", "\u202e", "x" * 300),
    ]
)
SCALARS = st.one_of(
    WORDS, st.integers(), st.floats(allow_nan=False), st.booleans(), st.none(), st.text(max_size=8)
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(KEYS, inner, max_size=5)),
    max_leaves=30,
)


def load(text):
    """Whatever the text is: a compiled plan, or problems that each have a code and a message."""
    try:
        document = parse_document(text)
        return compile_plan(document.spec)
    except PlanInvalid as invalid:
        assert invalid.problems
        assert all(problem.code and problem.message for problem in invalid.problems)
        return invalid


@given(st.text(max_size=400))
def test_any_text(text):
    load(text)


@given(st.binary(max_size=300))
def test_any_bytes(data):
    load(data.decode("latin-1"))


@given(VALUES)
def test_any_value(value):
    load(json.dumps(value))


@given(st.dictionaries(KEYS, VALUES, min_size=1, max_size=4))
def test_anything_that_looks_like_steps(given_input):
    for tool in ("ask", "exit", "decide", "filter", "map", "reduce", "agent", "a__b"):
        load(json.dumps({"steps": [{"id": "E0", "tool_name": tool, "input": given_input}]}))


@given(st.dictionaries(KEYS, VALUES, max_size=5), st.dictionaries(KEYS, VALUES, max_size=4))
def test_anything_that_looks_like_a_graph(node, params):
    for kind, node_class in (("ask", "control"), ("route", "control"), ("transform", "action")):
        nodes = [{**node, "id": "a", "class": node_class, "kind": kind, "params": params}]
        load(json.dumps({"graph": {"nodes": nodes, "edges": []}}))


@given(st.integers(0, len(plans.STEPS) - 1), st.text(max_size=3))
def test_a_good_plan_with_something_in_it(position, noise):
    load(plans.STEPS[:position] + noise + plans.STEPS[position + 1 :])


BOMB = "a: &a [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{chr(98 + level)}: &{chr(98 + level)} [{', '.join([f'*{chr(97 + level)}'] * 10)}]\n" for level in range(9)
)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (BOMB, "yaml_too_large"),
        ("[" * 200 + "]" * 200, "yaml_too_large"),
        # The YAML library itself gives up on deeper ones.
        ("[" * 50_000, "yaml_syntax"),
        ("{a: " * 200 + "1" + "}" * 200, "yaml_too_large"),
        ("- " * 300 + "a", "yaml_too_large"),
        ("steps: " + "x" * MAX_BYTES, "yaml_too_large"),
        ("a: &a {b: *a}", "yaml_too_large"),
        ("steps: [!!python/object:os.system {}]", "yaml_unsupported"),
        ("a: .inf", "yaml_unsupported"),
        ("a: 1\na: 2", "yaml_duplicate_key"),
        ("base: &b {x: 1}\nsteps: {<<: *b}", "yaml_unsupported"),
        ("? [a, b]\n: c", "yaml_unsupported"),
        ("", "yaml_syntax"),
        ("a: [", "yaml_syntax"),
        ("a: 1\n---\nb: 2", "yaml_syntax"),
        ("\x00", "yaml_syntax"),
    ],
)
def test_hostile_documents_are_refused(text, code):
    found = load(text)
    assert isinstance(found, PlanInvalid)
    assert found.problems[0].code == code


@pytest.mark.parametrize("key", ["a]", "a.", "[", "..", "a[b]", "]]", "x[1]]", "\\"])
def test_odd_keys_are_refused_and_placed(key):
    with pytest.raises(PlanInvalid) as caught:
        parse_document(f"steps: []\n{json.dumps(key)}: 1\n")
    [problem] = caught.value.problems
    assert (problem.code, problem.line) == ("unknown_key", 2)


@pytest.mark.parametrize(
    "text", ["", "[]", "steps: []\ngraph: {}", "description: x", "a: [", "\x00", "x: !y 1", "~"]
)
def test_every_problem_has_a_line_and_a_column(text):
    document = None
    with pytest.raises(PlanInvalid) as caught:
        document = parse_document(text)
        compile_plan(document.spec)
    problems = caught.value.problems
    for problem in document.with_positions(problems) if document is not None else problems:
        assert problem.line is not None
        assert problem.column is not None


@given(st.text(max_size=12))
def test_any_place_is_found_in_bounded_time(path):
    document = parse_document("steps: []\n")
    assert len(document.with_positions([Problem(path, "x", "y")])) == 1


def test_problems_carry_the_line_and_column_of_what_is_wrong():
    text = plans.STEPS.replace("op: eq", "op: sort-of").lstrip("\n")
    document = parse_document(text)
    with pytest.raises(PlanInvalid) as caught:
        compile_plan(document.spec)
    [problem] = document.with_positions(caught.value.problems)
    line = text.splitlines()[problem.line - 1]
    assert "sort-of" in line
    assert problem.path.startswith("steps[1].input.when")


def nested(depth, of):
    value = "x"
    for _ in range(depth):
        value = of(value)
    return value


MONSTERS = {
    "lists": nested(3000, lambda inner: [inner]),
    "objects": nested(3000, lambda inner: {"a": inner}),
    "keywords": nested(3000, lambda inner: {"value": [inner], "then": "x"}),
    "a huge integer": 10**5000,
    "a huge negative integer": -(10**5000),
    "a list with a huge integer": [1, 10**5000],
    "an infinite number": float("inf"),
    "half a character": "\ud800",
    "a date": datetime.date(2026, 1, 1),
}
NODES = {kind: [{**example, **ENVELOPE}] for kind, example in EXAMPLES.items()}
EVERY_TOOL = """
steps:
  - { id: E0, tool_name: ask, if: { value: "{{input.x}}", op: eq, to: [1] },
      input: { prompt: p, context: { a: 1 }, output_schema: { type: object, properties: { x: { enum: [1] } } },
               when_unanswered: default, default: { x: 1 } } }
  - { id: E1, tool_name: map, input: { over: [1], concurrency: 2,
      do: [{ id: B0, tool_name: a__b, input: { x: [1] } }] } }
  - { id: E2, tool_name: reduce, input: { over: "{{E1}}", initial: [1],
      do: [{ id: B1, tool_name: a__b, input: {} }] } }
  - { id: E3, tool_name: filter, input: { over: [1], where: { value: "{{item}}", op: in, to: [1] } } }
  - { id: E4, tool_name: decide, input: { when: { value: 1, op: gt, to: 0 },
      then: [{ id: B2, tool_name: exit, input: { status: fail, message: m } }],
      else: [{ id: B3, tool_name: agent, input: { prompt: p, output_schema: { type: object } } }] } }
  - { id: E5, tool_name: exit, input: { when: { value: 1, op: eq, to: [1] }, status: success, message: m,
      output: { a: 1 } } }
solver: { x: 1 }
"""
SPECS = {
    "steps": plans.spec(plans.STEPS) | {"inputSchema": {"type": "object"}, "requests": {"expireAfter": "1h"}},
    "graph": plans.spec(plans.GRAPH) | {"profile": "watch", "inputs": {"release": {"type": "string"}}},
    **{f"a graph with {kind}": {"graph": {"nodes": nodes, "edges": []}} for kind, nodes in NODES.items()},
    "every tool": plans.spec(EVERY_TOOL),
}


@pytest.mark.parametrize("monster", MONSTERS)
@pytest.mark.parametrize("name", SPECS)
def test_a_monster_in_any_place_is_refused(name, monster):
    for path in places_in(SPECS[name]):
        with pytest.raises(PlanInvalid) as caught:
            compile_plan(with_value(SPECS[name], path, MONSTERS[monster]))
        for problem in caught.value.problems:
            assert len(problem.message) < 1000, path
            assert problem.code == "invalid_value"
            assert problem.path.startswith(format_path(path)) or format_path(path).startswith(problem.path), path


@pytest.mark.parametrize("monster", MONSTERS)
def test_a_monster_in_a_called_plan_is_refused(monster):
    calling = {"steps": [{"id": "E0", "tool_name": "plan__other", "input": {}}]}
    called = plans.spec(plans.STEPS) | {"output": {"x": MONSTERS[monster]}}
    with pytest.raises(PlanInvalid) as caught:
        compile_plan(calling, lambda _name: called)
    [problem] = caught.value.problems
    assert problem.code == "invalid_value"
    assert problem.path.startswith("plan__other.output.x")


HUGE = "9" * 5000


@pytest.mark.parametrize(
    ("number", "code"),
    [
        (HUGE, "yaml_unsupported"),
        (f"-{HUGE}", "yaml_unsupported"),
        (f"0x{HUGE}", "yaml_unsupported"),
        (f"0b{'1' * 5000}", "yaml_unsupported"),
        ("0" + "7" * 5000, "yaml_unsupported"),
        (f"{HUGE}.5", "yaml_unsupported"),
        ("1e400", "yaml_unsupported"),
        ("-1.5e+999", "yaml_unsupported"),
        (str(2**63), "yaml_unsupported"),
        ("!!int 9999999999999999999", "yaml_unsupported"),
        ("!!int x", "yaml_syntax"),
        ("!!float x", "yaml_syntax"),
        ("!!bool x", "yaml_syntax"),
        ("!!int ''", "yaml_syntax"),
        ("!!float ''", "yaml_syntax"),
    ],
)
def test_a_number_that_does_not_fit_is_refused_where_it_stands(number, code):
    with pytest.raises(PlanInvalid) as caught:
        parse_document(f"steps:\n  - id: E0\n    input: {number}\n")
    [problem] = caught.value.problems
    assert (problem.code, problem.path, problem.line) == (code, "steps[0].input", 3)
    assert "Exceeds" not in problem.message


@pytest.mark.parametrize("text", ["12:30:45", "190:20:30", "1:1" + ":59" * 100_000, "12:30:45.5"])
def test_a_time_of_day_stays_text_as_kubernetes_reads_it(text):
    assert parse_document(f"steps: [{{input: {text}}}]").spec["steps"][0]["input"] == text
