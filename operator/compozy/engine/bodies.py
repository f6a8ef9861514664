"""Bodies of steps: branches, elements and called plans are begun, ended and gathered."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from rpds import HashTrieMap

from compozy.engine.frames import Container, Frame
from compozy.engine.kinds.iterate import kept
from compozy.engine.outcomes import Branch, Failed, Lanes, PlanCalled, Succeeded
from compozy.engine.results import exit_output
from compozy.engine.state import Cell, Exit
from compozy.language.compiled import SOLVER, Node
from compozy.language.errors import LanguageError

if TYPE_CHECKING:
    from compozy.engine.blocks import Blocks
    from compozy.engine.turn import Turn


class Bodies:
    """What steps wait for."""

    def __init__(self, turn: "Turn", blocks: "Blocks") -> None:
        self._turn = turn
        self._blocks = blocks

    def open(self, frame: Frame, node: Node, outcome: Branch | Lanes | PlanCalled) -> None:
        """Begin what a node's result is made of."""
        path = frame.path_of(node.id)
        match outcome:
            case Branch():
                container = Container(
                    path, frame.path, node.id, "branch", outcome.name, outcome.block,
                    verdict=outcome.verdict, reason=outcome.reason,
                )  # fmt: skip
                self._blocks.containers[path] = container
                branch = Frame(
                    f"{path}/{outcome.name}",
                    outcome.block,
                    frame.plan,
                    HashTrieMap(),
                    frame.view,
                    path,
                    plans=frame.plans,
                )
                self._blocks.begin(branch)
            case Lanes():
                kind: Any = outcome.gathers
                container = Container(
                    path, frame.path, node.id, kind, "do", outcome.block, outcome.items, outcome.concurrency,
                    accumulator=outcome.accumulator,
                )  # fmt: skip
                self._blocks.containers[path] = container
                self._begin_lanes(container)
            case PlanCalled():
                container = Container(path, frame.path, node.id, "plan", outcome.name, outcome.plan.block)
                self._blocks.containers[path] = container
                scope = outcome.plan.dialect.scope(outcome.inputs, self._turn.state.generation)
                plans = (*frame.plans, outcome.name)
                inner = f"{path}/plan__{outcome.name}"
                self._blocks.begin(
                    Frame(inner, outcome.plan.block, outcome.plan, scope, None, path, plans=plans, is_plan=True)
                )

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
        owner = self._blocks.frames[container.frame]
        bound: dict[str, Any] = {"item": container.items[index], "index": index}
        if container.kind == "reduce":
            bound["accumulator"] = container.accumulator
        path, scope = container.lane_path(index), HashTrieMap(bound)
        self._blocks.begin(
            Frame(path, container.block, owner.plan, scope, owner.view, container.path, index, owner.plans)
        )

    def complete(self, container: Container, frame: Frame) -> None:
        """Every node of a frame has ended."""
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
        self._turn.put(frame.path, Cell("Succeeded", result, completed_at=self._turn.now))
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
        container = self._of(frame)
        self._drop(frame)
        if fired.status == "error":
            self._give_up(container, "exit_error", f"plan `{container.label}` ended: {fired.message}")
            return
        self._succeed(container, exit_output(fired))

    def _of(self, frame: Frame) -> Container:
        container = self._blocks.containers[str(frame.owner)]
        assert isinstance(container, Container)  # noqa: S101 - frames of steps are in containers of steps
        return container

    def _gather(self, container: Container) -> None:
        if container.failure is not None:
            self._give_up(container, *container.failure)
            return
        paths = [container.lane_path(index) for index in range(len(container.items))]
        outputs = [self._turn.cells[path].output for path in paths]
        for path in paths:
            self._turn.forget(path)
        match container.kind:
            case "map":
                self._succeed(container, {"count": len(outputs), "results": outputs})
            case "reduce":
                self._succeed(container, {"count": len(outputs), "result": container.accumulator})
            case _:
                self._succeed(container, kept(container.items, outputs).output)

    def _succeed(self, container: Container, output: Any) -> None:
        self._blocks.containers.discard(container.path)
        frame = self._blocks.frames[container.frame]
        self._turn.take(frame, frame.block.nodes[container.node], Succeeded(output))

    def _give_up(self, container: Container, reason: str, message: str) -> None:
        """The step fails. Elements that have succeeded stay: another attempt of the run need not repeat them."""
        self._blocks.containers.discard(container.path)
        frame = self._blocks.frames[container.frame]
        self._turn.take(frame, frame.block.nodes[container.node], Failed(reason, message))

    def fail(self, container: Container, frame: Frame, node: Node, reason: str, message: str) -> None:
        """A node in a frame has failed. Other elements that are under way drain; no new one begins."""
        step = f" step {node.id}" if node.id else ""
        where = {
            "branch": f"`{container.label}` branch{step}",
            "plan": f"plan `{container.label}`{step}",
        }.get(container.kind, f"`do` item {frame.lane}{step}")
        told = f"{where} ({node.spec.kind}): {message}"
        self._drop(frame, keep=frame.path_of(node.id))
        if frame.lane is None:
            self._give_up(container, reason, told)
            return
        self._turn.put(frame.path, Cell("Failed", None, reason, told, None, self._turn.now))
        if container.failed_lane is None or frame.lane < container.failed_lane:
            container.failed_lane, container.failure = frame.lane, (reason, told)
        container.active -= 1
        self._abandon_questions(container)
        if container.active == 0:
            self._gather(container)

    def _abandon_questions(self, container: Container) -> None:
        """A question that nobody has seen yet is not put any more, and its element ends with it."""
        for path in [item for item in self._turn.questions if item.startswith(f"{container.path}/")]:
            place = self._blocks.place_of(path)
            self._turn.questions.discard(path)
            if place is None:
                continue
            self._drop(self._lane_frame(place[0], container))
            container.active -= 1

    def _lane_frame(self, frame: Frame, container: Container) -> Frame:
        while frame.owner != container.path:
            frame = self._blocks.frames[self._of(frame).frame]
        return frame

    def _forget(self, frame: Frame) -> None:
        """A frame is over: its result is all that stays of it."""
        self._blocks.frames.discard(frame.path)
        for node_id in frame.block.nodes:
            self._turn.forget(frame.path_of(node_id))

    def _drop(self, frame: Frame, keep: str | None = None) -> None:
        """A frame and everything in it is over."""
        for node_id in frame.block.nodes:
            path = frame.path_of(node_id)
            container = self._blocks.containers.get(path)
            if isinstance(container, Container) and path != frame.path:
                for inner in self._blocks.frames_of(container):
                    self._drop(inner)
                for index in range(container.following):
                    self._turn.forget(container.lane_path(index))
                self._blocks.containers.discard(path)
            if path != keep:
                self._turn.forget(path)
        self._blocks.frames.discard(frame.path)
        if frame.path != keep:
            self._turn.forget(frame.path)

    def frame_paths(self, container: Container) -> Iterator[str]:
        """Where the frames of a container are, as far as they are under way."""
        if container.kind in ("branch", "plan"):
            prefix = "plan__" if container.kind == "plan" else ""
            yield f"{container.path}/{prefix}{container.label}"
            return
        yield from (container.lane_path(index) for index in range(container.floor, container.following))

    def is_its_turn(self, path: str) -> bool:
        """Whether no earlier element of an iteration may still put a question."""
        place = self._blocks.place_of(path)
        frame = place[0] if place is not None else None
        while frame is not None and frame.owner is not None:
            container = self._of(frame)
            if frame.lane is not None and frame.lane > self._floor(container):
                return False
            frame = self._blocks.frames[container.frame]
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
        frame, last = self._blocks.frames.get(path), container.block.last_asking
        if frame is None or last is None:
            return True
        cell = self._turn.cells.get(frame.path_of(last))
        return cell is not None and cell.is_final
