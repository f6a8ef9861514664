"""One call of `advance` under way: nodes are entered, resumed and ended until nothing is left to do."""

from collections import deque
from dataclasses import replace
from datetime import datetime
from typing import Literal, get_args

from compozy.engine.blocks import Blocks
from compozy.engine.clocks import Clocks
from compozy.engine.conforming import misfit
from compozy.engine.effects import Call, CancelCall, CancelRequest, Effect, OpenRequest
from compozy.engine.events import (
    CallFailed,
    CallFinished,
    Event,
    NodeEvent,
    RequestAnswered,
    RequestCanceled,
    RequestUnanswered,
    RunCanceled,
    RunParked,
    TimeCredited,
)
from compozy.engine.failing import absorbed, next_attempt, time_is_up_at, time_was_up
from compozy.engine.frames import Frame, lanes_of
from compozy.engine.kinds import ENTER, RESUME
from compozy.engine.kinds.actions import ACTIONS
from compozy.engine.kinds.infer import Judgement
from compozy.engine.kinds.review import enter_reviewed, resume_reviewed
from compozy.engine.kinds.solver import NOTE
from compozy.engine.kinds.wait import enter_wait
from compozy.engine.outcomes import (
    Calling,
    Canceled,
    Context,
    ExitFired,
    Failed,
    Opening,
    Outcome,
    Revised,
    Sleeping,
    Stopped,
    Succeeded,
    Waiting,
)
from compozy.engine.overlay import Overlay
from compozy.engine.state import EXIT_FIRED, Cell, Exit, RunState
from compozy.engine.times import parse_timestamp, timestamp
from compozy.language.compiled import SOLVER, AgentSpec, CompiledPlan, Node, WaitSpec
from compozy.language.errors import EmptyDataError, LanguageError

_ANSWERS = (RequestAnswered, RequestUnanswered, RequestCanceled)
_CALLS = (CallFinished, CallFailed)
_OPENINGS = get_args(Opening)


class Turn:
    """The state of a run while it changes. `result` gives it as a new state."""

    def __init__(self, plan: CompiledPlan, state: RunState, moment: datetime) -> None:
        self.plan = plan
        self.moment = moment
        self.now = timestamp(moment)
        self.cells: Overlay[Cell] = Overlay(state.cells)
        self.questions: Overlay[OpenRequest] = Overlay(state.questions)
        self.requests: Overlay[bool] = Overlay(state.requests)
        self.calls: Overlay[Call] = Overlay(state.calls)
        self.parked: Overlay[bool] = Overlay(state.parked)
        self.paused: Overlay[Call] = Overlay(state.paused)
        self.timers: Overlay[str] = Overlay(state.timers)
        self.marks: Overlay[Cell] = Overlay(state.marks)
        self.changed: set[str] = set()
        self.effects: list[Effect] = []
        self.asking = state.asking
        self.steps_executed = state.steps_executed
        self._begun_in = state.generation
        self.state = replace(state, phase="Running", settled=True, started_at=state.started_at or self.now)
        self.queue: deque[tuple[str, str | None]] = deque()
        self.blocks = Blocks(self, state)
        self.clocks = Clocks(self)
        if not state.settled:
            self._begin()

    def _begin(self) -> None:
        scope = self.plan.dialect.scope(self.state.inputs, self.state.generation)
        self.blocks.begin(Frame("", self.plan.block, self.plan, scope, is_plan=True))

    def result(self) -> RunState:
        """The state as it is now."""
        return replace(
            self.state,
            cells=self.cells.frozen(),
            frames=self.blocks.frames.frozen(),
            containers=self.blocks.containers.frozen(),
            questions=self.questions.frozen(),
            requests=self.requests.frozen(),
            calls=self.calls.frozen(),
            parked=self.parked.frozen(),
            paused=self.paused.frozen(),
            timers=self.timers.frozen(),
            marks=self.marks.frozen(),
            asking=self.asking,
            steps_executed=self.steps_executed,
        )

    def put(self, path: str, cell: Cell) -> None:
        """Set a cell, and forget what the old one waited for."""
        self.cells[path] = cell
        self.changed.add(path)
        self._wait_no_more(path)
        self.calls.discard(path)
        self._set_timer(path, None if cell.is_final else cell.until)

    def _set_timer(self, path: str, until: str | None) -> None:
        if until is not None:
            self.timers[path] = until
        else:
            self.timers.discard(path)

    def _wait_no_more(self, path: str) -> None:
        for table in (self.requests, self.parked):
            if path in table:
                table.discard(path)
                self.clocks.waits(path, -1)

    def forget(self, path: str) -> None:
        """A cell is over, and what there is to know stands elsewhere."""
        self._wait_no_more(path)
        for table in (self.cells, self.questions, self.calls, self.paused, self.timers):
            table.discard(path)
        self.changed.add(path)

    def apply(self, event: Event) -> None:
        """Take one event, if it still applies."""
        if self.state.is_final:
            return
        if isinstance(event, RunCanceled):
            self.stop("Canceled", "run_canceled", "the run was canceled")
            return
        if self.state.generation != self._begun_in:
            # What has happened before a revision does not belong to what is asked and called after it.
            return
        cell, place = self.cells.get(event.node), self.blocks.place_of(event.node)
        if cell is None or place is None:
            return
        if isinstance(event, TimeCredited | RunParked):
            if event.node in self.calls:
                self._told_of_run(cell, event)
            return
        if _fits(cell, event):
            self._resume(*place, event)

    def _told_of_run(self, cell: Cell, event: TimeCredited | RunParked) -> None:
        """Take in how it stands with a run that waits for people, and with its time."""
        path = event.node
        if isinstance(event, TimeCredited):
            self.changed.add(path)
            self.cells[path] = replace(cell, until=event.until)
            self._set_timer(path, event.until)
        elif event.since is None:
            self._wait_no_more(path)
        elif path not in self.parked:
            self.parked[path] = True
            if self.clocks.is_overdue(path):
                # The turn comes late: it was in time that people were asked.
                self.clocks.since = event.since
            self.clocks.waits(path, 1)

    def _resume(self, frame: Frame, node: Node, event: NodeEvent) -> None:
        review, context = node.policy.review, self._context(frame, node)
        if review is not None and isinstance(event, _ANSWERS):
            self.take(frame, node, resume_reviewed(node.spec, review, context, event))  # type: ignore[arg-type]
            return
        resume = RESUME.get(type(node.spec))
        if resume is not None:
            self.take(frame, node, resume(node.spec, context, event))

    def fire_timers(self) -> None:
        """Go on with what time alone decides. The earliest comes first."""
        due = sorted((until, path) for path, until in self.timers.items() if until <= self.now)
        for until, path in due:
            cell, place = self.cells.get(path), self.blocks.place_of(path)
            if self.state.is_final or cell is None or cell.is_final or place is None or cell.until != until:
                continue
            # A turn may come late: what follows would have followed then.
            self.clocks.since = until
            self._time_is_up(*place, cell)
            self.settle()

    def _time_is_up(self, frame: Frame, node: Node, cell: Cell) -> None:
        path = frame.path_of(node.id)
        if isinstance(node.spec, WaitSpec):
            self.take(frame, node, self._woken(frame, node, cell))
        elif path in self.blocks.containers:
            self.blocks.give_up(path)
            self.take(frame, node, time_was_up(node.policy, cell, self.moment))
        elif cell.status == "Ready":
            call, ends = self.paused[path], time_is_up_at(node.policy, self._started(path), self.moment)
            self.paused.discard(path)
            if ends is not None and ends <= self.now:
                self.take(frame, node, time_was_up(node.policy, cell, self.moment))
                return
            self._call(path, node, replace(call, attempt=cell.attempt))
        else:
            self._cancel_call(path, cell)
            self.take(frame, node, time_was_up(node.policy, cell, self.moment))

    def _woken(self, frame: Frame, node: Node, cell: Cell) -> Outcome:
        """What a wait comes to whose time has come: that of its end, or that which it may take at most."""
        slept = enter_wait(node.spec, self._context(frame, node))  # type: ignore[arg-type]
        if isinstance(slept, Sleeping) and cell.until is not None and slept.until > cell.until:
            return time_was_up(node.policy, cell, self.moment)
        return Succeeded({"until": cell.until})

    def _cancel_call(self, path: str, cell: Cell) -> None:
        call = self.calls.get(path)
        if call is not None and not (call.detach or call.abandon):
            self.effects.append(CancelCall(path, self.state.generation, call.kind, cell.attempt))

    def settle(self) -> None:
        """Enter every node that is ready, until none is left; then let the next question be asked."""
        self._go_on()
        self.clocks.settle()

    def _go_on(self) -> None:
        while not self.state.is_final:
            while self.queue and not self.state.is_final:
                path, node_id = self.queue.popleft()
                frame = self.blocks.frames.get(path)
                if frame is None:
                    continue
                if node_id is None:
                    self.blocks.complete(frame)
                else:
                    self._consider(frame, frame.block.nodes[node_id])
            if self.state.is_final or not self._ask_next():
                return

    def _consider(self, frame: Frame, node: Node) -> None:
        path = frame.path_of(node.id)
        if path in self.cells:
            return
        arrivals = self.blocks.arrivals_of(frame, node)
        if arrivals.forbidden:
            self.end(frame, node, Cell("Skipped", completed_at=self.now))
        elif arrivals.open:
            return
        elif node.after and not arrivals.live:
            self.end(frame, node, Cell("Skipped", completed_at=self.now))
        else:
            self._enter(frame, node)

    def _enter(self, frame: Frame, node: Node) -> None:
        context, spec = self._context(frame, node), node.spec
        if node.policy.review is not None and isinstance(spec, ACTIONS):
            self.take(frame, node, enter_reviewed(spec, node.policy.review, context))
        else:
            self.take(frame, node, ENTER[type(spec)](spec, context))

    def take(self, frame: Frame, node: Node, outcome: Outcome) -> None:
        """Go on with what entering or resuming a node came to."""
        path = frame.path_of(node.id)
        match outcome:
            case Succeeded():
                self._succeed(frame, node, outcome)
            case Waiting() if frame.plan.dialect.asks_in_turn:
                self.put(path, Cell("Ready"))
                self.questions[path] = outcome.effect
            case Waiting():
                self._wait(path, outcome.effect)
            case Calling():
                self._call(path, node, outcome.effect)
            case Sleeping():
                started = self._started(path)
                ends = time_is_up_at(node.policy, started, parse_timestamp(started))
                until = outcome.until if ends is None else min(ends, outcome.until)
                self.put(path, Cell("Waiting", started_at=started, until=until))
            case _ if isinstance(outcome, _OPENINGS):
                self.put(path, self.clocks.begun(path, node))
                self.blocks.open(frame, node, outcome)
                self.clocks.opened(path)
            case ExitFired():
                self._exit(frame, node, outcome.exit)
            case Stopped():
                status = outcome.phase
                self.put(path, Cell(status, None, outcome.reason, outcome.message, None, self.now))
                self.stop(outcome.phase, outcome.reason, outcome.message)
            case Revised():
                self._revise()
            case Failed() | Canceled():
                self.fail(frame, node, outcome)

    def _wait(self, path: str, question: OpenRequest) -> None:
        mark = self.marks.get(path) or Cell("Waiting")
        # Of an action that was approved already, a load knows which attempt it is at.
        self.put(path, Cell("Waiting", started_at=mark.started_at, attempt=mark.attempt))
        self.requests[path] = True
        self.clocks.waits(path, 1)
        self.effects.append(question)

    def _call(self, path: str, node: Node, call: Call) -> None:
        started, mark = self._started(path), self.marks.pop(path)
        if mark is not None and mark.status == "Ready" and mark.until is not None:
            # A load has found it in the pause before another attempt.
            self.put(path, mark)
            self.paused[path] = call
            return
        # What a load knows stands: without a time it is a run that waits for people, whose time has stopped.
        until = (
            mark.until
            if mark is not None and mark.status == "Running"
            else time_is_up_at(node.policy, started, self.moment)
        )
        self.put(path, Cell("Running", started_at=started, attempt=call.attempt, until=until))
        self.calls[path] = call
        self.effects.append(call)

    def _started(self, path: str) -> str:
        """When the first attempt began: what a cell, or a load, knows of it stands."""
        known = self.marks.get(path) or self.cells.get(path)
        return known.started_at if known is not None and known.started_at is not None else self.now

    def _succeed(self, frame: Frame, node: Node, outcome: Succeeded) -> None:
        produces = node.policy.produces
        if produces is not None and outcome.route is None:
            refused = misfit(produces, outcome.output, "output_invalid", "the output does not conform to produces")
            if refused is not None:
                self.fail(frame, node, refused)
                return
        cell = Cell("Succeeded", outcome.output, outcome.reason, None, outcome.route, self.now)
        self.end(frame, node, self._like_before(frame.path_of(node.id), cell))

    def _like_before(self, path: str, cell: Cell) -> Cell:
        """A cell that has ended, with what was known of it before."""
        known = self.cells.get(path)
        if known is None:
            return cell
        return replace(cell, started_at=known.started_at, attempt=known.attempt, lanes=known.lanes)

    def end(self, frame: Frame, node: Node, cell: Cell) -> None:
        """A node has ended."""
        self.put(frame.path_of(node.id), cell)
        if cell.status == "Succeeded" and cell.reason != EXIT_FIRED:
            self.count(frame, _executed(frame, node, cell))
        self.blocks.ended(frame, node, cell)

    def count(self, frame: Frame, executed: int) -> None:
        """Count what was executed, for the plan that it belongs to."""
        plan_frame = self.blocks.plan_frame_of(frame)
        if plan_frame.owner is None:
            self.steps_executed += executed
        else:
            plan_frame.executed += executed

    def fail(self, frame: Frame, node: Node, outcome: Failed | Canceled) -> None:
        """A node cannot have a result: neither can whatever waits for it, unless its author has foreseen that."""
        path = frame.path_of(node.id)
        if isinstance(outcome, Failed):
            again = next_attempt(node.policy, self.cells.get(path), outcome, self.moment)
            call = self.calls.get(path)
            if again is not None and call is not None:
                self.put(path, again)
                self.paused[path] = call
                return
            foreseen = absorbed(node.policy, outcome, self.now)
            if foreseen is not None:
                self.end(frame, node, self._like_before(path, foreseen))
                return
        status: Literal["Failed", "Canceled"] = "Failed" if isinstance(outcome, Failed) else "Canceled"
        failed = Cell(status, None, outcome.reason, outcome.message, None, self.now)
        self.put(path, self._like_before(path, failed))
        if outcome.reason == EmptyDataError.default_code and SOLVER in frame.block.nodes and node.id != SOLVER:
            self._solve_without_the_rest(frame, outcome.message)
            return
        if frame.owner is not None:
            self.blocks.fail(frame, node, outcome.reason, outcome.message)
            return
        label = "step" if self.plan.dialect.name == "steps" else "node"
        where = "plan failed at its solver" if node.id == SOLVER else f"plan failed at {label} {node.id}"
        kind = "" if node.id == SOLVER else f" ({node.spec.kind})"
        self.stop("Failed", outcome.reason, f"{where}{kind}: {outcome.message}")

    def _solve_without_the_rest(self, frame: Frame, note: str) -> None:
        """The data ran out: that is no failure of a plan whose solver can say so."""
        for node_id in frame.block.nodes:
            path = frame.path_of(node_id)
            if node_id != SOLVER and path not in self.cells:
                self.put(path, Cell("Skipped", completed_at=self.now))
        frame.ended = len(frame.block.nodes) - 1
        frame.scope = frame.scope.insert(NOTE, note)
        solver = frame.block.nodes[SOLVER]
        self.take(frame, solver, ENTER[type(solver.spec)](solver.spec, self._context(frame, solver)))

    def _exit(self, frame: Frame, node: Node, fired: Exit) -> None:
        """A gate has ended its plan: the run, or the plan that was called."""
        status: Literal["Succeeded", "Failed"] = "Succeeded" if fired.status == "success" else "Failed"
        self.put(frame.path_of(node.id), Cell(status, None, EXIT_FIRED, fired.message, None, self.now))
        plan_frame = self.blocks.plan_frame_of(frame)
        if not frame.is_plan:
            # Only a fired exit at the top level leaves no result to be counted.
            self.count(frame, 1)
        if plan_frame.owner is not None:
            self.blocks.exit_called_plan(plan_frame, fired)
            return
        self.state = replace(self.state, exit=fired)
        self.stop(status, f"exit_{fired.status}", fired.message)

    def _ask_next(self) -> bool:
        """Let one question be asked where none is open: in item order. Returns whether one was."""
        if not self.questions:
            return False
        asked = self.cells.get(self.asking or "")
        if asked is not None and asked.status == "Waiting":
            return False
        path = min(self.questions, key=lambda item: (lanes_of(item), item))
        if not self.blocks.is_its_turn(path):
            return False
        question = self.questions[path]
        self.questions.discard(path)
        self._wait(path, question)
        self.asking = path
        return True

    def cancel(self, path: str, cell: Cell, reason: str) -> None:
        """A cell is taken away: nobody waits for it any more."""
        if path in self.requests:
            self.effects.append(CancelRequest(path, self.state.generation))
        self._cancel_call(path, cell)
        self.questions.discard(path)
        self.paused.discard(path)
        self.put(path, Cell("Canceled", None, reason, None, None, self.now, cell.started_at, cell.attempt))

    def stop(self, phase: Literal["Succeeded", "Failed", "Canceled"], reason: str, message: str) -> None:
        """End the run before its end: what waits is canceled, what has not begun is skipped."""
        left: Literal["Skipped", "Canceled"] = "Canceled" if phase == "Canceled" else "Skipped"
        self._cancel_all(reason)
        for node_id in self.plan.block.nodes:
            if node_id not in self.cells:
                self.put(node_id, Cell(left, completed_at=self.now))
        self._leave()
        self.state = replace(self.state, phase=phase, reason=reason, message=message, completed_at=self.now)

    def _cancel_all(self, reason: str) -> None:
        for path, cell in list(self.cells.items()):
            if not cell.is_final:
                self.cancel(path, cell, reason)

    def _leave(self) -> None:
        """Nothing is under way any more."""
        self.blocks.clear()
        self.questions.clear()
        self.paused.clear()
        self.marks.clear()
        self.queue.clear()

    def _revise(self) -> None:
        """Everything runs again, as a new generation: what is asked again is a new question."""
        self._cancel_all("revised")
        for path in list(self.cells):
            self.forget(path)
        self._leave()
        state = self.state
        self.state = replace(state, generation=state.generation + 1, revisions=state.revisions + 1)
        self._begin()

    def finish(self) -> None:
        """Every node of the plan has ended."""
        output = None
        if self.plan.output is not None:
            try:
                output = self.plan.output.render(self.blocks.frames[""].view)
            except LanguageError as error:
                self.stop("Failed", error.code, f"plan failed at its output: {error.message}")
                return
        solved = self.cells.get(SOLVER)
        self._leave()
        self.state = replace(
            self.state,
            phase="Succeeded",
            output=output,
            answer=solved.output if solved is not None else None,
            reason="completed",
            message=f"{self.steps_executed} steps executed",
            completed_at=self.now,
        )

    def _context(self, frame: Frame, node: Node) -> Context:
        path = frame.path_of(node.id)
        mark = self.marks.get(path)
        known = mark or self.cells.get(path)
        return Context(
            path,
            frame.view,
            self.state.attended,
            self.state.generation,
            self.moment,
            self.blocks.lane_of(frame),
            frame.plans,
            node.id,
            frame.plan.dialect.name == "graph",
            known.attempt if known is not None else 1,
            known.started_at if known is not None else None,
            self.state.starters,
        )


def _executed(frame: Frame, node: Node, cell: Cell) -> int:
    """How many steps a result stands for: itself, and the calls of an agent in a body."""
    if isinstance(node.spec, Judgement) or node.id == SOLVER:
        return 0
    calls = cell.output.get("tools_called") if isinstance(node.spec, AgentSpec) and not frame.is_plan else None
    return 1 + (len(calls) if isinstance(calls, list) else 0)


def _fits(cell: Cell, event: NodeEvent) -> bool:
    """Whether a node waits for what has happened."""
    if isinstance(event, _ANSWERS):
        return cell.status == "Waiting" and cell.until is None
    return isinstance(event, _CALLS) and cell.status == "Running" and event.attempt in (None, cell.attempt)
