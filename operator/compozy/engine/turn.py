"""One call of `advance` under way: nodes are entered, resumed and ended until nothing is left to do."""

from collections import deque
from dataclasses import replace
from typing import Literal

from compozy.engine.blocks import Blocks
from compozy.engine.effects import CancelRequest, Effect
from compozy.engine.events import (
    CallFailed,
    CallFinished,
    Event,
    NodeEvent,
    RequestAnswered,
    RequestCanceled,
    RequestUnanswered,
    RunCanceled,
)
from compozy.engine.frames import Frame, lanes_of
from compozy.engine.kinds import ENTER, RESUME
from compozy.engine.kinds.infer import Judgement
from compozy.engine.kinds.solver import NOTE
from compozy.engine.outcomes import (
    Branch,
    Calling,
    Canceled,
    Context,
    ExitFired,
    Failed,
    Lanes,
    Outcome,
    PlanCalled,
    Succeeded,
    Waiting,
)
from compozy.engine.state import EXIT_FIRED, Cell, Exit, RunState
from compozy.language.compiled import SOLVER, AgentSpec, CompiledPlan, Node, RouteSpec
from compozy.language.errors import EmptyDataError, LanguageError

_ANSWERS = (RequestAnswered, RequestUnanswered, RequestCanceled)
_CALLS = (CallFinished, CallFailed)


class Turn:
    """The state of a run while it changes. `result` gives it as a new state."""

    def __init__(self, plan: CompiledPlan, state: RunState, now: str) -> None:
        self.plan = plan
        self.now = now
        self.cells = dict(state.cells)
        self.effects: list[Effect] = []
        self.asking = state.asking
        self.questions = dict(state.questions)
        self.steps_executed = state.steps_executed
        self.state = replace(state, phase="Running", settled=True, started_at=state.started_at or now)
        self.queue: deque[tuple[str, str | None]] = deque()
        self.blocks = Blocks(self, state)
        if not state.settled:
            scope = plan.dialect.scope(state.inputs, state.generation)
            self.blocks.begin(Frame("", plan.block, plan, scope))

    def result(self) -> RunState:
        """The state as it is now."""
        return replace(
            self.state,
            cells=self.cells,
            frames=self.blocks.frames,
            containers=self.blocks.containers,
            questions=self.questions,
            asking=self.asking,
            steps_executed=self.steps_executed,
        )

    def apply(self, event: Event) -> None:
        """Take one event, if it still applies."""
        if self.state.is_final:
            return
        if isinstance(event, RunCanceled):
            self.stop("Canceled", "run_canceled", "the run was canceled")
            return
        cell, place = self.cells.get(event.node), self.blocks.place_of(event.node)
        if cell is None or place is None or not _fits(cell, event):
            return
        frame, node = place
        resume = RESUME.get(type(node.spec))
        if resume is not None:
            self.take(frame, node, resume(node.spec, self._context(frame, node), event))

    def settle(self) -> None:
        """Enter every node that is ready, until none is left; then let the next question be asked."""
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
        arrivals = [self._arrival(frame, dependency, node.id) for dependency in node.after]
        if "forbidden" in arrivals:
            self.end(frame, node, Cell("Skipped", completed_at=self.now))
        elif "open" in arrivals:
            return
        elif arrivals and "live" not in arrivals:
            self.end(frame, node, Cell("Skipped", completed_at=self.now))
        else:
            self.take(frame, node, ENTER[type(node.spec)](node.spec, self._context(frame, node)))

    def _arrival(self, frame: Frame, source: str, target: str) -> Literal["open", "live", "dead", "forbidden"]:
        """What the edge says: a join runs as soon as all edges are decided and one of them is live.

        A route that chose another way leaves a dead edge. An expiry route forbids: all direct dependents but
        its target are skipped, even those with another live edge.
        """
        cell = self.cells.get(frame.path_of(source))
        if cell is None or not cell.is_final:
            return "open"
        if cell.status != "Succeeded":
            return "dead"
        if cell.route is None or cell.route == target:
            return "live"
        return "dead" if isinstance(frame.block.nodes[source].spec, RouteSpec) else "forbidden"

    def take(self, frame: Frame, node: Node, outcome: Outcome) -> None:
        """Go on with what entering or resuming a node came to."""
        path = frame.path_of(node.id)
        match outcome:
            case Succeeded():
                cell = Cell("Succeeded", outcome.output, outcome.reason, None, outcome.route, self.now)
                self.end(frame, node, cell)
            case Waiting() if frame.plan.dialect.asks_in_turn:
                self.cells[path] = Cell("Ready")
                self.questions[path] = outcome.effect
            case Waiting():
                self.cells[path] = Cell("Waiting")
                self.effects.append(outcome.effect)
            case Calling():
                self.cells[path] = Cell("Running")
                self.effects.append(outcome.effect)
            case Branch() | Lanes() | PlanCalled():
                self.cells[path] = Cell("Running")
                self.blocks.open(frame, node, outcome)
            case ExitFired():
                self._exit(frame, node, outcome.exit)
            case Failed() | Canceled():
                self.fail(frame, node, outcome)

    def end(self, frame: Frame, node: Node, cell: Cell) -> None:
        """A node has ended."""
        self.cells[frame.path_of(node.id)] = cell
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
        """A node cannot have a result: neither can whatever waits for it."""
        status: Literal["Failed", "Canceled"] = "Failed" if isinstance(outcome, Failed) else "Canceled"
        path = frame.path_of(node.id)
        self.cells[path] = Cell(status, None, outcome.reason, outcome.message, None, self.now)
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
            if node_id != SOLVER:
                self.cells.setdefault(frame.path_of(node_id), Cell("Skipped", completed_at=self.now))
        frame.ended = len(frame.block.nodes) - 1
        frame.scope[NOTE] = note
        solver = frame.block.nodes[SOLVER]
        self.take(frame, solver, ENTER[type(solver.spec)](solver.spec, self._context(frame, solver)))

    def _exit(self, frame: Frame, node: Node, fired: Exit) -> None:
        """A gate has ended its plan: the run, or the plan that was called."""
        status: Literal["Succeeded", "Failed"] = "Succeeded" if fired.status == "success" else "Failed"
        self.cells[frame.path_of(node.id)] = Cell(status, None, EXIT_FIRED, fired.message, None, self.now)
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
        asked = self.cells.get(self.asking or "")
        if not self.questions or (asked is not None and asked.status == "Waiting"):
            return False
        path = min(self.questions, key=lambda item: (lanes_of(item), item))
        if not self.blocks.is_its_turn(path):
            return False
        self.effects.append(self.questions.pop(path))
        self.cells[path] = Cell("Waiting")
        self.asking = path
        return True

    def stop(self, phase: Literal["Succeeded", "Failed", "Canceled"], reason: str, message: str) -> None:
        """End the run before its end: what waits is canceled, what has not begun is skipped."""
        left: Literal["Skipped", "Canceled"] = "Canceled" if phase == "Canceled" else "Skipped"
        for path, cell in list(self.cells.items()):
            if cell.status == "Waiting":
                self.effects.append(CancelRequest(path, self.state.generation))
            if not cell.is_final:
                self.cells[path] = Cell("Canceled", None, reason, None, None, self.now)
            elif path not in self.plan.block.nodes and cell.status == "Succeeded":
                del self.cells[path]
        for node_id in self.plan.block.nodes:
            self.cells.setdefault(node_id, Cell(left, completed_at=self.now))
        self.blocks.clear()
        self.questions.clear()
        self.state = replace(self.state, phase=phase, reason=reason, message=message, completed_at=self.now)

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
        self.blocks.clear()
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
        return Context(
            frame.path_of(node.id),
            frame.view,
            self.state.attended,
            self.state.generation,
            self.blocks.lane_of(frame),
            frame.plans,
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
        return cell.status == "Waiting"
    return isinstance(event, _CALLS) and cell.status == "Running"
