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

UNREADABLE: Final = re.compile("[\0\ud800-\udfff]")
"""Characters that the library cannot take: zero, and halves of surrogate pairs."""


@dataclass(slots=True)
class ImportedData:
    """The part of a scope that a condition reads."""

    values: dict[str, Any] = field(default_factory=dict)
    size: int = 0
    """How many values and characters there are."""
    elements: int = 0
    """How many elements of lists and objects there are."""
    _sizes: dict[tuple[str, ...], int] = field(default_factory=dict)

    def add(self, path: tuple[str, ...], scope: Mapping[str, Json]) -> None:
        """Copy what lies at a path, or as much of the way to it as there is."""
        source: Mapping[str, Json] = scope
        target = self.values
        before = self.size
        for position, key in enumerate(path):
            if key not in source:
                break
            value = source[key]
            if position == len(path) - 1 or not isinstance(value, dict):
                target[key] = self._import(value, 0)
                break
            target = target.setdefault(key, {})
            source = value
        self._sizes[path] = self.size - before

    def cost(self, reads: Iterable[Read], max_iterations: int) -> int:
        """Estimate how many values and characters the reads of one evaluation touch."""
        return self.size + sum(
            self._size_of(read.path) * min(max(self.elements, 1) ** read.loops, max_iterations)
            for read in reads
            if read.loops
        )

    def _size_of(self, path: tuple[str, ...]) -> int:
        return next(
            self._sizes[path[:length]] for length in range(1, len(path) + 1) if path[:length] in self._sizes
        )

    def _import(self, value: Json, depth: int) -> Json:
        if depth > MAX_DEPTH:
            raise ValueError(f"the data nests deeper than {MAX_DEPTH} levels")
        self.size += 1
        if isinstance(value, str):
            return self._import_text(value)
        if isinstance(value, list):
            self.elements += len(value)
            return [self._import(element, depth + 1) for element in value]
        if isinstance(value, dict):
            self.elements += len(value)
            return {self._import_text(key): self._import(element, depth + 1) for key, element in value.items()}
        if isinstance(value, int) and not MIN_INT <= value <= MAX_INT:
            return _as_float(value)
        return value

    def _import_text(self, text: str) -> str:
        self.size += len(text)
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
