"""Handing data of a run to the CEL library.

The library crashes on values that nest very deep, cuts text at a zero character, and refuses an object for
one number anywhere inside that does not fit 64 bits. So only what a condition reads is handed over, and it
is checked.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from compozy.language.graph.cel_analysis import Read
from compozy.language.values import MAX_DEPTH, Json

MIN_INT: Final = -(2**63)
MAX_INT: Final = 2**63 - 1
_CHARACTERS_OF_ONE_VALUE: Final = 16

UNREADABLE: Final = re.compile("[\0\ud800-\udfff]")
"""Characters that the library cannot take: zero, and halves of surrogate pairs."""


@dataclass(slots=True)
class ImportedData:
    """The part of a scope that a condition reads."""

    values: dict[str, Any] = field(default_factory=dict)
    count: int = 0
    """How many values there are, those inside others included."""
    characters: int = 0
    """How long all texts are together."""
    longest: int = 1
    """How many elements the longest list or object has."""
    _weights: dict[tuple[str, ...], int] = field(default_factory=dict)

    def add(self, path: tuple[str, ...], scope: Mapping[str, Json]) -> None:
        """Copy what lies at a path, or as much of the way to it as there is."""
        source: Mapping[str, Json] = scope
        target = self.values
        before = self._weight()
        for position, key in enumerate(path):
            if key not in source:
                break
            value = source[key]
            if position == len(path) - 1 or not isinstance(value, Mapping):
                target[key] = self._import(value, 0)
                break
            target = target.setdefault(key, {})
            source = value
        self._weights[path] = self._weight() - before

    def cost(self, reads: Iterable[Read], max_iterations: int) -> int:
        """Estimate the work of one evaluation: the weight of everything read, as often as it may be read.

        A value weighs 1, and text a sixteenth of its length, since comparing text is fast.
        """
        return sum(self._weight_of(read.path) * self._iterations(read.loops, max_iterations) for read in reads)

    def _iterations(self, loops: int, most: int) -> int:
        iterations = 1
        for _ in range(loops):
            iterations = min(iterations * self.longest, most)
        return iterations

    def _weight(self) -> int:
        return self.count + self.characters // _CHARACTERS_OF_ONE_VALUE

    def _weight_of(self, path: tuple[str, ...]) -> int:
        covering = (path[:length] for length in range(1, len(path) + 1))
        return next(self._weights[source] for source in covering if source in self._weights)

    def _import(self, value: Json, depth: int) -> Json:
        if depth > MAX_DEPTH:
            raise ValueError(f"the data nests deeper than {MAX_DEPTH} levels")
        self.count += 1
        if isinstance(value, str):
            return self._import_text(value)
        if isinstance(value, list):
            self.longest = max(self.longest, len(value))
            return [self._import(element, depth + 1) for element in value]
        if isinstance(value, Mapping):
            self.longest = max(self.longest, len(value))
            return {self._import_text(key): self._import(element, depth + 1) for key, element in value.items()}
        if isinstance(value, int) and not MIN_INT <= value <= MAX_INT:
            return _as_float(value)
        return value

    def _import_text(self, text: str) -> str:
        self.characters += len(text)
        return text if text.isascii() and "\0" not in text else UNREADABLE.sub("\ufffd", text)


def import_data(scope: Mapping[str, Json], paths: Sequence[tuple[str, ...]]) -> ImportedData:
    """Copy what lies at `paths`, none of which may lie below another.

    Whole numbers beyond 64 bits become floating-point numbers, and characters that the library cannot take
    become U+FFFD. Raises `ValueError` for data that nests too deep or holds a number beyond all range.
    """
    data = ImportedData()
    for path in paths:
        data.add(path, scope)
    return data


def _as_float(number: int) -> float:
    try:
        return float(number)
    except OverflowError:
        raise ValueError("the data holds a number that is too large") from None
