"""The keys of the steps grammar, as tables: where each may stand and what its value is.

Formatting reads here what to spell in snake_case and what never to touch, renaming finds templates with it, and
the JSON Schema of plans is made of it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Final


class Kind(Enum):
    """What the value of a key is."""

    PLAIN = "plain"
    """Taken as it is: never a template."""
    TEXT = "text"
    """Text that is a template."""
    VALUE = "value"
    """Any value; its strings are templates."""
    SCHEMA = "schema"
    """A JSON Schema: never touched."""
    GATE = "gate"
    """`{value, op, to}`."""
    BODY = "body"
    """One call without an id, or a list of steps."""
    STEPS = "steps"
    """A list of steps."""
    INPUT = "input"
    """The input of a step: its keys depend on the step's tool."""
    SOLVER = "solver"
    """How a model writes the run's answer."""
    REQUESTS = "requests"
    """Defaults for questions."""


@dataclass(frozen=True, slots=True)
class Field:
    """A key of the grammar."""

    kind: Kind
    about: str
    """What the value means, for the person who writes it."""
    required: bool = False


Table = Mapping[str, Field]
"""The keys of one mapping in snake_case, in the order in which they are usually written."""

IDENTITY: Final[Table] = {
    "identifier": Field(Kind.PLAIN, "Name of the plan for machines."),
    "name": Field(Kind.PLAIN, "Name of the plan for people."),
}
"""What only a bare document has: a manifest says it in `metadata`."""

SPEC: Final[Table] = {
    "description": Field(Kind.PLAIN, "What the plan is for."),
    "profile": Field(Kind.PLAIN, "Which of the operator's defaults apply."),
    "exemplars": Field(Kind.PLAIN, "Requests that this plan is the right answer to."),
    "requires_servers": Field(Kind.PLAIN, "The tool servers that the plan needs."),
    "input_schema": Field(Kind.SCHEMA, "JSON Schema of the inputs."),
    "inputs": Field(Kind.PLAIN, "Declared inputs of a graph plan, by name."),
    "requests": Field(Kind.REQUESTS, "Defaults for the questions that this plan asks."),
    "steps": Field(Kind.STEPS, "The steps, which run in this order."),
    "graph": Field(Kind.PLAIN, "The plan as nodes and edges."),
    "output": Field(Kind.VALUE, "Template of the run's output."),
    "solver": Field(Kind.SOLVER, "Lets a model write the run's answer; not beside `output`."),
}

REQUESTS: Final[Table] = {
    "expire_after": Field(Kind.PLAIN, "How long a question stays open where it does not say so, such as 72h."),
}

SOLVER: Final[Table] = {
    "query_to_answer": Field(Kind.TEXT, "The question that the model answers.", required=True),
    "system_prompt": Field(Kind.TEXT, "What the model is told beforehand."),
    "data": Field(Kind.VALUE, "What the model may use, by name."),
}

CALL: Final[Table] = {
    "tool_name": Field(Kind.PLAIN, "A control step, `server__tool`, or `plan__name`.", required=True),
    "reasoning": Field(Kind.PLAIN, "Why the step is there; not used by the run."),
    "input": Field(Kind.INPUT, "What the step works on.", required=True),
}
"""A call without an id: what a body may be instead of a list of steps."""

STEP: Final[Table] = {
    "id": Field(Kind.PLAIN, "Later steps refer to the result by this name.", required=True),
    **CALL,
}

GATE: Final[Table] = {
    "value": Field(Kind.VALUE, "What is judged.", required=True),
    "op": Field(Kind.PLAIN, "How it is judged.", required=True),
    "to": Field(Kind.VALUE, "What it is compared with; null when absent."),
}

OPERATIONS: Final = ("eq", "ne", "gt", "lt", "gte", "lte", "empty", "not_empty", "contains")
"""How a gate may judge."""

_INFER: Final[Table] = {
    "infer": Field(Kind.TEXT, "A question that a model answers with yes or no."),
    "model": Field(Kind.TEXT, "The model that is asked."),
}
_OVER: Final = Field(Kind.VALUE, "The list to go through.", required=True)
_CONCURRENCY: Final = Field(Kind.PLAIN, "How many elements at a time; 1 when absent.")
_DO: Final = Field(Kind.BODY, "What is done for every element.", required=True)

CONTROL: Final[Mapping[str, Table]] = {
    "exit": {
        "when": Field(Kind.GATE, "The run ends here if this holds; always when neither `when` nor `infer`."),
        **_INFER,
        "status": Field(Kind.TEXT, "How the run ends.", required=True),
        "message": Field(Kind.TEXT, "What people are told."),
        "output": Field(Kind.VALUE, "What the run delivers."),
    },
    "agent": {
        "prompt": Field(Kind.TEXT, "The task.", required=True),
        "output_schema": Field(Kind.SCHEMA, "JSON Schema of the result.", required=True),
        "tools": Field(Kind.PLAIN, "Names or globs of the tools it may use; all when absent."),
        "max_iterations": Field(Kind.PLAIN, "Most rounds; 8 when absent."),
        "model": Field(Kind.TEXT, "The model that works."),
        "system_prompt": Field(Kind.TEXT, "What the model is told beforehand."),
    },
    "ask": {
        "prompt": Field(Kind.TEXT, "The question, as a person sees it.", required=True),
        "output_schema": Field(Kind.SCHEMA, "Shape of the answer: a flat object.", required=True),
        "when_unanswered": Field(Kind.PLAIN, "What happens when nobody answers; `fail` when absent."),
        "default": Field(Kind.VALUE, "The answer when nobody gives one."),
    },
    "decide": {
        "if": Field(Kind.GATE, "Which branch is taken."),
        **_INFER,
        "then": Field(Kind.BODY, "What is done if it holds.", required=True),
        "else": Field(Kind.BODY, "What is done if not; nothing when absent."),
    },
    "filter": {
        "over": _OVER,
        "where": Field(Kind.GATE, "Which elements are kept; knows `item` and `index`."),
        **_INFER,
        "concurrency": _CONCURRENCY,
    },
    "map": {"over": _OVER, "concurrency": _CONCURRENCY, "do": _DO},
    "reduce": {
        "over": _OVER,
        "initial": Field(Kind.VALUE, "`accumulator` of the first element; null when absent."),
        "do": _DO,
    },
}
"""The input of each control step."""

TABLES: Final[Mapping[Kind, Table]] = {Kind.GATE: GATE, Kind.SOLVER: SOLVER, Kind.REQUESTS: REQUESTS}
"""The keys of values that are mappings of their own."""
