"""`plan explore`: every path that answers can open, followed in this process with the real engine.

The engine is a function of a state, so a run is never repeated: where several things can happen, the state is
gone on from in each way. Runs with the fewest surprises come first, and whatever shows something new counts as
no surprise, so that every part of a plan is reached early however many answers there are.
"""

import heapq
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import count
from typing import Any

from compozy.engine.advance import advance
from compozy.engine.effects import Call, CancelCall, CancelRequest, Effect, OpenRequest
from compozy.engine.state import RunState
from compozy.language.compiled import SOLVER, CompiledPlan
from compozy.plantest.exploring.hints import hints_of
from compozy.plantest.exploring.instrument import instrument
from compozy.plantest.exploring.merging import Mentions, fingerprint
from compozy.plantest.exploring.options import Option, Options
from compozy.plantest.exploring.report import Ending, Report, checks_of
from compozy.plantest.exploring.starts import starts_of
from compozy.plantest.exploring.tracer import ChoiceNeeded, Decision, Situation, Tracer
from compozy.plantest.model import Stubs
from compozy.plantest.script import BEGINNING

MAX_RUNS = 2000
MAX_WORK = 2_000_000
"""How many results of steps may be carried along in all: it bounds the time for long plans."""


def explore(
    plan: CompiledPlan,
    spec: Mapping[str, Any],
    inputs: Mapping[str, Any] | None = None,
    stubs: Mapping[str, Stubs] | None = None,
    max_runs: int = MAX_RUNS,
) -> Report:
    """Follow every path.

    Args:
        plan: the compiled plan.
        spec: what it was compiled from: constants in it are worth trying as answers.
        inputs: values for some inputs; the others are generated.
        stubs: what calls give, by name; each result of a list is tried. Without one a tool gives something
            unknown, an `infer` gate either verdict, an agent what its schema allows.
        max_runs: after how many runs to stop.

    Raises:
        InputsInvalid: no inputs that fit could be generated around those that were given.
    """
    return _Exploration(plan, spec, inputs or {}, stubs or {}, max_runs).report()


@dataclass(frozen=True, slots=True)
class _Trail:
    """What has happened to a run, the last first."""

    decision: Decision
    before: "_Trail | None"


@dataclass(frozen=True, slots=True)
class _Point:
    """Where a run stands."""

    state: RunState
    start: int
    waiting: tuple[Call | OpenRequest, ...] = ()
    trail: _Trail | None = None
    path: int = 0
    """The way that it has taken, as one number."""


@dataclass(frozen=True, slots=True)
class _Task:
    """A point from which not every way has been tried yet."""

    point: _Point
    options: list[Option]
    surprises: int
    following: int = 0


class _Exploration:
    """One exploration under way."""

    def __init__(
        self,
        plan: CompiledPlan,
        spec: Mapping[str, Any],
        inputs: Mapping[str, Any],
        stubs: Mapping[str, Stubs],
        max_runs: int,
    ) -> None:
        self.tracer = Tracer(outlives_empty_data=SOLVER in plan.nodes)
        self.plan = instrument(plan, self.tracer)
        self.max_runs = max_runs
        hints = hints_of(spec)
        self.starts = starts_of(plan, inputs, hints)
        self.options = Options(hints.with_values_of(self.starts[0].inputs), stubs)
        self.mentions = Mentions(plan, spec)
        self.tasks: list[tuple[int, int, _Task]] = []
        self.order = count()
        self.seen: set[bytes] = set()
        self.paths: set[int] = set()
        self.endings: dict[tuple[str, str, str], Ending] = {}
        self.runs = 0
        self.work = 0

    def report(self) -> Report:
        """Go on until there is nothing left to try, or a limit is met."""
        for index, start in enumerate(self.starts):
            state = RunState(inputs=start.inputs, attended=start.attended)
            self._push(_Task(_Point(state, index), [Option()], int(index > 0)))
        while self.tasks and self.runs < self.max_runs and self.work < MAX_WORK:
            _, _, task = heapq.heappop(self.tasks)
            option = task.options[task.following]
            if task.following + 1 < len(task.options):
                self._push(replace(task, following=task.following + 1))
            self._go_on(task, option)
        limits = tuple(self._limits())
        return Report(
            checks=tuple(checks_of(self.tracer, complete=not limits)),
            endings=tuple(self.endings.values()),
            runs=self.runs,
            paths=len(self.paths),
            complete=not limits,
            limits=limits,
        )

    def _limits(self) -> list[str]:
        limits = []
        if self.tasks and self.runs >= self.max_runs:
            limits.append(f"stopped after {self.runs} runs; --max-runs allows more")
        elif self.tasks:
            limits.append(f"stopped after {self.runs} runs: the plan is too large to follow every path")
        limits += [
            f"no answer to {label} could be generated; give `examples` in its schema"
            for label in self.options.unanswerable
        ]
        return limits

    def _push(self, task: _Task) -> None:
        surprises = task.surprises + (task.following > 0)
        heapq.heappush(self.tasks, (surprises, next(self.order), task))

    def _go_on(self, task: _Task, option: Option) -> None:
        point, surprises = task.point, task.surprises + (task.following > 0)
        trail = point.trail
        for decision in (*option.assumed, *([option.decision] if option.decision else [])):
            trail = _Trail(decision, trail)
        covered = self.tracer.coverage
        self.tracer.begin(option.choices, lambda: self._situation(point.start, trail))
        self.work += len(point.state.cells) + 1
        try:
            result = advance(self.plan, point.state, [option.event] if option.event else [], BEGINNING)
        except ChoiceNeeded as needed:
            self._push(_Task(point, option.assuming(needed), surprises))
            return
        if self.tracer.coverage > covered:
            surprises = 0
        waiting = _waiting(point.waiting[1:], result.effects)
        path = hash((point.path, tuple(self.tracer.events)))
        self._arrive(_Point(result.state, point.start, waiting, trail, path), surprises)

    def _arrive(self, point: _Point, surprises: int) -> None:
        """A run has come to where something can happen, or to its end."""
        if point.state.is_final:
            self._end(point)
            return
        mark = fingerprint(point.state, [effect.node for effect in point.waiting], point.start, self.mentions)
        if mark not in self.seen:
            self.seen.add(mark)
            self._push(_Task(point, self.options.of(point.waiting[0]), surprises))

    def _end(self, point: _Point) -> None:
        state = point.state
        self.runs += 1
        self.paths.add(hash((point.path, state.phase)))
        step = _ended_by(state)
        key = (state.phase, state.reason or "", step)
        known = self.endings.get(key)
        if known is None:
            situation = self._situation(point.start, point.trail)
            self.endings[key] = Ending(*key, state.message or "", 1, situation)
        else:
            self.endings[key] = replace(known, runs=known.runs + 1)

    def _situation(self, index: int, trail: _Trail | None) -> Situation:
        decisions = []
        while trail is not None:
            decisions.append(trail.decision)
            trail = trail.before
        start = self.starts[index]
        return Situation(start.inputs, start.attended, tuple(reversed(decisions)))


def _waiting(
    before: tuple[Call | OpenRequest, ...], effects: tuple[Effect, ...]
) -> tuple[Call | OpenRequest, ...]:
    """What a run waits for, in the order in which it is dealt with: calls first, as they are by any host."""
    waiting = list(before)
    for effect in effects:
        if isinstance(effect, CancelRequest):
            waiting = [other for other in waiting if other.node != effect.node]
        elif not isinstance(effect, CancelCall):
            waiting.append(effect)
    return tuple(sorted(waiting, key=lambda effect: isinstance(effect, OpenRequest)))


def _ended_by(state: RunState) -> str:
    """The step or node that ended a run; empty where it ran to its end."""
    if state.exit is not None:
        return state.exit.step
    failed = (path for path, cell in state.cells.items() if cell.status == "Failed" and "/" not in path)
    return next(failed, "")
