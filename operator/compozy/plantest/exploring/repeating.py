"""What is asked in lane after lane, and in iteration after iteration, without trying every combination.

In the first lane everything is tried. After that a question is answered as it was the last time, or with one
answer for each way that answers were seen to open; after an answer that opens no way of its own only with the
typical one. From the fourth time on it is answered as the last time.
"""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field, replace
from typing import Generic, TypeVar

from compozy.engine.effects import Call, OpenRequest
from compozy.engine.frames import Container, FanOut, SubLoop
from compozy.engine.state import RunState

FREE_TIMES = 3
"""How often the same question is answered otherwise than the last time, in one run."""

P = TypeVar("P")


@dataclass(frozen=True, slots=True)
class Told:
    """How something was decided the last time."""

    root: str
    """The path of the outermost node that repeats it: when that has ended, all this is over."""
    times: int
    way: int
    """The number of what was chosen."""
    stands_alone: bool = True
    """Whether it opens a way of its own."""


Memory = Mapping[str, Told]


def root_of(path: str, state: RunState) -> str | None:
    """The outermost node around a path that does the same several times; None where there is none."""
    around = [
        container.path
        for container in state.containers.values()
        if _repeats(container) and path.startswith((f"{container.path}/", f"{container.path}."))
    ]
    return min(around, key=len, default=None)


def _repeats(container: object) -> bool:
    if isinstance(container, Container):
        return container.kind not in ("branch", "plan")
    if isinstance(container, SubLoop):
        return container.spec.stop_when is not None
    return isinstance(container, FanOut)


def what_repeats(effect: OpenRequest | Call, label: str) -> str:
    """What is asked or called again: other attempts of a call are calls of their own."""
    return f"{label} {effect.attempt}" if isinstance(effect, Call) else label


def still_known(memory: Memory, state: RunState) -> Memory:
    """The part of a memory that can still be asked for."""
    if all(told.root in state.containers for told in memory.values()):
        return memory
    return {name: told for name, told in memory.items() if told.root in state.containers}


def with_told(memory: Memory, name: str, told: Told) -> Memory:
    """The memory after one more decision."""
    before = memory.get(name)
    times = min(told.times + (before.times if before is not None else 0), FREE_TIMES)
    return {**memory, name: replace(told, times=times)}


@dataclass(slots=True)
class Ways(Generic[P]):
    """The ways that answers were seen to open, and the points at which each of them must be tried."""

    _by_sight: dict[str, dict[Hashable, int]] = field(default_factory=dict)
    _points: dict[str, list[P]] = field(default_factory=dict)

    def learn(self, name: str, number: int, sight: Hashable) -> list[P]:
        """An answer has led to something. Returns the points at which it must be tried as well."""
        seen = self._by_sight.setdefault(name, {})
        is_new = number not in seen.values() and sight not in seen
        seen.setdefault(sight, number)
        return list(self._points.get(name, ())) if is_new else []

    def stands_alone(self, name: str, number: int) -> bool:
        """Whether an answer is the one that stands for a way."""
        return number in self._by_sight.get(name, {}).values()

    def worth_trying(self, name: str, point: P, last: Told) -> list[int]:
        """The numbers of the answers to try at a point, that of the last time first."""
        if last.times >= FREE_TIMES:
            return [last.way]
        others = [0]
        if last.stands_alone:
            others = sorted(set(self._by_sight.get(name, {}).values()))
            self._points.setdefault(name, []).append(point)
        return list(dict.fromkeys([last.way, *others]))
