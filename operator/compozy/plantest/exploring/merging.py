"""When two runs stand at the same point with the same data, one of them need not go on.

Only what has not ended can still look at something: a step whose id stands in nothing of that has a result that
makes no difference any more. Of lanes that have ended only their number counts then, whichever they are.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import fields
from datetime import datetime
from typing import Any

from rpds import HashTrieSet

from compozy.engine.frames import AnyContainer, FanOut, Gate, SubLoop
from compozy.engine.state import Cell, RunState
from compozy.engine.times import parse_timestamp
from compozy.language.compiled import BranchSpec, CompiledPlan, FanOutSpec
from compozy.plantest.exploring.mentions import Mentions, Spot
from compozy.plantest.exploring.unknown import Unknown

_UNCHANGING = ("block", "spec")
_UNKNOWN = "unknown"


class Marks:
    """Tells runs apart by what decides how they go on."""

    def __init__(self, plan: CompiledPlan, spec: Mapping[str, Any]) -> None:
        self._is_graph = plan.dialect.name == "graph"
        self._mentions = Mentions(plan, spec)

    def of(self, state: RunState, waiting: Sequence[str], now: datetime, memory: Any) -> bytes:
        """The same for two states from which runs go on alike.

        Args:
            state: where a run stands.
            waiting: the paths that wait for something, in the order in which that comes.
            now: the time.
            memory: what else decides which ways are followed.
        """
        everything = (
            state.attended,
            self._mentions.inputs(state.inputs, state) if not isinstance(state.inputs, Unknown) else 0,
            state.generation,
            waiting,
            memory,
            self._cells(state, now),
            {path: self._container(container, state) for path, container in state.containers.items()},
            {} if self._is_graph else {path: frame.scope for path, frame in state.frames.items() if path},
            state.asking,
            sorted(state.questions),
        )
        text = repr(_plain(everything)).encode("utf-8", "surrogatepass")
        return hashlib.blake2b(text, digest_size=16).digest()

    def _cells(self, state: RunState, now: datetime) -> dict[str, Any]:
        content = self._in_graph if self._is_graph else self._in_steps
        found = ((path, content(path, cell, state, now)) for path, cell in state.cells.items())
        return {path: told for path, told in found if told is not None}

    def _in_steps(self, path: str, cell: Cell, state: RunState, now: datetime) -> Any:  # noqa: ARG002
        counts = "/" in path or self._mentions.matters(self._mentions.spots(path), state)
        return cell.status, cell.route, cell.output if counts else 0

    def _in_graph(self, path: str, cell: Cell, state: RunState, now: datetime) -> Any:
        spots = self._mentions.spots(path)
        if not spots:
            return None
        if not cell.is_final:
            return cell.status, cell.attempt, _left(cell, now), cell.left
        own = spots[-1]
        way = _way(own, cell) if self._mentions.leads_on(own, state) else None
        seen = (cell.status, _output(own, cell)) if self._mentions.matters(spots, state) else None
        return None if way is None and seen is None else (way, seen)

    def _container(self, container: AnyContainer, state: RunState) -> Any:
        match container:
            case FanOut():
                lanes = container.lanes, container.following, container.active
                return lanes, container.succeeded, container.failed
            case SubLoop():
                frame = state.frames[container.lane_path(container.iteration)]
                return container.iteration, frame.scope["previous"]
            case Gate():
                return ()
        return container


def _left(cell: Cell, now: datetime) -> Any:
    """How long until a node goes on by itself, and since when it has been under way."""
    if cell.until is None:
        return None
    began = None if cell.started_at is None else str(now - parse_timestamp(cell.started_at))
    return str(parse_timestamp(cell.until) - now), began


def _way(spot: Spot, cell: Cell) -> Any:
    """What decides over the edges out of a node."""
    is_branch = isinstance(spot.level.block.nodes[spot.node].spec, BranchSpec)
    return cell.status, cell.route, cell.output if is_branch else None


def _output(spot: Spot, cell: Cell) -> Any:
    """What others see of a node. Why a lane has failed is for people alone."""
    if isinstance(spot.level.block.nodes[spot.node].spec, FanOutSpec) and cell.output is not None:
        return {key: value for key, value in cell.output.items() if key != "failure"}
    return cell.output


def _plain(value: Any) -> Any:
    """The same text for the same data: entries of maps and members of sets in order."""
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, Unknown):
        return _UNKNOWN, [(key, _plain(value[key])) for key in sorted(value)]
    if isinstance(value, Mapping):
        return [(key, _plain(value[key])) for key in sorted(value)]
    if isinstance(value, HashTrieSet):
        return sorted(value)
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return [_plain(getattr(value, member.name)) for member in fields(value) if member.name not in _UNCHANGING]
