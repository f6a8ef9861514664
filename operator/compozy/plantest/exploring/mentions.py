"""Which steps and nodes can still look at what: the ids that stand in what their author wrote."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from compozy.engine.state import Cell, RunState
from compozy.language.compiled import (
    SOLVER,
    Block,
    CollectSpec,
    CompiledPlan,
    FanOutSpec,
    GateSpec,
    Node,
    Strategy,
    SubLoopSpec,
)

_WORD = re.compile(r"\w+")
_ANY_NODE = re.compile(r"\bnodes\b(?!\s*\.\s*\w)")
"""`nodes` without a name behind it: any of them may be meant."""
_ANY_INPUT = re.compile(r"\binputs?\b(?!\s*\.\s*\w)")
_EVERYTHING = "*"
_EVERY_INPUT = "* of inputs"


@dataclass(frozen=True, slots=True)
class Level:
    """The nodes of one block, and what stands in each of them."""

    block: Block
    words: Mapping[str, frozenset[str]]
    """By node: the words in it, and in the lanes that it opens."""
    inner: Mapping[str, "Level"]
    """By node: its own block."""

    known: dict[tuple[str, str], tuple[str, ...]] = field(default_factory=dict)
    """What `mentioning` has found so far."""

    def mentioning(self, name: str, besides: str = "") -> tuple[str, ...]:
        """The nodes in which a name stands, but for one."""
        found = self.known.get((name, besides))
        if found is None:
            found = self.known[name, besides] = tuple(
                node
                for node, words in self.words.items()
                if node not in (name, besides) and (name in words or _EVERYTHING in words)
            )
        return found


@dataclass(frozen=True, slots=True)
class Spot:
    """A node of a block under way."""

    frame: str
    """The path of the frame."""
    level: Level
    node: str


class Mentions:
    """What can still be looked at."""

    def __init__(self, plan: CompiledPlan, spec: Mapping[str, Any]) -> None:
        self._spec = spec
        self._is_graph = plan.dialect.name == "graph"
        self._top = self._level(plan.block)
        self._at_the_end = words_in(spec.get("output"))
        self._spots: dict[str, tuple[Spot, ...]] = {}

    def _level(self, block: Block) -> Level:
        inner = {}
        if self._is_graph:
            bodies = {name: getattr(node.spec, "body", None) for name, node in block.nodes.items()}
            inner = {name: self._level(body) for name, body in bodies.items() if body is not None}
        return Level(block, {name: self._in(node, inner.get(name)) for name, node in block.nodes.items()}, inner)

    def _in(self, node: Node, inner: Level | None) -> frozenset[str]:
        words = words_in(_fragment(self._spec, node))
        if isinstance(node.spec, CollectSpec):
            words |= {node.spec.fan_out}
        return words.union(*inner.words.values()) if inner is not None else words

    def spots(self, path: str) -> tuple[Spot, ...]:
        """Where a cell stands, the outermost block first; empty for a lane as a whole."""
        known = self._spots.get(path)
        if known is None:
            known = self._spots[path] = (
                tuple(self._found(path)) if self._is_graph else (Spot("", self._top, path),)
            )
        return known

    def _found(self, path: str) -> list[Spot]:
        level, frame, spots = self._top, "", list[Spot]()
        segments = path.split("/")
        for position, segment in enumerate(segments):
            is_last = position == len(segments) - 1
            name, _, lane = segment.partition(".")
            if lane and is_last:
                return []
            if not segment.isdecimal():
                spots.append(Spot(frame, level, name))
                level = level.inner.get(name, level)
            frame = f"{frame}/{segment}" if frame else segment
        return spots

    def matters(self, spots: tuple[Spot, ...], state: RunState) -> bool:
        """Whether the result of a node that has ended can still be looked at."""
        *around, own = spots
        if any(_is_unfinished(own.frame, name, state) for name in own.level.mentioning(own.node)):
            return True
        within = own
        for spot in reversed(around):
            is_open = _is_unfinished(spot.frame, spot.node, state)
            match spot.level.block.nodes[spot.node].spec:
                case FanOutSpec(strategy=Strategy(kind="race"), results=results):
                    if is_open and own.node in results:
                        return True
                case SubLoopSpec():
                    is_result = within is own and not own.level.block.dependents[own.node]
                    return within.frame in state.frames and (is_result or _stands_in(spot, own.node))
                case GateSpec():
                    return is_open
            others = spot.level.mentioning(own.node, besides=spot.node)
            if any(_is_unfinished(spot.frame, name, state) for name in others):
                return True
            within = spot
        return own.node in self._at_the_end or _EVERYTHING in self._at_the_end

    def leads_on(self, spot: Spot, state: RunState) -> bool:
        """Whether something that has not ended comes directly after a node."""
        dependents = spot.level.block.dependents.get(spot.node, ())
        return any(_is_unfinished(spot.frame, name, state) for name in dependents)

    def inputs(self, inputs: Mapping[str, Any], state: RunState) -> dict[str, Any]:
        """The inputs that can still be looked at."""
        words = set(self._at_the_end)
        for name, found in self._top.words.items():
            if _is_unfinished("", name, state):
                words |= found
        if _EVERY_INPUT in words:
            return dict(inputs)
        # A name that is no word cannot be found among words.
        return {name: value for name, value in inputs.items() if name in words or not _WORD.fullmatch(name)}


def _is_unfinished(frame: str, node: str, state: RunState) -> bool:
    if frame and frame not in state.frames:
        return False
    cell: Cell | None = state.cells.get(f"{frame}/{node}" if frame else node)
    return cell is None or not cell.is_final


def _stands_in(loop: Spot, name: str) -> bool:
    words = loop.level.words[loop.node]
    return name in words or _EVERYTHING in words


def _fragment(spec: Mapping[str, Any], node: Node) -> Any:
    """What the author wrote for a node."""
    if node.id == SOLVER:
        return spec.get("solver")
    value: Any = spec
    for name, index in re.findall(r"(\w+)|\[(\d+)\]", node.path):
        value = value[name] if name else value[int(index)]
    return value


def words_in(fragment: Any) -> frozenset[str]:
    """Every word that stands in the values of something that an author wrote."""
    texts = list(_texts(fragment))
    found = {word for text in texts for word in _WORD.findall(text)}
    if any(_ANY_NODE.search(text) for text in texts):
        found.add(_EVERYTHING)
    if any(_ANY_INPUT.search(text) for text in texts):
        found.add(_EVERY_INPUT)
    return frozenset(found)


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)
