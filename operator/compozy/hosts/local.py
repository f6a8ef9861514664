"""Runs a plan in this process, without a cluster, with the same engine.

Questions are asked one at a time, in the order in which they open. Deadlines of questions do not pass here:
who sits at the terminal is there. Names of agents and other entities cannot be looked up without a cluster,
so any name is taken.
"""

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from compozy.actions import Perform
from compozy.actions.unavailable import refuse
from compozy.engine.advance import advance
from compozy.engine.effects import Call, CancelCall, CancelRequest, OpenRequest
from compozy.engine.events import CallFailed, CallFinished, Event, RequestAnswered, RequestUnanswered
from compozy.engine.results import MAX_DEPTH, result_of, too_deep
from compozy.engine.state import RunState
from compozy.engine.times import parse_timestamp
from compozy.language.compiled import CompiledPlan
from compozy.language.problems import InputsInvalid, PlanInvalid
from compozy.requests.outcome import Answered, Declined, Expired, Outcome

Ask = Callable[[OpenRequest], Outcome]
"""Puts a question to the person at this terminal."""

FindPlan = Callable[[str], CompiledPlan | None]
"""Finds another plan by name. Raises PlanInvalid."""

Sleep = Callable[[datetime], None]
"""Returns when a moment has come."""


def find_none(name: str) -> None:
    """Finds no plan."""


def sleep_never(until: datetime) -> None:
    """For runs in which nothing waits for time."""
    raise RuntimeError(f"nobody here can wait until {until}")


@dataclass(frozen=True)
class Host:
    """What a run in this process can count on."""

    clock: Callable[[], datetime]
    """The time of each turn."""
    ask: Ask | None = None
    """Puts one question to a person; None where nobody can be asked."""
    perform: Perform = refuse
    """Does what steps call for; by default nothing can be called."""
    find_plan: FindPlan = find_none
    sleep: Sleep = sleep_never
    depth: int = 1

    def run(self, plan: CompiledPlan, inputs: Mapping[str, Any]) -> RunState:
        """Run a plan to its end.

        Raises:
            InputsInvalid: the inputs do not fit the plan.
        """
        return _Run(self, plan, inputs).to_its_end()


class _Run:
    def __init__(self, host: Host, plan: CompiledPlan, inputs: Mapping[str, Any]) -> None:
        self._host = host
        self._plan = plan
        self._state = RunState(inputs=plan.resolve_inputs(inputs), attended=host.ask is not None)
        self._questions: deque[OpenRequest] = deque()
        self._calls: deque[Call] = deque()

    def to_its_end(self) -> RunState:
        events: list[Event] = []
        while True:
            result = advance(self._plan, self._state, events, self._host.clock())
            self._state = result.state
            for effect in result.effects:
                self._take(effect)
            if self._state.is_final:
                return self._state
            following = self._next()
            if following is None:
                return self._state
            events = following

    def _take(self, effect: Any) -> None:
        match effect:
            case OpenRequest():
                self._questions.append(effect)
            case Call():
                self._calls.append(effect)
            case CancelRequest():
                self._questions = deque(item for item in self._questions if item.node != effect.node)
            case CancelCall():
                self._calls = deque(item for item in self._calls if item.node != effect.node)

    def _next(self) -> list[Event] | None:
        """What happens next: calls first, then questions, then time; None where nothing ever will."""
        if self._calls:
            call = self._calls.popleft()
            return [self._start(call) if call.kind == "run" else self._host.perform(call)]
        if self._questions and self._host.ask is not None:
            question = self._questions.popleft()
            return [_event(question, self._host.ask(question))]
        if self._state.timers:
            self._host.sleep(parse_timestamp(min(self._state.timers.values())))
            return []
        return None

    def _start(self, call: Call) -> CallFinished | CallFailed:
        """Run another plan, here and now."""
        if self._host.depth >= MAX_DEPTH:
            return too_deep(call)
        try:
            plan = self._host.find_plan(call.name)
            if plan is None:
                return CallFailed(call.node, "plan_unknown", f"there is no plan `{call.name}` here", call.attempt)
            state = replace(self._host, depth=self._host.depth + 1).run(plan, call.input)
        except InputsInvalid as error:
            told = f"the inputs of plan `{call.name}` do not fit: {error}"
            return CallFailed(call.node, "inputs_invalid", told, call.attempt)
        except PlanInvalid as error:
            return CallFailed(call.node, "plan_invalid", f"plan `{call.name}` cannot run: {error}", call.attempt)
        if call.detach:
            return CallFinished(call.node, {"run": call.name}, call.attempt)
        return result_of(call.node, call.attempt, state)


def _event(question: OpenRequest, outcome: Outcome) -> Event:
    match outcome:
        case Answered():
            return RequestAnswered(question.node, outcome.decision, outcome.payload)
        case Declined():
            return RequestUnanswered(question.node, "declined")
        case Expired():
            return RequestUnanswered(question.node, "expired")
    return RequestUnanswered(question.node, "unavailable")
