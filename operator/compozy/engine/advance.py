"""`advance`: the next state of a run, and what is to be done for it."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from compozy.engine.effects import Effect
from compozy.engine.events import Event
from compozy.engine.state import RunState
from compozy.engine.turn import Turn
from compozy.language.compiled import CompiledPlan


@dataclass(frozen=True, slots=True)
class Advance:
    """The next state, and what is to be done for it."""

    state: RunState
    effects: tuple[Effect, ...]
    changed: frozenset[str] = frozenset()
    """The paths of the cells that are not as they were."""


def advance(plan: CompiledPlan, state: RunState, events: Iterable[Event], now: datetime) -> Advance:
    """Take what has happened into account and go on as far as the run can without anybody.

    Events that do not apply (a second answer, an answer to a node that has ended) change nothing. A run
    that has ended never changes. The state that was given is never changed. What only time decides comes
    after what has happened: an answer that is there counts.
    """
    if state.is_final:
        return Advance(state, ())
    turn = Turn(plan, state, now)
    turn.settle()
    for event in events:
        turn.apply(event)
        turn.settle()
    turn.fire_timers()
    return _outcome(turn)


def settled(plan: CompiledPlan, state: RunState, now: datetime) -> Advance:
    """Only enter what is ready: at the start, and after a load, which does not know what the run has called.

    Time decides nothing yet. Whoever can tell what has happened to the calls can look at them first.
    """
    if state.is_final or state.settled:
        return Advance(state, ())
    turn = Turn(plan, state, now)
    turn.settle()
    return _outcome(turn)


def _outcome(turn: Turn) -> Advance:
    return Advance(turn.result(), tuple(turn.effects), frozenset(turn.changed))
