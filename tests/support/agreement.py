"""A run of the engine beside the reference: what may happen in it, and whether the two agree."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from hypothesis import strategies as st

from compozy.engine.advance import advance
from compozy.engine.effects import Call, CancelCall, CancelRequest, Effect, OpenRequest
from compozy.engine.events import (
    CallFailed,
    CallFinished,
    Event,
    RequestAnswered,
    RequestCanceled,
    RequestUnanswered,
    RunCanceled,
)
from compozy.engine.snapshot import from_status, to_status
from compozy.engine.state import Cell, RunState
from compozy.language.compiled import CompiledPlan
from support.reference import Shown, World

NOW = datetime(2030, 1, 2, 3, 4, 5, tzinfo=UTC)


class Run:
    """A run of the engine, with what it has open as its effects tell."""

    def __init__(self, plan: CompiledPlan, inputs: dict[str, Any]) -> None:
        self.plan, self.begun = plan, RunState(inputs=inputs, attended=True)
        self.state = self.begun
        self.requests: dict[str, int | None] = {}
        self.calls: set[str] = set()
        self.take([])

    def take(self, events: Sequence[Event]) -> tuple[Effect, ...]:
        """Let something happen; returns what is to be done. What is opened was not open, what is closed was."""
        for event in events:
            self.requests.pop(getattr(event, "node", ""), None)
            self.calls.discard(getattr(event, "node", ""))
        result = advance(self.plan, self.state, events, NOW)
        self.state = result.state
        for effect in result.effects:
            match effect:
                case OpenRequest():
                    assert effect.node not in self.requests
                    self.requests[effect.node] = effect.item
                case CancelRequest():
                    del self.requests[effect.node]
                case Call():
                    assert effect.node not in self.calls
                    self.calls.add(effect.node)
                case CancelCall():
                    self.calls.remove(effect.node)
        return result.effects

    def restart(self) -> None:
        """Go on with what a restarted operator reads. What was open is open again, and nothing else happens."""
        status = json.loads(json.dumps(to_status(self.plan, self.state)))
        self.state, self.requests, self.calls = from_status(self.plan, self.begun, status), {}, set()
        self.take([])


def happening(world: World) -> st.SearchStrategy[Event]:
    """What can happen next: to a question or a call that is open, or to the whole run."""
    numbers = st.integers(0, 4)
    options: list[st.SearchStrategy[Event]] = []
    for path in sorted(world.open("ask")):
        answers = numbers.map(lambda n: {"n": n})
        reasons = st.sampled_from(["declined", "unavailable", "expired"])
        options += [st.builds(RequestAnswered, st.just(path), st.just("respond"), answers)] * 6
        options += [st.builds(RequestUnanswered, st.just(path), reasons)] * 2
        options += [st.just(RequestCanceled(path))] * (len(world.events) > 2)
    for path in sorted(world.open("tool")):
        results = numbers.map(lambda n: {"n": n, "list": list(range(n))})
        options += [st.builds(CallFinished, st.just(path), results)] * 6
        options += [st.just(CallFailed(path, "probe_failed", "it does not answer"))] * 4
    options += [st.just(RunCanceled())] * (len(world.events) > 4)
    return st.sampled_from(options).flatmap(lambda option: option)


def assert_agreement(world: World, run: Run) -> None:
    """Every cell is one that the reference holds possible, and what is open is what it holds open."""
    cells, expected = dict(run.state.cells), world.expected()
    lanes = {path: cells.pop(path) for path in list(cells) if "." in path.rpartition("/")[2]}
    # A lane that is taken away need not have a cell of its own.
    ended = {path: cell for path, cell in lanes.items() if cell.status != "Canceled"}
    differences = _differences(cells, expected) | _differences(ended, world.lane_results())
    end, open_requests = world.end().ways, {path: _item(path) for path in world.open("ask")}
    if (run.state.phase, run.state.reason) not in end:
        differences["the run"] = {"engine": (run.state.phase, run.state.reason), "reference": end}
    if run.requests != open_requests:
        differences["open requests"] = {"engine": run.requests, "reference": open_requests}
    if run.calls != world.open("tool"):
        differences["open calls"] = {"engine": run.calls, "reference": world.open("tool")}
    assert not differences, differences


def _differences(cells: dict[str, Cell], expected: dict[str, list[Shown | None]]) -> dict[str, Any]:
    found = {}
    for path in sorted({*cells, *expected}):
        cell, possible = cells.get(path), expected.get(path, [None])
        shown = None if cell is None else Shown(cell.status, cell.output, cell.route)
        if shown not in possible:
            found[path] = {"engine": shown, "reference": possible}
    return found


def _item(path: str) -> int | None:
    """The item of a request is the innermost lane that it stands in."""
    *lanes, _ = path.split("/")
    return int(lanes[-1].rpartition(".")[2]) if lanes else None
