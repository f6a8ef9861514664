"""What can happen next: every answer to a question, every result of a call."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from compozy.engine.effects import Call, OpenRequest
from compozy.engine.events import CallFailed, CallFinished, Event, RequestAnswered, RequestUnanswered
from compozy.language.values import dump_json
from compozy.plantest.exploring.tracer import ChoiceNeeded, Decision
from compozy.plantest.exploring.unknown import Unknown
from compozy.plantest.exploring.values import Hints, values_for
from compozy.plantest.model import Stub, Stubs
from compozy.plantest.script import name_of

LONGEST_TOLD = 160
"""How many characters of an answer a line for people shows."""

_INDEX = re.compile(r"\.\d+(?=/|$)")
_UNANSWERED = {"decline": "declined", "unavailable": "unavailable", "expire": "expired"}
"""What nobody's answer is called in a file of cases, and by the engine."""


@dataclass(frozen=True, slots=True)
class Option:
    """One way in which a run goes on."""

    event: Event | None = None
    """None at the beginning of a run."""
    decision: Decision | None = None
    choices: Mapping[str, int] = field(default_factory=dict)
    """What is assumed where data is unknown: the number of the way, by place."""
    assumed: tuple[Decision, ...] = ()

    def assuming(self, needed: ChoiceNeeded) -> "list[Option]":
        """This with every way that something unknown can turn out."""
        return [
            replace(
                self,
                choices={**self.choices, needed.label: number},
                assumed=(*self.assumed, Decision(needed.label, f"unknown, taken as {way}", assumed=True)),
            )
            for number, way in enumerate(needed.ways)
        ]


class Options:
    """Finds what can happen next."""

    def __init__(self, hints: Hints, stubs: Mapping[str, Stubs]) -> None:
        self._hints = hints
        self._stubs = stubs
        self._values: dict[str, list[Any]] = {}
        self._known: dict[tuple[str, str], list[Option]] = {}
        self.unanswerable: dict[str, None] = {}
        """The questions for which no answer could be generated."""

    def of(self, effect: OpenRequest | Call) -> list[Option]:
        """Every way to go on, the typical one first."""
        key = (effect.node, effect.name if isinstance(effect, Call) else "")
        if key not in self._known:
            ways = self._results(effect) if isinstance(effect, Call) else self._answers(effect)
            self._known[key] = list(ways)
        return self._known[key]

    def _answers(self, question: OpenRequest) -> Iterator[Option]:
        answers = self._generated(question.node, question.expect)
        if not answers:
            self.unanswerable.setdefault(_INDEX.sub("", question.node))
        for payload in answers:
            event = RequestAnswered(question.node, "respond", payload)
            yield Option(event, Decision(question.node, _shortened(payload), {"payload": payload}))
        for word, reason in _UNANSWERED.items():
            unanswered: Any = RequestUnanswered(question.node, reason)  # type: ignore[arg-type]
            yield Option(unanswered, Decision(question.node, reason, word))

    def _results(self, call: Call) -> Iterator[Option]:
        name = name_of(call)
        if name in self._stubs:
            stubs: list[Stub] = list(self._stubs[name].results)
        else:
            stubs = [Stub(output) for output in self._outputs(call)]
        for stub in stubs:
            failed = stub.error is not None
            event: Event = CallFinished(call.node, stub.output)
            if stub.error is not None:
                event = CallFailed(call.node, f"{call.kind}_failed", stub.error)
            told = f"{name} fails" if failed else f"{name} gives {_shortened(stub.output)}"
            written: Any = {"error": stub.error} if failed else {"output": stub.output}
            yield Option(event, Decision(call.node, told, stub=(name, written)))

    def _outputs(self, call: Call) -> list[Any]:
        match call.kind:
            case "infer":
                return [{"verdict": verdict, "reason": None} for verdict in (True, False)]
            case "agent":
                outputs = self._generated(call.node, call.input["output_schema"])
                finished = [_agent_result(output, 1, final=True) for output in outputs]
                return [*finished, _agent_result({}, call.input["max_iterations"], final=False)]
            case "solver":
                return ["an answer"]
        return [Unknown()]

    def _generated(self, path: str, schema: Mapping[str, Any]) -> list[Any]:
        label = _INDEX.sub("", path)
        if label not in self._values:
            self._values[label] = values_for(schema, self._hints)
        return self._values[label]


def _agent_result(output: Any, iterations: int, *, final: bool) -> dict[str, Any]:
    return {"output": output, "iterations": iterations, "tools_called": [], "final": final}


def _shortened(value: Any) -> str:
    if isinstance(value, Unknown) and not value:
        return "something unknown"
    text = dump_json(value)
    return text if len(text) <= LONGEST_TOLD else text[: LONGEST_TOLD - 1] + "…"
