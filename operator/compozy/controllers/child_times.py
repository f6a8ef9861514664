"""The time of runs that runs start: that in which people are waited for does not count against their nodes.

It follows from the questions themselves, so it is the same whenever it is worked out and whoever does it.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from compozy.controllers.cache import Cache, Item, Key
from compozy.controllers.child_names import child_name
from compozy.controllers.lineage import descendants
from compozy.controllers.runs import RunView
from compozy.engine.effects import Call
from compozy.engine.events import Event, RunParked, TimeCredited
from compozy.engine.state import Cell, RunState
from compozy.engine.times import parse_timestamp, timestamp
from compozy.language.compiled import Policy
from compozy.requests.state import is_open

_CUT_OFF = timedelta(seconds=1)
"""The API server cuts the fraction off when something was created: nothing is up before its time."""


@dataclass(frozen=True, slots=True)
class Span:
    """A time in which somebody was waited for."""

    begun: datetime
    ended: datetime
    is_open: bool = False
    """Whether they still are."""


class ChildTimes:
    """Tells runs what the waiting of the runs that they have started means for their own nodes."""

    def __init__(self, cache: Cache) -> None:
        self._cache = cache

    def events(self, view: RunView, state: RunState, call: Call, child: Item, now: datetime) -> Iterator[Event]:
        """What a run that has not ended means for the time of its node, and of those around that."""
        if view.plan.has_timed_blocks:
            since = self._waits_since(child, now)
            if (since is not None) != (call.node in state.parked):
                yield RunParked(call.node, since)
        yield from self._credit(view, state, call, child, now)

    def _waits_since(self, child: Item, now: datetime) -> str | None:
        begun = [span.begun for span in self._spans(child, now) if span.is_open]
        return timestamp(min(begun)) if begun else None

    def _credit(self, view: RunView, state: RunState, call: Call, child: Item, now: datetime) -> Iterator[Event]:
        node, cell = view.plan.node_at(call.node), state.cells.get(call.node)
        if node is None or cell is None or not node.policy.is_timed:
            return
        if cell.until is not None and cell.until > timestamp(now):
            return
        spans = list(self._spans(child, now))
        is_parked = any(span.is_open for span in spans)
        parked = _together(spans)
        earlier = (_together(self._spans(run, now)) for run in self._earlier(view, call))
        until = None if is_parked else _ends(node.policy, cell, child, parked, sum(earlier, parked))
        # Where its time is up after all there is nothing to credit, unless it has stood still until now.
        if until != cell.until and (until is None or cell.until is None or until > timestamp(now)):
            yield TimeCredited(call.node, until)

    def _earlier(self, view: RunView, call: Call) -> Iterator[Item]:
        """The runs of the attempts before this one, as far as they are known."""
        for attempt in range(1, call.attempt):
            name = child_name(view.run, call.generation, call.node, attempt)
            run = self._cache.get("PlanRun", Key(view.run["metadata"]["namespace"], name))
            if run is not None:
                yield run

    def _spans(self, run: Item, now: datetime) -> Iterator[Span]:
        """The times in which a run, or one that it has started, has waited for people."""
        for one in (run, *descendants(self._cache, run)):
            for request in self._cache.requests_of(one):
                begun = parse_timestamp(request["metadata"]["creationTimestamp"])
                resolved = (request.get("status") or {}).get("resolvedAt")
                yield Span(begun, parse_timestamp(resolved) if resolved else now, is_open(request))


def _ends(policy: Policy, cell: Cell, child: Item, parked: timedelta, parked_in_all: timedelta) -> str:
    """When the time of an attempt is up, or that of all of them, with what people have taken."""
    ends = []
    begun = parse_timestamp(child["metadata"]["creationTimestamp"]) + _CUT_OFF
    if policy.timeout is not None:
        ends.append(begun + timedelta(seconds=policy.timeout) + parked)
    if policy.deadline is not None:
        first = parse_timestamp(cell.started_at) if cell.started_at is not None else begun
        ends.append(first + timedelta(seconds=policy.deadline) + parked_in_all)
    return timestamp(min(ends))


def _together(spans: Iterable[Span]) -> timedelta:
    """How long any of the spans lasts; what is in several counts once."""
    total, end = timedelta(), None
    for span in sorted(spans, key=lambda span: span.begun):
        start = span.begun if end is None or span.begun > end else end
        if span.ended > start:
            total += span.ended - start
        end = span.ended if end is None or span.ended > end else end
    return total
