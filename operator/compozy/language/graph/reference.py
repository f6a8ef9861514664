"""A path that an expression of the graph dialect reads; the lint checks each against what is declared."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Reference:
    """A path from the root of the scope, and where in the expression it stands, in characters from 0."""

    path: tuple[str, ...]
    offset: int
    tests: bool = False
    """Whether it only asks if the last key is there."""
