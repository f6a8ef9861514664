"""When two runs stand at the same point with the same data, one of them need not go on.

Only what the steps that have not ended can still look at counts: a step whose id stands in none of them has a
result that makes no difference any more.
"""

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

from rpds import HashTrieSet

from compozy.engine.state import Cell, RunState
from compozy.language.compiled import SOLVER, CompiledPlan, Node

_WORD = re.compile(r"\w+")
_ANY_NODE = re.compile(r"\bnodes\b(?!\s*\.\s*\w)")
"""`nodes` without a name behind it: any of them may be meant."""

_UNCHANGING = ("block", "spec")


class Mentions:
    """Which steps stand in which other steps of a plan."""

    def __init__(self, plan: CompiledPlan, spec: Mapping[str, Any]) -> None:
        self._ids = list(plan.nodes)
        self._after: dict[str, set[str]] = {node_id: set() for node_id in self._ids}
        self._at_the_end: set[str] = set()
        for node in plan.nodes.values():
            for mentioned in self._in(_fragment(spec, node)):
                self._after[mentioned].add(node.id)
        self._at_the_end |= self._in(spec.get("output"))

    def _in(self, fragment: Any) -> set[str]:
        texts = list(_texts(fragment))
        if any(_ANY_NODE.search(text) for text in texts):
            return set(self._ids)
        return {word for text in texts for word in _WORD.findall(text)} & self._after.keys()

    def matters(self, node_id: str, cells: Mapping[str, Cell]) -> bool:
        """Whether the result of a step that has ended can still be looked at."""
        if node_id in self._at_the_end:
            return True
        return any(other not in cells or not cells[other].is_final for other in self._after.get(node_id, ()))


def _fragment(spec: Mapping[str, Any], node: Node) -> Any:
    """What the author wrote for a node."""
    if node.id == SOLVER:
        return spec.get("solver")
    value: Any = spec
    for name, index in re.findall(r"(\w+)|\[(\d+)\]", node.path):
        value = value[name] if name else value[int(index)]
    return value


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)


def fingerprint(state: RunState, waiting: Sequence[str], start: int, mentions: Mentions) -> bytes:
    """The same for two states from which runs go on alike."""
    cells = {
        path: [cell.status, cell.route, cell.output if "/" in path or mentions.matters(path, state.cells) else 0]
        for path, cell in state.cells.items()
    }
    containers = {path: _plain(container) for path, container in state.containers.items()}
    frames = {path: frame.scope for path, frame in state.frames.items() if path}
    everything = _plain((start, waiting, cells, containers, frames, state.asking, sorted(state.questions)))
    return hashlib.blake2b(repr(everything).encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _plain(value: Any) -> Any:
    """The same text for the same data: entries of maps and members of sets in order."""
    if isinstance(value, Mapping):
        return [(key, _plain(value[key])) for key in sorted(value)]
    if isinstance(value, HashTrieSet):
        return sorted(value)
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if is_dataclass(value):
        return [_plain(getattr(value, member.name)) for member in fields(value) if member.name not in _UNCHANGING]
    return value
