"""`plan explore`: every path that answers can open, followed in this process with the real engine.

The engine is a function of a state, so a run is never repeated: where several things can happen, the state is
gone on from in each way. Runs with the fewest surprises come first, and whatever shows something new counts as
no surprise, so that every part of a plan is reached early however many answers there are.
"""

import heapq
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import count
from typing import Any

from compozy.engine.advance import Advance, advance
from compozy.engine.effects import Call, OpenRequest
from compozy.engine.state import RunState
from compozy.engine.times import parse_timestamp
from compozy.language.compiled import SOLVER, CompiledPlan
from compozy.plantest.exploring.generations import Generations
from compozy.plantest.exploring.hints import hints_of
from compozy.plantest.exploring.instrument import instrument
from compozy.plantest.exploring.labels import label_of
from compozy.plantest.exploring.merging import Marks
from compozy.plantest.exploring.options import Option, Options
from compozy.plantest.exploring.repeating import (
    FREE_TIMES,
    Memory,
    Told,
    Ways,
    root_of,
    still_known,
    what_repeats,
    with_told,
)
from compozy.plantest.exploring.report import Ending, Report, checks_of
from compozy.plantest.exploring.seen import sight_of, tell
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
    now: datetime = BEGINNING
    memory: Memory = field(default_factory=dict)
    """What was decided last where the same is asked several times."""
    surprises: int = 0
    """How much that is not typical has happened since something was last seen for the first time."""


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
        self.options = Options(plan, hints.with_values_of(self.starts[0].inputs), stubs)
        self.marks = Marks(plan, spec)
        self.generations = Generations(plan, spec)
        self.ways: Ways[_Point] = Ways()
        self.tasks: list[tuple[int, int, _Task]] = []
        self.order = count()
        self.seen: set[bytes] = set()
        self.paths: set[int] = set()
        self.endings: dict[tuple[str, str, str, str], Ending] = {}
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
        now = option.now or point.now
        try:
            result = advance(self.plan, point.state, [option.event] if option.event else [], now)
        except ChoiceNeeded as needed:
            known = point.memory.get(needed.label)
            is_settled = known is not None and known.times >= FREE_TIMES
            ways = [known.way] if known is not None and is_settled else list(range(len(needed.ways)))
            self._push(_Task(point, option.assuming(needed, ways), surprises))
            return
        tell(self.plan, result, self.tracer)
        if self.tracer.coverage > covered:
            surprises = 0
        path = hash((point.path, tuple(self.tracer.events)))
        memory = self._remembered(point, option, result)
        waiting = _waiting(point.waiting, result)
        self._arrive(_Point(result.state, point.start, waiting, trail, path, now, memory, surprises))

    def _remembered(self, point: _Point, option: Option, result: Advance) -> Memory:
        """What was decided last, with what was decided now."""
        effect = point.waiting[0] if point.waiting else None
        root = root_of(effect.node, point.state) if effect is not None else None
        if result.state.generation != point.state.generation:
            return {}
        memory = still_known(point.memory, result.state)
        if effect is None or root is None:
            return memory
        name = what_repeats(effect, label_of(self.plan, effect.node))
        if name not in point.memory:
            sight = sight_of(self.plan, result, self.tracer)
            for other in self.ways.learn(name, option.number, sight):
                ways = self.options.of(other.waiting[0])
                self._push(_Task(other, ways[option.number : option.number + 1], other.surprises + 1))
        if root not in result.state.containers:
            return memory
        for label, way in option.choices.items():
            memory = with_told(memory, label, Told(root, 1, way))
        alone = self.ways.stands_alone(name, option.number)
        return with_told(memory, name, Told(root, 1, option.number, alone))

    def _arrive(self, point: _Point) -> None:
        """A run has come to where something can happen, or to its end."""
        if point.state.is_final:
            self._end(point)
            return
        point = replace(point, state=self.generations.skipped(point.state))
        nodes = [effect.node for effect in point.waiting]
        mark = self.marks.of(point.state, nodes, point.now, point.memory)
        if mark not in self.seen:
            self.seen.add(mark)
            self._push(_Task(point, self._following(point), point.surprises))

    def _following(self, point: _Point) -> list[Option]:
        """What can happen next: to what was called, else to what was asked, else nothing but that time passes."""
        if not point.waiting:
            until, path = min((until, path) for path, until in point.state.timers.items())
            return [self.options.passing(path, parse_timestamp(until))]
        effect = point.waiting[0]
        options = self.options.of(effect)
        name = what_repeats(effect, label_of(self.plan, effect.node))
        last = point.memory.get(name)
        if last is None:
            return options
        numbers = self.ways.worth_trying(name, point, last)
        return [options[number] for number in numbers if number < len(options)]

    def _end(self, point: _Point) -> None:
        state = point.state
        self.runs += 1
        self.paths.add(hash((point.path, state.phase)))
        step = _ended_by(self.plan, state)
        key = (state.phase, state.reason or "", step, "" if step else _led_to(self.plan, state))
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


def _waiting(before: tuple[Call | OpenRequest, ...], result: Advance) -> tuple[Call | OpenRequest, ...]:
    """What a run waits for, in the order in which it is dealt with: calls first, as they are by any host."""
    opened = {effect.node: effect for effect in result.effects if isinstance(effect, Call | OpenRequest)}
    known = [effect for effect in before if effect.node not in opened]
    state = result.state
    waiting = [effect for effect in (*known, *opened.values()) if _is_open(effect, state)]
    return tuple(sorted(waiting, key=lambda effect: isinstance(effect, OpenRequest)))


def _is_open(effect: Call | OpenRequest, state: RunState) -> bool:
    return effect.node in (state.calls if isinstance(effect, Call) else state.requests)


def _led_to(plan: CompiledPlan, state: RunState) -> str:
    """Where the ways of a graph led that were taken to their end: nodes after which no other was done."""
    if plan.dialect.name != "graph":
        return ""
    done = {path for path in plan.nodes if path in state.cells and state.cells[path].status == "Succeeded"}
    return ", ".join(path for path in plan.nodes if path in done and not done & {*plan.block.dependents[path]})


def _ended_by(plan: CompiledPlan, state: RunState) -> str:
    """The step or node that ended a run; empty where it ran to its end."""
    if state.exit is not None:
        return state.exit.step
    return next((path for path in plan.nodes if path in state.cells and state.cells[path].status == "Failed"), "")
