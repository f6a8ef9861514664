"""Frames and containers of one turn: branches, elements and called plans are begun, ended and gathered."""

from typing import TYPE_CHECKING, Any

from compozy.engine.frames import Container, Frame
from compozy.engine.kinds.iterate import kept
from compozy.engine.outcomes import Branch, Failed, Lanes, PlanCalled, Succeeded
from compozy.engine.state import Cell, Exit, RunState
from compozy.language.compiled import SOLVER, Node
from compozy.language.errors import LanguageError

if TYPE_CHECKING:
    from compozy.engine.turn import Turn


class Blocks:
    """The frames and containers that are under way."""

    def __init__(self, turn: "Turn", state: RunState) -> None:
        self._turn = turn
        self.frames = {path: frame.copied() for path, frame in state.frames.items()}
        self.containers = {path: container.copied() for path, container in state.containers.items()}

    def clear(self) -> None:
        """Nothing is under way any more."""
        self.frames, self.containers = {}, {}

    def begin(self, frame: Frame) -> None:
        """Begin a frame; nodes that had ended before a load are taken as they are."""
        self.frames[frame.path] = frame
        for node in frame.block.nodes.values():
            cell = self._turn.cells.get(frame.path_of(node.id))
            if cell is not None and cell.is_final:
                self._record(frame, node, cell)
            else:
                self._turn.queue.append((frame.path, node.id))
        if frame.ended == len(frame.block.nodes):
            self._turn.queue.append((frame.path, None))

    def ended(self, frame: Frame, node: Node, cell: Cell) -> None:
        """A node of a frame has ended: those after it may be ready, or the frame may be complete."""
        self._record(frame, node, cell)
        for dependent in frame.block.dependents[node.id]:
            self._turn.queue.append((frame.path, dependent))
        if frame.ended == len(frame.block.nodes):
            self.complete(frame)

    def _record(self, frame: Frame, node: Node, cell: Cell) -> None:
        frame.ended += 1
        if node.id:
            frame.plan.dialect.record(frame.scope, node.id, cell.status, cell.output)

    def place_of(self, path: str) -> tuple[Frame, Node] | None:
        """The frame and the node of a path that is under way."""
        alone = self.frames.get(path) if path else None
        if alone is not None and "" in alone.block.nodes:
            return alone, alone.block.nodes[""]
        prefix, _, node_id = path.rpartition("/")
        frame = self.frames.get(prefix)
        node = frame.block.nodes.get(node_id) if frame is not None else None
        return (frame, node) if frame is not None and node is not None else None

    def open(self, frame: Frame, node: Node, outcome: Branch | Lanes | PlanCalled) -> None:
        """Begin what a node's result is made of."""
        path = frame.path_of(node.id)
        match outcome:
            case Branch():
                container = Container(
                    path, frame.path, node.id, "branch", outcome.name, outcome.block,
                    verdict=outcome.verdict, reason=outcome.reason,
                )  # fmt: skip
                self.containers[path] = container
                branch = Frame(
                    f"{path}/{outcome.name}", outcome.block, frame.plan, {}, frame.view, path, plans=frame.plans
                )
                self.begin(branch)
            case Lanes():
                kind: Any = outcome.gathers
                self.containers[path] = Container(
                    path, frame.path, node.id, kind, "do", outcome.block, outcome.items, outcome.concurrency,
                    accumulator=outcome.accumulator,
                )  # fmt: skip
                self._begin_lanes(self.containers[path])
            case PlanCalled():
                container = Container(path, frame.path, node.id, "plan", outcome.name, outcome.plan.block)
                self.containers[path] = container
                scope = outcome.plan.dialect.scope(outcome.inputs, self._turn.state.generation)
                plans = (*frame.plans, outcome.name)
                inner = f"{path}/plan__{outcome.name}"
                self.begin(Frame(inner, outcome.plan.block, outcome.plan, scope, None, path, plans=plans))

    def _begin_lanes(self, container: Container) -> None:
        """Begin as many elements as may be under way, and gather when none is left."""
        while container.failure is None and container.following < len(container.items):
            if container.active >= container.concurrency:
                return
            index = container.following
            container.following += 1
            cell = self._turn.cells.get(container.lane_path(index))
            if cell is not None and cell.status == "Succeeded":
                container.accumulator = cell.output
                continue
            if cell is not None and cell.is_final:
                container.failed_lane = index
                container.failure = (cell.reason or "failed", cell.message or "")
                continue
            container.active += 1
            self._begin_lane(container, index)
        if container.active == 0:
            self._gather(container)

    def _begin_lane(self, container: Container, index: int) -> None:
        owner = self.frames[container.frame]
        scope: dict[str, Any] = {"item": container.items[index], "index": index}
        if container.kind == "reduce":
            scope["accumulator"] = container.accumulator
        path = container.lane_path(index)
        self.begin(Frame(path, container.block, owner.plan, scope, owner.view, container.path, index, owner.plans))

    def complete(self, frame: Frame) -> None:
        """Every node of a frame has ended."""
        if frame.owner is None:
            self._turn.finish()
            return
        container = self.containers[frame.owner]
        if container.kind == "plan":
            self._complete_plan(container, frame)
            return
        result = self._turn.cells[frame.path_of(frame.block.last)].output
        self._forget(frame)
        if container.kind == "branch":
            result = {
                "branch": container.label,
                "verdict": container.verdict,
                "reason": container.reason,
                "result": result,
            }
            self._succeed(container, result)
            return
        self._turn.cells[frame.path] = Cell("Succeeded", result, completed_at=self._turn.now)
        container.active -= 1
        container.accumulator = result
        self._begin_lanes(container)

    def _complete_plan(self, container: Container, frame: Frame) -> None:
        solved = self._turn.cells.get(frame.path_of(SOLVER))
        result: Any = {"ok": True, "steps_executed": frame.executed}
        if frame.plan.output is not None:
            try:
                result = frame.plan.output.render(frame.view)
            except LanguageError as error:
                self._forget(frame)
                self._give_up(container, error.code, f"output of plan `{container.label}`: {error.message}")
                return
        elif solved is not None:
            result = {"answer": solved.output}
        self._forget(frame)
        self._succeed(container, result)

    def exit_called_plan(self, frame: Frame, fired: Exit) -> None:
        """A gate has ended a plan that was called: its caller gets that as the result, or fails with it."""
        container = self.containers[str(frame.owner)]
        self._forget_all(frame.path)
        if fired.status == "error":
            self._give_up(container, "exit_error", f"plan `{container.label}` ended: {fired.message}")
            return
        result = {"exited": True, "status": fired.status, "message": fired.message}
        if fired.output is not None:
            result["output"] = fired.output
        self._succeed(container, result)

    def _gather(self, container: Container) -> None:
        if container.failure is not None:
            self._give_up(container, *container.failure)
            return
        paths = [container.lane_path(index) for index in range(len(container.items))]
        outputs = [self._turn.cells.pop(path).output for path in paths]
        match container.kind:
            case "map":
                self._succeed(container, {"count": len(outputs), "results": outputs})
            case "reduce":
                self._succeed(container, {"count": len(outputs), "result": container.accumulator})
            case _:
                self._succeed(container, kept(container.items, outputs).output)

    def _succeed(self, container: Container, output: Any) -> None:
        del self.containers[container.path]
        frame = self.frames[container.frame]
        self._turn.take(frame, frame.block.nodes[container.node], Succeeded(output))

    def _give_up(self, container: Container, reason: str, message: str) -> None:
        del self.containers[container.path]
        frame = self.frames[container.frame]
        for index in range(len(container.items)):
            cell = self._turn.cells.get(container.lane_path(index))
            if cell is not None and cell.status == "Succeeded":
                del self._turn.cells[container.lane_path(index)]
        self._turn.fail(frame, frame.block.nodes[container.node], Failed(reason, message))

    def fail(self, frame: Frame, node: Node, reason: str, message: str) -> None:
        """A node in a frame has failed. Other elements that are under way drain; no new one begins."""
        container = self.containers[str(frame.owner)]
        step = f" step {node.id}" if node.id else ""
        where = {
            "branch": f"`{container.label}` branch{step}",
            "plan": f"plan `{container.label}`{step}",
        }.get(container.kind, f"`do` item {frame.lane}{step}")
        told = f"{where} ({node.spec.kind}): {message}"
        self._forget_all(frame.path, keep=frame.path_of(node.id))
        if frame.lane is None:
            self._give_up(container, reason, told)
            return
        self._turn.cells[frame.path] = Cell("Failed", None, reason, told, None, self._turn.now)
        if container.failed_lane is None or frame.lane < container.failed_lane:
            container.failed_lane, container.failure = frame.lane, (reason, told)
        container.active -= 1
        self._abandon_questions(container)
        if container.active == 0:
            self._gather(container)

    def _abandon_questions(self, container: Container) -> None:
        """A question that nobody has seen yet is not put any more, and its element ends with it."""
        for path in [item for item in self._turn.questions if item.startswith(f"{container.path}/")]:
            place = self.place_of(path)
            del self._turn.questions[path]
            if place is None:
                continue
            lane = self._lane_frame(place[0], container)
            self._forget_all(lane.path)
            container.active -= 1

    def _lane_frame(self, frame: Frame, container: Container) -> Frame:
        while frame.owner != container.path:
            frame = self.frames[self.containers[str(frame.owner)].frame]
        return frame

    def _forget(self, frame: Frame) -> None:
        """A frame is over: its result is all that stays of it."""
        del self.frames[frame.path]
        for node_id in frame.block.nodes:
            self._turn.cells.pop(frame.path_of(node_id), None)

    def _forget_all(self, path: str, keep: str | None = None) -> None:
        """A frame and everything in it is over."""
        for frames in (self.frames, self.containers):
            for key in [item for item in frames if item == path or item.startswith(f"{path}/")]:
                del frames[key]
        for cells in (self._turn.cells, self._turn.questions):
            for key in [item for item in cells if item == path or item.startswith(f"{path}/")]:
                if key != keep:
                    del cells[key]

    def plan_frame_of(self, frame: Frame) -> Frame:
        """The frame of the plan that a frame is in."""
        while not frame.is_plan:
            frame = self.frames[self.containers[str(frame.owner)].frame]
        return frame

    def lane_of(self, frame: Frame) -> int | None:
        """The element that a frame is in, the innermost."""
        while frame.lane is None and frame.owner is not None:
            frame = self.frames[self.containers[frame.owner].frame]
        return frame.lane

    def is_its_turn(self, path: str) -> bool:
        """Whether no earlier element of an iteration may still put a question."""
        place = self.place_of(path)
        frame = place[0] if place is not None else None
        while frame is not None and frame.owner is not None:
            container = self.containers[frame.owner]
            if frame.lane is not None and frame.lane > self._floor(container):
                return False
            frame = self.frames[container.frame]
        return True

    def _floor(self, container: Container) -> int:
        while container.floor < container.following and self._has_asked(container, container.floor):
            container.floor += 1
        return container.floor

    def _has_asked(self, container: Container, index: int) -> bool:
        """Whether an element has put all its questions."""
        path = container.lane_path(index)
        cell = self._turn.cells.get(path)
        if cell is not None and cell.is_final:
            return True
        frame, last = self.frames.get(path), container.block.last_asking
        if frame is None or last is None:
            return True
        cell = self._turn.cells.get(frame.path_of(last))
        return cell is not None and cell.is_final
