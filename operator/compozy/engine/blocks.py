"""Frames of one turn: blocks are begun, their nodes told of each other, and completed."""

from typing import TYPE_CHECKING

from compozy.engine.bodies import Bodies
from compozy.engine.edges import Edge, edge_of
from compozy.engine.failing import TIMEOUT
from compozy.engine.frames import AnyContainer, Arrivals, Container, FanOut, Frame, Gate, SubLoop
from compozy.engine.lanes import FanOuts
from compozy.engine.outcomes import Branch, GateOpened, Lanes, LanesOpened, LoopBegun, Opening, PlanCalled
from compozy.engine.overlay import Edited
from compozy.engine.state import Cell, Exit, RunState
from compozy.engine.subgraphs import Gates, SubLoops
from compozy.language.compiled import FanOutSpec, Node

if TYPE_CHECKING:
    from compozy.engine.turn import Turn


class Blocks:
    """The frames and containers that are under way."""

    def __init__(self, turn: "Turn", state: RunState) -> None:
        self._turn = turn
        self.frames: Edited[Frame] = Edited(state.frames)
        self.containers: Edited[AnyContainer] = Edited(state.containers)
        self.bodies = Bodies(turn, self)
        self.fan_outs = FanOuts(turn, self)
        self.sub_loops = SubLoops(turn, self)
        self.gates = Gates(turn, self)

    def clear(self) -> None:
        """Nothing is under way any more."""
        self.frames.clear()
        self.containers.clear()

    def begin(self, frame: Frame) -> None:
        """Begin a frame; nodes that had ended before a load are taken as they are."""
        self.frames[frame.path] = frame
        for node in frame.block.nodes.values():
            cell = self._turn.cells.get(frame.path_of(node.id))
            if cell is not None and cell.is_final:
                self._take(frame, node, cell)
            elif node.outside or not (node.after or node.awaits):
                self._turn.queue.append((frame.path, node.id))
        if frame.ended == len(frame.block.nodes):
            self._turn.queue.append((frame.path, None))

    def ended(self, frame: Frame, node: Node, cell: Cell) -> None:
        """A node of a frame has ended: those after it may be ready, or the frame may be complete."""
        self._take(frame, node, cell)
        if frame.ended == len(frame.block.nodes):
            self.complete(frame)

    def _take(self, frame: Frame, node: Node, cell: Cell) -> None:
        """Take into a frame what one of its nodes came to."""
        frame.ended += 1
        self._record(frame, node, cell)
        self._tell(frame, node, cell)

    def _record(self, frame: Frame, node: Node, cell: Cell) -> None:
        if not node.id:
            return
        frame.scope = frame.plan.dialect.record(frame.scope, node.id, cell.status, cell.output)
        if isinstance(node.spec, FanOutSpec):
            frame.scope = self.fan_outs.recorded(frame, node, node.spec, cell)

    def _tell(self, frame: Frame, node: Node, cell: Cell) -> None:
        """Let the dependents of a node know, and consider those for which everything is decided."""
        for dependent in frame.block.dependents[node.id]:
            target = frame.block.nodes[dependent]
            known = self.arrivals_of(frame, target)
            edge = edge_of(node, cell, dependent) if node.id in target.after else "dead"
            live, forbidden = known.live or edge == "live", known.forbidden or edge == "forbidden"
            told = Arrivals(known.open - 1, live, forbidden)
            frame.arrivals = frame.arrivals.insert(dependent, told)
            if told.forbidden or not told.open:
                self._turn.queue.append((frame.path, dependent))

    def arrivals_of(self, frame: Frame, node: Node) -> Arrivals:
        """What the edges into a node say so far."""
        known = frame.arrivals.get(node.id)
        if known is not None:
            return known
        # Sources outside of a lane have ended: the fan-out has awaited them.
        edges = [self._edge_from_outside(frame, source, node) for source in node.outside]
        return Arrivals(len({*node.after, *node.awaits}), "live" in edges, "forbidden" in edges)

    def _edge_from_outside(self, frame: Frame, source: str, target: Node) -> Edge:
        """What the edge from a node of a surrounding block says: of the nearest that has it."""
        while frame.owner is not None:
            container = self.containers[frame.owner]
            frame = self.frames[container.frame]
            if source == container.node:
                return "live"
            if source in frame.block.nodes:
                cell = self._turn.cells.get(frame.path_of(source))
                return "dead" if cell is None else edge_of(frame.block.nodes[source], cell, target.id)
        return "dead"

    def place_of(self, path: str) -> tuple[Frame, Node] | None:
        """The frame and the node of a path that is under way."""
        alone = self.frames.get(path) if path else None
        if alone is not None and "" in alone.block.nodes:
            return alone, alone.block.nodes[""]
        prefix, _, node_id = path.rpartition("/")
        frame = self.frames.get(prefix)
        node = frame.block.nodes.get(node_id) if frame is not None else None
        return (frame, node) if frame is not None and node is not None else None

    def open(self, frame: Frame, node: Node, outcome: Opening) -> None:
        """Begin what a node's result is made of."""
        match outcome:
            case Branch() | Lanes() | PlanCalled():
                self.bodies.open(frame, node, outcome)
            case LanesOpened():
                self.fan_outs.open(frame, node, outcome)
            case LoopBegun():
                self.sub_loops.open(frame, node, outcome)
            case GateOpened():
                self.gates.open(frame, node, outcome)

    def complete(self, frame: Frame) -> None:
        """Every node of a frame has ended."""
        if frame.owner is None:
            self._turn.finish()
            return
        container = self.containers[frame.owner]
        match container:
            case Container():
                self.bodies.complete(container, frame)
            case FanOut():
                self.fan_outs.complete(container, frame)
            case SubLoop():
                self.sub_loops.complete(container, frame)
            case Gate():
                self.gates.complete(container, frame)

    def fail(self, frame: Frame, node: Node, reason: str, message: str) -> None:
        """A node in a frame has failed, and nobody has foreseen that."""
        container = self.containers[str(frame.owner)]
        match container:
            case Container():
                self.bodies.fail(container, frame, node, reason, message)
            case FanOut():
                self.fan_outs.fail(container, frame, node, reason, message)
            case SubLoop():
                self.sub_loops.fail(container, frame, node, reason, message)
            case Gate():
                self.gates.fail(frame)

    def exit_called_plan(self, frame: Frame, fired: Exit) -> None:
        """A gate has ended a plan that was called."""
        self.bodies.exit_called_plan(frame, fired)

    def cancel(self, frame: Frame, reason: str) -> None:
        """A frame and everything in it is taken away."""
        for node in frame.block.nodes.values():
            path = frame.path_of(node.id)
            cell = self._turn.cells.get(path)
            if cell is None or cell.is_final:
                continue
            container = self.containers.get(path)
            if container is not None:
                for inner in self.frames_of(container):
                    self.cancel(inner, reason)
                self.containers.discard(path)
            self._turn.cancel(path, cell, reason)
        self.frames.discard(frame.path)

    def give_up(self, path: str) -> None:
        """A node's time is up: whatever is under way for it is taken away."""
        container = self.containers[path]
        if isinstance(container, FanOut):
            self.fan_outs.give_up(container, TIMEOUT)
            return
        for frame in self.frames_of(container):
            self.cancel(frame, TIMEOUT)
        self.containers.discard(path)

    def frames_of(self, container: AnyContainer) -> list[Frame]:
        """The frames of a container that are under way."""
        match container:
            case FanOut():
                paths = [container.lane_path(index) for index in container.active]
            case SubLoop():
                paths = [container.lane_path(container.iteration)]
            case Gate():
                paths = [container.path]
            case Container():
                paths = list(self.bodies.frame_paths(container))
        return [frame for path in paths if (frame := self.frames.get(path)) is not None]

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
        return self.bodies.is_its_turn(path)
