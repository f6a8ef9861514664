"""A plan with comments everywhere, for tests of edits, and what an edit changes in it."""

from __future__ import annotations

from difflib import unified_diff

from compozy.language.authoring.edits import Edited

PLAN = """\
# About the plan.
name: x

steps:
  # Ask first.
  - id: E0   # the question
    tool_name: ask
    input:
      prompt: "Which for {{input.version}}?"   # shown
      output_schema:
        type: object
        properties:
          channel: { enum: [stable, beta], description: "{{E0}} is no template here" }
      when_unanswered: default
      # used in CI
      default: { channel: beta }
      # the end of the question

  # Then the gate.
  - id: E1
    tool_name: exit
    reasoning: E0 and {{E0}} are plain text here
    input:
      when: { value: "{{E0.answered}}", op: eq, to: false }
      status: success
      message: |
        E0 said {{ E0.answer.channel }}
        {{#E0.answer}}{{channel}}{{E0.reason}}{{^E0.reason}}none{{/E0.reason}}{{/E0.answer}}

  - id: E2
    tool_name: map
    input:
      over: "{{E0.list}}"
      do:
        - id: B0
          tool_name: server__tool
          input: { E0: "{{item.E0}}", toolName: "{{E0.answer.channel}}" }
        - id: B1
          tool_name: server__tool
          input: { a: "{{B0.x}}", b: "{{ B0 }}" }
output:
  E0: "{{E0.answer.channel}}"
# The end.
"""

GRAPH = """\
graph:
  nodes:
    - { id: a, class: control, kind: ask, params: { prompt: A?, expect: { x: string } } }
    # the end
    - id: b
      class: action
      kind: transform
      params:
        map:
          x: { from: nodes.a.output.x }
  edges: [{ from: a, to: b }]
"""


def changes(before: str, edited: Edited) -> list[str]:
    """The lines that went and came."""
    lines = unified_diff(before.splitlines(), edited.text.splitlines(), lineterm="", n=0)
    return [line for line in lines if not line.startswith(("---", "+++", "@@"))]
