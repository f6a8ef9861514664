"""Sub-loops and gates: nodes with a small graph of their own."""

from typing import TYPE_CHECKING, Any

from compozy.engine.codes import CAP_REACHED, UNDECIDED
from compozy.engine.frames import Frame, Gate, SubLoop
from compozy.engine.kinds.gate import judged
from compozy.engine.outcomes import Failed, GateOpened, LoopBegun, Outcome, Succeeded
from compozy.language.compiled import GateSpec, Node
from compozy.language.errors import LanguageError

if TYPE_CHECKING:
    from compozy.engine.blocks import Blocks
    from compozy.engine.turn import Turn


class SubLoops:
    """The sub-loops that are under way."""

    def __init__(self, turn: "Turn", blocks: "Blocks") -> None:
        self._turn = turn
        self._blocks = blocks

    def open(self, frame: Frame, node: Node, outcome: LoopBegun) -> None:
        """Begin a body for the first time."""
        path = frame.path_of(node.id)
        self._blocks.containers[path] = SubLoop(path, frame.path, node.id, outcome.spec)
        self._begin(self._blocks.containers[path], None)  # type: ignore[arg-type]

    def _begin(self, loop: SubLoop, previous: Any) -> None:
        owner = self._blocks.frames[loop.frame]
        again = loop.spec.stop_when is not None
        scope = owner.scope.insert("previous", previous) if previous is not None else owner.scope
        lane = loop.iteration if again else None
        path = loop.lane_path(loop.iteration)
        self._blocks.begin(Frame(path, loop.spec.body, owner.plan, scope, None, loop.path, lane, owner.plans))

    def complete(self, loop: SubLoop, frame: Frame) -> None:
        """Every node of a body has ended: that is the result, or it begins again."""
        output = {
            node_id: self._turn.cells[frame.path_of(node_id)].output
            for node_id in frame.block.nodes
            if not frame.block.dependents[node_id]
        }
        self._blocks.frames.discard(frame.path)
        try:
            stops = loop.spec.stop_when is None or loop.spec.stop_when.test(frame.view)
        except LanguageError as error:
            self._give(loop, Failed(UNDECIDED, f"stop_when `{loop.spec.stop_source}`: {error.message}"))
            return
        done = loop.iteration + 1
        if stops:
            self._give(loop, Succeeded({"iterations": done, "output": output}))
        elif done == loop.spec.iteration_cap:
            told = f"`{loop.spec.stop_source}` does not hold after {done} iterations"
            self._give(loop, Failed(CAP_REACHED, told))
        else:
            loop.iteration = done
            self._begin(loop, output)

    def fail(self, loop: SubLoop, frame: Frame, node: Node, reason: str, message: str) -> None:
        """A node of a body has failed: so has the sub-loop."""
        self._blocks.cancel(frame, "sub_loop_failed")
        self._give(loop, Failed(reason, f"node {node.id} ({node.spec.kind}): {message}"))

    def _give(self, loop: SubLoop, outcome: Outcome) -> None:
        self._blocks.containers.discard(loop.path)
        frame = self._blocks.frames[loop.frame]
        self._turn.take(frame, frame.block.nodes[loop.node], outcome)


class Gates:
    """The gates that are under way."""

    def __init__(self, turn: "Turn", blocks: "Blocks") -> None:
        self._turn = turn
        self._blocks = blocks

    def open(self, frame: Frame, node: Node, outcome: GateOpened) -> None:
        """Look into every criterion."""
        path = frame.path_of(node.id)
        self._blocks.containers[path] = Gate(path, frame.path, node.id)
        self._blocks.begin(Frame(path, outcome.spec.body, frame.plan, frame.scope, None, path, None, frame.plans))

    def fail(self, frame: Frame) -> None:
        """What a criterion cannot find out is for the gate to judge."""
        frame.ended += 1
        if frame.ended == len(frame.block.nodes):
            self._turn.queue.append((frame.path, None))

    def complete(self, gate: Gate, frame: Frame) -> None:
        """Every criterion has come to something."""
        outer = self._blocks.frames[gate.frame]
        node = outer.block.nodes[gate.node]
        spec = node.spec
        assert isinstance(spec, GateSpec)  # noqa: S101 - a gate is a gate
        cells = {node_id: self._turn.cells[frame.path_of(node_id)] for node_id in frame.block.nodes}
        self._blocks.frames.discard(frame.path)
        self._blocks.containers.discard(gate.path)
        self._turn.take(outer, node, judged(spec, cells, self._turn.state.revisions))
