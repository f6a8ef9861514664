"""The author's order of fields is written down in what becomes a form, and nowhere in the author's data."""

import pytest

from compozy.language.document import parse_document
from compozy.language.field_order import ORDER
from support import plans

pytestmark = pytest.mark.unit

SCHEMA = "{ type: object, properties: { z: { type: string }, a: { type: string } } }"
PLAN = f"""
input_schema: {SCHEMA}
steps:
  - id: E0
    tool_name: ask
    input: {{ prompt: x, outputSchema: {SCHEMA}, default: {{ expect: {SCHEMA} }} }}
  - id: E1
    tool_name: server__create
    input: {{ output_schema: {SCHEMA}, expect: {SCHEMA} }}
  - id: E2
    tool_name: decide
    input:
      if: {{ value: 1, op: eq, to: 1 }}
      then: {{ tool_name: ask, input: {{ prompt: x, output_schema: {SCHEMA} }} }}
      else: [{{ id: B, tool_name: agent, input: {{ prompt: x, output_schema: {SCHEMA} }} }}]
"""


def test_steps():
    spec = plans.spec(PLAN)
    asks, tool, decides = (step["input"] for step in spec["steps"])
    assert spec["inputSchema"][ORDER] == ["z", "a"]
    assert asks["outputSchema"][ORDER] == ["z", "a"]
    assert decides["then"]["input"]["output_schema"][ORDER] == ["z", "a"]
    assert decides["else"][0]["input"]["output_schema"][ORDER] == ["z", "a"]
    assert ORDER not in str(asks["default"]) + str(tool)


def test_graphs():
    nodes = [
        f"{{ id: a, class: control, kind: ask, params: {{ expect: {SCHEMA}, context: {{ expect: {SCHEMA} }} }} }}",
        f"{{ id: b, class: action, kind: transform, params: {{ expect: {SCHEMA} }} }}",
    ]
    asks, transforms = plans.spec(f"graph: {{ nodes: [{', '.join(nodes)}] }}")["graph"]["nodes"]
    assert asks["params"]["expect"][ORDER] == ["z", "a"]
    assert ORDER not in str(asks["params"]["context"]) + str(transforms)


SHORT = "{ z: string, a: { y: string, b: string } }"
GRAPH = f"""
graph:
  nodes:
    - {{ id: a, class: control, kind: ask, params: {{ prompt: x, expect: {SHORT} }} }}
    - {{ id: b, class: action, kind: x__y, review: {{}}, produces: {SCHEMA}, params: {{ expect: {SCHEMA} }} }}
    - {{ id: c, class: action, kind: run-agent, review: {{}}, params: {{ agent: x, output_schema: {SCHEMA} }} }}
    - {{ id: d, class: action, kind: x__y, produces: {SCHEMA} }}
    - id: e
      class: control
      kind: sub-loop
      body: {{ nodes: [{{ id: f, class: control, kind: ask, params: {{ prompt: x, expect: {SCHEMA} }} }}] }}
    - {{ id: g, class: control, kind: ask, params: {{ prompt: x, expect: {{ a: string, z: string }} }} }}
    - {{ id: h, class: control, kind: ask, params: {{ prompt: x, expect: {{ a: {{ y: string, b: string }} }} }} }}
"""


def test_whatever_of_a_graph_becomes_a_form():
    asks, reviewed, agent, plain, loop, in_order, nested = plans.spec(GRAPH)["graph"]["nodes"]
    assert asks["params"]["expect"][ORDER] == ["z", "a"]
    assert asks["params"]["expect"]["required"] == ["z", "a"]
    assert asks["params"]["expect"]["properties"]["a"][ORDER] == ["y", "b"]
    assert reviewed["produces"][ORDER] == ["z", "a"]
    assert agent["params"]["output_schema"][ORDER] == ["z", "a"]
    assert loop["body"]["nodes"][0]["params"]["expect"][ORDER] == ["z", "a"]
    assert ORDER not in str(reviewed["params"]) + str(plain)
    assert nested["params"]["expect"]["properties"]["a"][ORDER] == ["y", "b"]
    assert in_order["params"]["expect"] == {"a": "string", "z": "string"}


@pytest.mark.parametrize(
    "text", ["steps: 1", "steps: [1, {input: 2}]", "graph: 1", "graph: {nodes: [1, {kind: ask}]}"]
)
def test_what_is_no_plan_stays_as_it_is(text):
    assert ORDER not in str(plans.spec(text))


def test_the_defaults_of_questions_are_spelled_as_the_resource_spells_them():
    text = (
        "requests: { expire_after: 1h }\ngraph: { nodes: [{ id: a, class: source, kind: input, input_ref: x }] }\n"
    )
    assert parse_document(text).spec["requests"] == {"expireAfter": "1h"}
