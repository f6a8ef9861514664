"""What can happen next: every answer to a question, every result of a call, or nothing but that time passes."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from compozy.engine.effects import Call, OpenRequest
from compozy.engine.events import CallFailed, CallFinished, Event, RequestAnswered, RequestUnanswered
from compozy.engine.proposals import strict_schema
from compozy.language.compiled import CompiledPlan
from compozy.language.field_order import ORDER
from compozy.language.values import dump_json
from compozy.plantest.compare import place_of
from compozy.plantest.exploring.labels import label_of
from compozy.plantest.exploring.results import Results
from compozy.plantest.exploring.tracer import ChoiceNeeded, Decision
from compozy.plantest.exploring.unknown import Unknown, holds_unknown
from compozy.plantest.exploring.values import Hints, few_values_for, values_for
from compozy.plantest.model import Stub, Stubs
from compozy.plantest.script import name_of

LONGEST_TOLD = 160
"""How many characters of an answer a line for people shows."""

_UNANSWERED = {"decline": "declined", "unavailable": "unavailable", "expire": "expired"}
"""What nobody's answer is called in a file of cases, and by the engine."""


@dataclass(frozen=True, slots=True)
class Option:
    """One way in which a run goes on."""

    event: Event | None = None
    """None at the beginning of a run, and where time passes."""
    decision: Decision | None = None
    choices: Mapping[str, int] = field(default_factory=dict)
    """What is assumed where data is unknown: the number of the way, by place."""
    assumed: tuple[Decision, ...] = ()
    now: datetime | None = None
    """The time that has come; None where it is still the same."""
    number: int = 0
    """Which of the ways it is that there are."""

    def assuming(self, needed: ChoiceNeeded, ways: list[int]) -> "list[Option]":
        """This with every one of these ways that something unknown can turn out."""
        return [
            replace(
                self,
                choices={**self.choices, needed.label: number},
                assumed=(
                    *self.assumed,
                    Decision(needed.label, f"unknown, taken as {needed.ways[number]}", assumed=True),
                ),
            )
            for number in ways
        ]


class Options:
    """Finds what can happen next."""

    def __init__(self, plan: CompiledPlan, hints: Hints, stubs: Mapping[str, Stubs]) -> None:
        self._plan = plan
        self._hints = hints
        self._stubs = stubs
        self._results = Results(plan, self._generated)
        self._values: dict[str, list[Any]] = {}
        self._known: dict[tuple[str, str], list[Option]] = {}
        self.unanswerable: dict[str, None] = {}
        """The questions and calls for which no answer could be generated."""

    def of(self, effect: OpenRequest | Call) -> list[Option]:
        """Every way to go on, the typical one first."""
        key = (effect.node, _variant(effect))
        if key not in self._known:
            ways = self._calls(effect) if isinstance(effect, Call) else self._answers(effect)
            self._known[key] = [replace(option, number=number) for number, option in enumerate(ways)]
        return self._known[key]

    def passing(self, node: str, until: datetime) -> Option:
        """Nothing can happen but that time passes, until the node goes on by itself."""
        return Option(None, Decision(place_of(self._plan, node), "its time has come"), now=until)

    def _answers(self, question: OpenRequest) -> Iterator[Option]:
        if question.kind == "Review":
            yield from self._decisions(question)
            unanswered = {"expire": "expired"}
        else:
            for payload in self._generated(question.node, question.expect):
                yield self._answered(question, "respond", {"payload": payload}, _shortened(payload))
            unanswered = _UNANSWERED
        for word, reason in unanswered.items():
            event: Any = RequestUnanswered(question.node, reason)  # type: ignore[arg-type]
            yield Option(event, Decision(self._name(question), reason, word))

    def _decisions(self, question: OpenRequest) -> Iterator[Option]:
        for decision in question.decisions:
            match decision:
                case "edit":
                    payloads = self._replacements(question)
                case "respond":
                    payloads = self._generated(question.node, question.respond_schema or {})
                case _:
                    yield self._answered(question, decision, {"decision": decision}, decision)
                    continue
            for payload in payloads:
                told = f"{decision} {_shortened(payload)}"
                yield self._answered(question, decision, {"decision": decision, "payload": payload}, told)

    def _answered(self, question: OpenRequest, decision: str, answer: dict[str, Any], told: str) -> Option:
        event = RequestAnswered(question.node, decision, answer.get("payload"))
        return Option(event, Decision(self._name(question), told, answer))

    def _replacements(self, question: OpenRequest) -> list[Any]:
        """The parameters that are proposed, and others that may be put in their place."""
        proposal, schema = question.proposal, question.edit_schema or {}
        shape = {key: value for key, value in schema.items() if key != ORDER}
        if holds_unknown(proposal) and shape == strict_schema(proposal):
            # Nobody knows what these look like, so neither does the schema that follows from them.
            return [proposal]
        return [proposal, *(value for value in few_values_for(schema, self._hints) if value != proposal)]

    def _name(self, effect: OpenRequest | Call) -> str:
        return place_of(self._plan, effect.node)

    def _calls(self, call: Call) -> Iterator[Option]:
        name = name_of(call)
        if name in self._stubs:
            stubs = list(self._stubs[name].results)
        else:
            stubs = [Stub(output) for output in self._results.outputs(call)]
            stubs += [Stub(error=message, code=code) for code, message in self._results.failures(call)]
        for stub in stubs:
            if stub.error is None:
                event: Event = CallFinished(call.node, stub.output)
                told, written = f"{name} gives {_shortened(stub.output)}", {"output": stub.output}
            else:
                code = stub.code or f"{call.kind}_failed"
                event = CallFailed(call.node, code, stub.error)
                told, written = f"{name} fails [{code}]", {"error": stub.error, "code": code}
            yield Option(event, Decision(self._name(call), told, stub=(name, written)))

    def _generated(self, path: str, schema: Mapping[str, Any]) -> list[Any]:
        label = label_of(self._plan, path)
        if label not in self._values:
            self._values[label] = values_for(schema, self._hints)
            if not self._values[label]:
                self.unanswerable.setdefault(label)
        return self._values[label]


def _variant(effect: OpenRequest | Call) -> str:
    """What tells effects of the same node apart, as far as what can follow is concerned."""
    if isinstance(effect, Call):
        return effect.name
    return repr(effect.proposal) if effect.kind == "Review" else ""


def _shortened(value: Any) -> str:
    if isinstance(value, Unknown) and not value:
        return "something unknown"
    text = dump_json(value)
    return text if len(text) <= LONGEST_TOLD else text[: LONGEST_TOLD - 1] + "…"
