"""Plans of the published shapes, in words of our own, for tests."""

from typing import Any

from compozy.language.document import parse_document

ASK = "graph: { nodes: [{ id: a, class: control, kind: ask, params: { prompt: A?, expect: { x: string } } }] }"
"""One question."""


def reviewed(review: str) -> str:
    """A graph of one action over which people decide as `review` says, in YAML on one line."""
    return f"""
graph:
  nodes:
    - id: ship
      class: action
      kind: transform
      params: {{ map: {{ shipped: {{ value: true }} }} }}
      review: {review}
"""


STEPS = """
steps:
  - id: E0
    tool_name: ask
    input:
      prompt: "Which channel for {{input.version}}?"
      output_schema:
        type: object
        required: [channel, confirm]
        properties:
          channel: { enum: [stable, beta, nightly], description: Release channel }
          confirm: { type: boolean, description: Really? }
      when_unanswered: default
      default: { channel: "{{input.fallback}}", confirm: false }
  - id: E1
    tool_name: exit
    input:
      when: { value: "{{E0.answered}}", op: eq, to: false }
      status: success
      message: nobody answered
output:
  channel: "{{E0.answer.channel}}"
"""
STEPS_INPUTS = {"version": "1.4.0", "fallback": "beta"}
STEPS_ANSWER = {"channel": "nightly", "confirm": True}

STEPS_FAIL = STEPS.replace("      when_unanswered: default\n", "").replace(
    '      default: { channel: "{{input.fallback}}", confirm: false }\n', ""
)

GRAPH = """
graph:
  nodes:
    - id: choose
      class: control
      kind: ask
      params:
        prompt: "Where should {{ .inputs.release }} go?"
        context: { release: "{{ .inputs.release }}", candidates: [staging, production] }
        expect:
          type: object
          required: [environment, assignment]
          properties:
            environment: { type: string, enum: [staging, production] }
            assignment:
              type: object
              required: [reviewer]
              properties:
                reviewer: { type: string, x-compozy-kind: agent }
        responders: { agents: deny }
        expires: { after: 72h, route: decide }
    - id: decide
      class: control
      kind: route
      routes:
        - { when: nodes.choose.output != null, to: deploy }
      default: too_late
    - id: deploy
      class: action
      kind: transform
      params:
        map:
          environment: { template: "{{ .nodes.choose.output.environment }}" }
    - id: too_late
      class: action
      kind: transform
      params: { map: { expired: { value: true } } }
  edges:
    - { from: choose, to: decide }
    - { from: decide, to: deploy }
    - { from: decide, to: too_late }
"""
GRAPH_INPUTS = {"release": "v1.4.0"}
GRAPH_ANSWER = {"environment": "staging", "assignment": {"reviewer": "rita"}}

TWO_QUESTIONS = """
graph:
  nodes:
    - { id: a, class: control, kind: ask, params: { prompt: A?, expect: { x: string } } }
    - { id: b, class: control, kind: ask, params: { prompt: B?, expect: { x: string } } }
    - { id: c, class: control, kind: ask, params: { prompt: "C {{ .nodes.a.output.x }}?", expect: { x: string } } }
    - id: end
      class: action
      kind: transform
      params:
        map: { a: { from: nodes.a.output.x }, b: { from: nodes.b.output.x }, c: { from: nodes.c.output.x } }
  edges: [{ from: a, to: c }, { from: b, to: end }, { from: c, to: end }]
"""

NESTED = """
steps:
  - id: E0
    tool_name: map
    input:
      over: "{{input.names}}"
      concurrency: 2
      do:
        - id: B0
          tool_name: ask
          input:
            prompt: "Keep {{item}}?"
            output_schema: { type: object, properties: { x: { type: string } } }
            when_unanswered: default
            default: { x: "{{item}}" }
        - id: B1
          tool_name: filter
          input: { over: ["{{B0.answer.x}}"], where: { value: "{{item}}", op: ne, to: b } }
  - id: E1
    tool_name: decide
    input:
      if: { value: "{{E0.count}}", op: gt, to: 1 }
      then:
        tool_name: ask
        input: { prompt: "Sure?", output_schema: { properties: { x: { type: string } } } }
      else: { tool_name: filter, input: { over: [1], where: { value: "{{item}}", op: eq, to: 1 } } }
  - id: E2
    tool_name: reduce
    input:
      over: "{{E0.results}}"
      initial: 0
      do:
        tool_name: ask
        input: { prompt: "After {{accumulator}}?", output_schema: { properties: { x: { type: string } } } }
output: { count: "{{E2.count}}" }
"""
NESTED_INPUTS = {"names": ["a", "b", "c"]}
NESTED_ASKS = [
    *(f"E0/do.{index}/B0" for index in range(3)),
    "E1/then",
    *(f"E2/do.{index}" for index in range(3)),
]


def spec(text: str) -> dict[str, Any]:
    """The spec of a plan text."""
    return parse_document(text).spec
