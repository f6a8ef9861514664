"""Goes on with what steps call for. Nothing can be called yet, so every call fails at once and says why."""

from collections.abc import Iterable
from datetime import datetime

from compozy.actions.unavailable import refuse
from compozy.controllers.runs import RunView
from compozy.engine.advance import Advance, advance
from compozy.engine.effects import Call
from compozy.engine.events import Event


def advance_with_calls(view: RunView, events: Iterable[Event], now: datetime) -> Advance:
    """`advance`, until nothing that was called is left open."""
    result = advance(view.plan, view.state, events, now)
    effects = list(result.effects)
    while not result.state.is_final:
        answers = [refuse(effect) for effect in result.effects if isinstance(effect, Call)]
        if not answers:
            break
        result = advance(view.plan, result.state, answers, now)
        effects += result.effects
    return Advance(result.state, tuple(effects))
