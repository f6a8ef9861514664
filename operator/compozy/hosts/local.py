"""Runs a plan in this process, without a cluster, with the same engine.

Questions are asked one at a time, in the order in which they open. Deadlines do not pass here: whoever sits at
the terminal is there. Names of agents and other entities cannot be looked up without a cluster, so any name
is taken.
"""

from collections import deque
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from compozy.actions import Perform
from compozy.actions.unavailable import refuse
from compozy.engine.advance import advance
from compozy.engine.effects import Call, CancelRequest, OpenRequest
from compozy.engine.events import Event, RequestAnswered, RequestUnanswered
from compozy.engine.state import RunState
from compozy.language.compiled import CompiledPlan
from compozy.requests.outcome import Answered, Declined, Expired, Outcome

Ask = Callable[[OpenRequest], Outcome]
"""Puts a question to the person at this terminal."""


def run_locally(
    plan: CompiledPlan,
    inputs: Mapping[str, Any],
    ask: Ask | None,
    clock: Callable[[], datetime],
    perform: Perform = refuse,
) -> RunState:
    """Run a plan to its end.

    Args:
        plan: what to run.
        inputs: values for its inputs.
        ask: puts one question to a person; None where nobody can be asked.
        clock: the time of each turn.
        perform: does what steps call for; by default nothing can be called.

    Raises:
        InputsInvalid: the inputs do not fit the plan.
    """
    state = RunState(inputs=plan.resolve_inputs(inputs), attended=ask is not None)
    events: list[Event] = []
    questions: deque[OpenRequest] = deque()
    calls: deque[Call] = deque()
    while True:
        result = advance(plan, state, events, clock())
        state = result.state
        for effect in result.effects:
            match effect:
                case OpenRequest():
                    questions.append(effect)
                case Call():
                    calls.append(effect)
                case CancelRequest():
                    questions = deque(item for item in questions if item.node != effect.node)
        if state.is_final:
            return state
        if calls:
            events = [perform(calls.popleft())]
        elif questions and ask is not None:
            question = questions.popleft()
            events = [_event(question, ask(question))]
        else:
            return state


def _event(question: OpenRequest, outcome: Outcome) -> Event:
    match outcome:
        case Answered():
            return RequestAnswered(question.node, outcome.decision, outcome.payload)
        case Declined():
            return RequestUnanswered(question.node, "declined")
        case Expired():
            return RequestUnanswered(question.node, "expired")
    return RequestUnanswered(question.node, "unavailable")
