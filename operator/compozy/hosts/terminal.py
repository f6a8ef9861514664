"""The terminal prompt of the ask-steps page: a question walked field by field on stderr, answers read from
stdin.

Stdout is not touched: it carries only what the run delivers. Whatever a plan says is made safe to show
(`compozy.hosts.display`), and an answer is held to its schema before anybody else sees it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from compozy.hosts.dialogue import Dialogue, DialogueEndedError, Streams
from compozy.language.schema import field_errors
from compozy.requests.choices import Choice, Names, names_unknown
from compozy.requests.entities import unknown_name
from compozy.requests.forms import MISSING, FormField, fields, payload_of, with_names
from compozy.requests.outcome import Answered, Declined, Outcome

_EVENTS = ("GRAPH_EVENTS", "COMPOZY_EVENTS")
_CLAIMS_STDERR = "jsonl"

Values = dict[tuple[str, ...], Any]
"""The values of fields, by their paths."""


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
        schema = question.edit_schema if decision == "edit" else question.schema
        return Answered(_filled(schema, Dialogue(streams), question.names), decision)
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


def _filled(schema: Mapping[str, Any], dialogue: Dialogue, names: Names) -> Any:
    """Ask for every field, then again for those that the answer as a whole finds at fault."""
    form = fields(schema)
    if not form:
        return _confirmed(dialogue)
    values: Values = {}
    for entry in form:
        _fill(values, entry, schema, dialogue, names)
    while errors := field_errors(schema, payload_of(values)):
        entry = _at_fault(form, errors)
        dialogue.say(f"{entry.name} {_fault(entry, errors)}")
        # What is missing now is required by what was filled in: leaving it blank again declines.
        _fill(values, replace(entry, required=True), schema, dialogue, names)
    return payload_of(values)


def _fill(values: Values, entry: FormField, schema: Mapping[str, Any], dialogue: Dialogue, names: Names) -> None:
    value = dialogue.fill(with_names(entry, names), _checker(entry, schema, names))
    if value is not MISSING:
        values[entry.path] = value


def _confirmed(dialogue: Dialogue) -> dict[str, Any]:
    """A form without fields is answered by agreeing to it."""
    if not dialogue.fill(FormField(("confirm",), "boolean", "", required=True), _no_fault):
        raise DialogueEndedError(Declined())
    return {}


def _no_fault(_value: Any) -> None:
    return None


def _checker(entry: FormField, schema: Mapping[str, Any], names: Names) -> Callable[[Any], str | None]:
    """Hold one field to the schema at once, and to the names that there are, whatever else is still missing."""

    def fault_of(value: Any) -> str | None:
        alone = payload_of({entry.path: value})
        fault = _fault(entry, field_errors(schema, alone))
        unknown = None if fault else unknown_name(schema, alone, names)
        return _fault(entry, dict([unknown])) if unknown else fault

    return fault_of


def _fault(entry: FormField, errors: Mapping[str, str]) -> str | None:
    """Return what is wrong at the field or below it, or anywhere if the field is the whole answer."""
    for path, message in errors.items():
        if path == entry.name:
            return message
        if not entry.path or path.startswith(f"{entry.name}."):
            return f"{path} {message}"
    return None


def _at_fault(form: list[FormField], errors: Mapping[str, str]) -> FormField:
    """Return the first field that is at fault. A fault that no field can mend declines: nobody can answer."""
    for entry in form:
        if _fault(entry, errors):
            return entry
    raise DialogueEndedError(Declined())
