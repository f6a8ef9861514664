"""`advance`: the next state of a run, and what is to be done for it."""

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal

from compozy.engine.effects import CancelRequest, Effect
from compozy.engine.events import Event, RequestAnswered, RequestCanceled, RequestUnanswered, RunCanceled
from compozy.engine.kinds import ENTER
from compozy.engine.kinds.ask import answer_ask, close_ask
from compozy.engine.outcomes import Canceled, Context, ExitFired, Failed, Outcome, Succeeded, Waiting
from compozy.engine.state import EXIT_FIRED, Cell, Exit, RunState
from compozy.engine.times import timestamp
from compozy.language.compiled import AskSpec, CompiledPlan, Node, NodeResult, RouteSpec, Scope
from compozy.language.errors import LanguageError


@dataclass(frozen=True, slots=True)
class Advance:
    """The next state, and what is to be done for it."""

    state: RunState
    effects: tuple[Effect, ...]


def advance(plan: CompiledPlan, state: RunState, events: Iterable[Event], now: datetime) -> Advance:
    """Take what has happened into account and go on as far as the run can without anybody.

    Events that do not apply (a second answer, an answer to a node that has ended) change nothing. A run that
    has ended never changes.
    """
    if state.is_final:
        return Advance(state, ())
    turn = _Turn(plan, state, timestamp(now))
    turn.settle()
    for event in events:
        turn.apply(event)
        turn.settle()
    return Advance(turn.state, tuple(turn.effects))


class _Turn:
    """One call of `advance` under way. The state it was given is never changed."""

    def __init__(self, plan: CompiledPlan, state: RunState, now: str) -> None:
        self.plan = plan
        self.now = now
        self.cells = dict(state.cells)
        self.effects: list[Effect] = []
        self.state = replace(
            state, cells=self.cells, phase="Running", settled=True, started_at=state.started_at or now
        )
        self.queue: deque[str] = deque(() if state.settled else plan.nodes)

    def apply(self, event: Event) -> None:
        """Take one event, if it still applies."""
        if self.state.is_final:
            return
        if isinstance(event, RunCanceled):
            self._stop("Canceled", "run_canceled", "the run was canceled")
            return
        cell = self.cells.get(event.node)
        if cell is None or cell.status != "Waiting":
            return
        node = self.plan.nodes[event.node]
        if isinstance(node.spec, AskSpec):
            self._take(node, self._resumed(node, node.spec, event))

    def _resumed(
        self, node: Node, spec: AskSpec, event: RequestAnswered | RequestUnanswered | RequestCanceled
    ) -> Outcome:
        match event:
            case RequestAnswered():
                return answer_ask(spec, event.payload)
            case RequestUnanswered():
                return close_ask(spec, self._context(node), event.reason)
            case RequestCanceled():
                return Canceled("request_canceled", "the question was canceled")

    def settle(self) -> None:
        """Enter every node that is ready, until none is left."""
        while self.queue and not self.state.is_final:
            self._consider(self.plan.nodes[self.queue.popleft()])
        if self.state.is_final or len(self.cells) < len(self.plan.nodes):
            return
        if all(cell.is_final for cell in self.cells.values()):
            self._finish()

    def _consider(self, node: Node) -> None:
        if node.id in self.cells:
            return
        arrivals = [self._arrival(dependency, node.id) for dependency in node.after]
        if "forbidden" in arrivals:
            self._end(node.id, Cell("Skipped", completed_at=self.now))
        elif "open" in arrivals:
            return
        elif arrivals and "live" not in arrivals:
            self._end(node.id, Cell("Skipped", completed_at=self.now))
        else:
            self._take(node, ENTER[type(node.spec)](node.spec, self._context(node)))

    def _arrival(self, source: str, target: str) -> Literal["open", "live", "dead", "forbidden"]:
        """What the edge says: a join runs as soon as all edges are decided and one of them is live.

        A route that chose another way leaves a dead edge. An expiry route forbids: all direct dependents but
        its target are skipped, even those with another live edge.
        """
        cell = self.cells.get(source)
        if cell is None or not cell.is_final:
            return "open"
        if cell.status != "Succeeded":
            return "dead"
        if cell.route is None or cell.route == target:
            return "live"
        return "dead" if isinstance(self.plan.nodes[source].spec, RouteSpec) else "forbidden"

    def _take(self, node: Node, outcome: Outcome) -> None:
        match outcome:
            case Succeeded():
                cell = Cell("Succeeded", outcome.output, outcome.reason, None, outcome.route, self.now)
                self._end(node.id, cell)
            case Waiting():
                self.cells[node.id] = Cell("Waiting")
                self.effects.append(outcome.effect)
            case ExitFired():
                self._exit(node, outcome.exit)
            case Failed() | Canceled():
                status: Literal["Failed", "Canceled"] = "Failed" if isinstance(outcome, Failed) else "Canceled"
                cell = Cell(status, None, outcome.reason, outcome.message, None, self.now)
                self.cells[node.id] = cell
                label = "step" if self.plan.dialect.name == "steps" else "node"
                where = f"plan failed at {label} {node.id} ({node.spec.kind})"
                self._stop("Failed", outcome.reason, f"{where}: {outcome.message}")

    def _exit(self, node: Node, fired: Exit) -> None:
        phase: Literal["Succeeded", "Failed"] = "Succeeded" if fired.status == "success" else "Failed"
        self.cells[node.id] = Cell(phase, None, EXIT_FIRED, fired.message, None, self.now)
        self.state = replace(self.state, exit=fired)
        self._stop(phase, f"exit_{fired.status}", fired.message)

    def _end(self, node_id: str, cell: Cell) -> None:
        self.cells[node_id] = cell
        self.queue.extend(self.plan.dependents[node_id])

    def _stop(self, phase: Literal["Succeeded", "Failed", "Canceled"], reason: str, message: str) -> None:
        """End the run before its end: what waits is canceled, what has not begun is skipped."""
        left: Literal["Skipped", "Canceled"] = "Canceled" if phase == "Canceled" else "Skipped"
        for node_id in self.plan.nodes:
            cell = self.cells.get(node_id)
            if cell is None:
                self.cells[node_id] = Cell(left, completed_at=self.now)
            elif not cell.is_final:
                self.cells[node_id] = Cell("Canceled", None, reason, None, None, self.now)
                self.effects.append(CancelRequest(node_id, self.state.generation))
        self.state = replace(self.state, phase=phase, reason=reason, message=message, completed_at=self.now)

    def _finish(self) -> None:
        output = None
        if self.plan.output is not None:
            try:
                output = self.plan.output.render(self._scope())
            except LanguageError as error:
                self._stop("Failed", error.code, f"plan failed at its output: {error.message}")
                return
        self.state = replace(
            self.state,
            phase="Succeeded",
            output=output,
            reason="completed",
            message=f"{self.state.steps_executed} steps executed",
            completed_at=self.now,
        )

    def _context(self, node: Node) -> Context:
        return Context(node.id, self._scope(), self.state.attended, self.state.generation)

    def _scope(self) -> Scope:
        results = {
            node_id: NodeResult(cell.status, cell.output) for node_id, cell in self.cells.items() if cell.is_final
        }
        return self.plan.dialect.scope(self.state.inputs, results, self.state.generation)
