"""Maps that a turn changes without touching what it was given.

What a turn changes lies over a persistent base, so the work of a turn depends on what it touches, never on
how much there is.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Generic, Protocol, Self, TypeVar

from rpds import HashTrieMap

V = TypeVar("V")


class Overlay(Generic[V]):
    """A map under change."""

    def __init__(self, base: HashTrieMap[str, V]) -> None:
        self._base = base
        self._new: dict[str, V] = {}
        self._gone: set[str] = set()

    def get(self, key: str) -> V | None:
        """The value; None where there is none."""
        value = self._new.get(key)
        if value is not None or key in self._gone:
            return value
        return self._base.get(key)

    def __getitem__(self, key: str) -> V:
        value = self.get(key)
        if value is None:
            raise KeyError(key)
        return value

    def __contains__(self, key: str) -> bool:
        return self.get(key) is not None

    def __setitem__(self, key: str, value: V) -> None:
        self._new[key] = value
        if self._gone:
            self._gone.discard(key)

    def discard(self, key: str) -> None:
        """Take a key away, where it is there."""
        self._new.pop(key, None)
        if key in self._base:
            self._gone.add(key)

    def pop(self, key: str) -> V | None:
        """Take a key away; returns its value."""
        value = self.get(key)
        self.discard(key)
        return value

    def clear(self) -> None:
        """Take everything away."""
        self._base, self._new, self._gone = HashTrieMap(), {}, set()

    def __bool__(self) -> bool:
        return bool(self._new) or len(self._base) > len(self._gone)

    def __iter__(self) -> Iterator[str]:
        yield from (key for key in self._base if key not in self._new and key not in self._gone)
        yield from list(self._new)

    def items(self) -> Iterator[tuple[str, V]]:
        """Every key with its value."""
        return ((key, self[key]) for key in self)

    def frozen(self) -> HashTrieMap[str, V]:
        """The map as it is now."""
        frozen = self._base
        for key in self._gone:
            frozen = frozen.discard(key)
        if not self._new:
            return frozen
        return frozen.update(self._new) if frozen else HashTrieMap(self._new)


class Copied(Protocol):
    """Something that can go on without changing what it was made of."""

    def copied(self) -> Self:
        """A copy of its own."""


C = TypeVar("C", bound=Copied)


class Edited(Overlay[C]):
    """A map of things that change: each is copied the first time that a turn looks at it."""

    def get(self, key: str) -> C | None:
        """The turn's own copy; None where there is none."""
        value: C | None = self._new.get(key)
        if value is None and key not in self._gone:
            known = self._base.get(key)
            if known is not None:
                value = self._new[key] = known.copied()
        return value
