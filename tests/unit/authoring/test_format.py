"""The normal form of plan files, by examples."""

from __future__ import annotations

import pytest

from compozy.language.authoring.format import format_text
from compozy.language.document import parse_document
from compozy.language.problems import PlanInvalid
from support.documents import ROOT, graph_plan, steps_plan
from support.plans import GRAPH, NESTED, STEPS, TWO_QUESTIONS

pytestmark = pytest.mark.unit

CASES = {
    "keys of the grammar in snake_case, those of schemas, defaults and tools as they are": (
        """
inputSchema:
  properties: { inputSchema: { type: string, default: { toolName: x } } }
steps:
  - id: a
    toolName: ask
    input:
      prompt: outputSchema
      outputSchema: { properties: { outputSchema: { type: string, description: whenUnanswered } } }
      whenUnanswered: default
      default: { whenUnanswered: "{{input.toolName}}" }
  - id: b
    toolName: server__tool
    input: { toolName: x, systemPrompt: y }
  - id: c
    toolName: agent
    input: { prompt: p, outputSchema: { maxIterations: 1 }, maxIterations: 3, systemPrompt: s }
  - id: d
    toolName: map
    input:
      over: []
      do:
        - { id: e, toolName: plan__x, input: { toolName: x } }
  - id: f
    toolName: decide
    input: { if: { value: 1, op: eq }, then: { toolName: x__y, input: {} }, else: { toolName: x__y, input: {} } }
solver: { queryToAnswer: q, systemPrompt: s, data: { queryToAnswer: 1 } }
requests: { expireAfter: 72h }
requiresServers: [x]
""",
        """
input_schema:
  properties: { inputSchema: { type: string, default: { toolName: x } } }
steps:
  - id: a
    tool_name: ask
    input:
      prompt: outputSchema
      output_schema: { properties: { outputSchema: { type: string, description: whenUnanswered } } }
      when_unanswered: default
      default: { whenUnanswered: "{{input.toolName}}" }
  - id: b
    tool_name: server__tool
    input: { toolName: x, systemPrompt: y }
  - id: c
    tool_name: agent
    input: { prompt: p, output_schema: { maxIterations: 1 }, max_iterations: 3, system_prompt: s }
  - id: d
    tool_name: map
    input:
      over: []
      do:
        - { id: e, tool_name: plan__x, input: { toolName: x } }
  - id: f
    tool_name: decide
    input: { if: { value: 1, op: eq }, then: { tool_name: x__y, input: {} }, else: { tool_name: x__y, input: {} } }
solver: { query_to_answer: q, system_prompt: s, data: { queryToAnswer: 1 } }
requests: { expire_after: 72h }
requires_servers: [x]
""",
    ),
    "a manifest is spelled as the resource outside of its steps": (
        """
apiVersion: compozy.dev/v1alpha1
kind: Plan
metadata: { name: x }
spec:
  input_schema: {}
  requests: { expire_after: 1h }
  steps:
  - { id: a, toolName: exit, input: { status: success } }
  solver: { queryToAnswer: q }
""",
        """
apiVersion: compozy.dev/v1alpha1
kind: Plan
metadata: { name: x }
spec:
  inputSchema: {}
  requests: { expireAfter: 1h }
  steps:
    - { id: a, tool_name: exit, input: { status: success } }
  solver: { query_to_answer: q }
""",
    ),
    "a key in both spellings is left for its author": (
        "steps:\n- toolName: x\n  tool_name: y\n",
        "steps:\n  - toolName: x\n    tool_name: y\n",
    ),
    "quoted keys stay quoted": (
        "steps: [{ \"toolName\": x, 'input': {} }]\n",
        "steps: [{ \"tool_name\": x, 'input': {} }]\n",
    ),
    "comments go with what they belong to": (
        """# about the plan

name: x   # why
steps:
# about a
-   id: a # first
          # the tool
    tool_name: exit
    input:
       {status: success, # in braces
        # below
        message: x}
    # the end of a
# about b

-   id: b
# inside b
    tool_name: exit
# tail
""",
        """# about the plan

name: x   # why
steps:
  # about a
  - id: a # first
    # the tool
    tool_name: exit
    input:
      {status: success, # in braces
       # below
       message: x}
    # the end of a
  # about b

  - id: b
    # inside b
    tool_name: exit
# tail
""",
    ),
    "scalars of several lines keep their content": (
        """steps:
- id: a
  reasoning: |
     one
       two

     three
  b: |4
        indented
  c: >-
          folded
          text
  d: "quoted
    \\
    text"
  e: plain
   text
  f:
      own line
""",
        """steps:
  - id: a
    reasoning: |
      one
        two

      three
    b: |4
          indented
    c: >-
      folded
      text
    d: "quoted
      \\
      text"
    e: plain
      text
    f:
      own line
""",
    ),
    "values are not read and written again": (
        "name: yes\ndescription: 010\nsteps:\n- 1_000\n- 1e3\n- 2026-01-01\n- ~\n-\n- !!str 5\n",
        "name: yes\ndescription: 010\nsteps:\n  - 1_000\n  - 1e3\n  - 2026-01-01\n  - ~\n  -\n  - !!str 5\n",
    ),
    "anchors and aliases stay": (
        "steps:\n- input: &a\n      x: 1\n- input: *a\n",
        "steps:\n  - input: &a\n      x: 1\n  - input: *a\n",
    ),
    "lists in lists": (
        "steps:\n-   -   - a\n        - b\n    - c\n-\n    x: 1\n",
        "steps:\n  - - - a\n      - b\n    - c\n  -\n    x: 1\n",
    ),
    "a document start, other line ends and a byte order mark": (
        "\ufeff---\r\nname: x\r\nsteps:\r\n- id: a\r\n\r\n\r\n",
        "---\nname: x\nsteps:\n  - id: a\n",
    ),
    "empty lines that a block scalar counts": (
        "\n\nsteps: []\nname: |+\n    x\n\n\n",
        "steps: []\nname: |+\n  x\n\n\n",
    ),
    "JSON stays JSON": (
        '{"steps": [{"toolName": "é", "input": {"x": 1.0}}], "inputSchema": {}}',
        """{
  "steps": [
    {
      "tool_name": "é",
      "input": {
        "x": 1.0
      }
    }
  ],
  "input_schema": {}
}
""",
    ),
}


@pytest.mark.parametrize(("text", "expected"), CASES.values(), ids=CASES)
def test_normal_form(text: str, expected: str) -> None:
    formatted = format_text(text)
    assert formatted == expected.lstrip("\n")
    assert format_text(formatted) == formatted


def test_the_examples_are_in_normal_form() -> None:
    for name in ("release", "deploy"):
        text = (ROOT / "examples" / f"{name}.yaml").read_text("utf-8")
        assert format_text(text) == text


def test_the_printed_plans_say_the_same() -> None:
    for text in (steps_plan(), graph_plan()):
        formatted = format_text(text)
        assert formatted.split() == text.split()
        assert parse_document(formatted).spec == parse_document(text).spec


@pytest.mark.parametrize("text", [STEPS, NESTED, GRAPH, TWO_QUESTIONS])
def test_plans_of_both_dialects_say_the_same(text: str) -> None:
    assert parse_document(format_text(text)).spec == parse_document(text).spec


def test_nothing_below_graph_is_spelled_otherwise() -> None:
    text = "inputSchema: {}\ngraph:\n  nodes:\n    - { id: a, outputSchema: {}, params: { toolName: x } }\n"
    assert format_text(text) == text.replace("inputSchema", "input_schema")


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("steps: [", "yaml_syntax"),
        ("", "yaml_syntax"),
        ("- a\n", "invalid_type"),
        ("name: a\nname: b\n", "yaml_duplicate_key"),
        ("apiVersion: v1\nkind: ConfigMap\ndata: {}\n", "wrong_kind"),
        ("a: 1\n---\nb: 2\n", "yaml_syntax"),
    ],
)
def test_what_is_no_plan_is_not_formatted(text: str, code: str) -> None:
    with pytest.raises(PlanInvalid) as caught:
        format_text(text)
    assert [problem.code for problem in caught.value.problems] == [code]
