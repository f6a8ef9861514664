"""Goes on with what nodes call for: what cannot be called fails at once and says why."""

from collections.abc import Awaitable, Callable, Iterable
from datetime import datetime

from compozy.actions.unavailable import refuse
from compozy.controllers.runs import RunView
from compozy.engine.advance import Advance, advance
from compozy.engine.effects import Call, Effect
from compozy.engine.events import CallFailed, Event

Refused = Callable[[RunView, Call], Awaitable[CallFailed | None]]
"""Why another run cannot be started; None where it can."""


async def advance_with_calls(
    view: RunView, begun: Advance, events: Iterable[Event], now: datetime, refused: Refused
) -> Advance:
    """`advance` after `begun`, until no call is left open but those of other runs that can be started."""
    result = advance(view.plan, begun.state, events, now)
    effects, changed = [*begun.effects, *result.effects], begun.changed | result.changed
    latest = tuple(effects)
    while not result.state.is_final:
        # A revision leaves behind what was called before it.
        current = [effect for effect in latest if effect.generation == result.state.generation]
        failures = [await _failure(view, effect, refused) for effect in current]
        answers = [failure for failure in failures if failure is not None]
        if not answers:
            break
        result = advance(view.plan, result.state, answers, now)
        latest = result.effects
        effects += latest
        changed |= result.changed
    return Advance(result.state, tuple(effects), changed)


async def _failure(view: RunView, effect: Effect, refused: Refused) -> CallFailed | None:
    if not isinstance(effect, Call):
        return None
    return await refused(view, effect) if effect.kind == "run" else refuse(effect)
