"""The terminal prompt of the ask-steps page: a question walked field by field on stderr, answers read from
stdin.

Stdout is not touched: it carries only what the run delivers. Whatever a plan says is made safe to show
(`compozy.hosts.display`), and an answer is held to its schema before anybody else sees it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from compozy.hosts.dialogue import Dialogue, DialogueEndedError, Streams
from compozy.hosts.filling import Filling
from compozy.requests.choices import Choice, Names, names_unknown
from compozy.requests.forms import FormField, fields
from compozy.requests.outcome import Answered, Declined, Outcome
from compozy.requests.proposed import Proposed

_EVENTS = ("GRAPH_EVENTS", "COMPOZY_EVENTS")
_CLAIMS_STDERR = "jsonl"


class Stream(Protocol):
    """An end of this process that may be a terminal."""

    def isatty(self) -> bool:
        """Return whether this is a terminal."""


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked."""

    prompt: str
    path: str
    """Where the question stands in its plan, such as `E0`."""
    schema: Mapping[str, Any]
    """JSON Schema of the answer, usable (`compozy.language.schema.check_schema` finds nothing)."""
    decisions: tuple[str, ...] = ("respond",)
    """What can be decided. Where that is more than to respond or to decline, it is asked first."""
    edit_schema: Mapping[str, Any] = field(default_factory=dict)
    """JSON Schema of the replacement parameters of an `edit`."""
    proposed: Proposed | None = None
    """What an `edit` starts from."""
    context: Any = None
    """What a person should know: a question's context, or the action that a review is about."""
    names: Names = names_unknown
    """What there is to be named, where a field takes the name of something."""


def can_ask(stdin: Stream, stderr: Stream, environ: Mapping[str, str]) -> bool:
    """Return whether a person can be asked: both streams are terminals, and no events have claimed stderr."""
    claimed = any(environ.get(name) == _CLAIMS_STDERR for name in _EVENTS)
    return stdin.isatty() and stderr.isatty() and not claimed


def ask(question: Question, streams: Streams) -> Outcome:
    """Put the question to the person at the terminal and return what they decided.

    A blank line on a required field without a default declines at once, as does a fourth line that does not
    fit. At the end of input nobody is there: `Unavailable`. An answer conforms to the schema. Raises
    `SchemaInvalid`.
    """
    dialogue = Dialogue(streams)
    dialogue.present(question.prompt, question.path, question.context)
    try:
        decision = _decision(question, dialogue)
        if decision not in ("respond", "edit"):
            return Answered(None, decision)
        schema, proposed = question.schema, None
        if decision == "edit":
            schema, proposed = question.edit_schema, question.proposed
        form = fields(schema) if proposed is None else proposed.start(schema)
        return Answered(_filled(schema, form, Dialogue(streams), question.names), decision)
    except DialogueEndedError as ended:
        return ended.outcome


def _decision(question: Question, dialogue: Dialogue) -> str:
    offered = [decision for decision in question.decisions if decision not in ("decline", "unavailable")]
    if offered == ["respond"]:
        return "respond"
    choices = tuple(Choice(decision) for decision in offered)
    asked = FormField(("decision",), "enum", "", required=True, choices=choices)
    decision: str = dialogue.fill(asked, _no_fault)
    return decision


def _filled(schema: Mapping[str, Any], form: Sequence[FormField], dialogue: Dialogue, names: Names) -> Any:
    """Ask for every field, then again for those that the answer as a whole finds at fault."""
    return Filling(schema, form, dialogue, names).payload() if form else _confirmed(dialogue)


def _confirmed(dialogue: Dialogue) -> dict[str, Any]:
    """A form without fields is answered by agreeing to it."""
    if not dialogue.fill(FormField(("confirm",), "boolean", "", required=True), _no_fault):
        raise DialogueEndedError(Declined())
    return {}


def _no_fault(_value: Any) -> None:
    return None
