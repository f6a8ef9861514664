"""What the reference speaks of: expressions, cells, lanes, decisions, ends."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from support.reference.scope import Scope

NEVER = math.inf
Place = tuple[tuple[str, int], ...]
"""The lanes around a cell, outermost first: fan-out and source index."""


@dataclass(frozen=True)
class Expression:
    """The text of an expression, and what it means: a function that raises where the text is an error."""

    text: str
    value: Callable[[Scope], Any]

    def __repr__(self) -> str:
        return f"<{self.text}>"


class UndecidedError(Exception):
    """An expression has no value; the text is the code with which its node fails."""


@dataclass(frozen=True)
class Cell:
    """What becomes of a node, in one lane or in none."""

    begun: float = NEVER
    ended: float = NEVER
    status: str = "Open"
    """How it has ended. `Stopped` is a cell that ends the whole run."""
    output: Any = None
    route: str | None = None
    reason: str | None = None
    diverted: bool = False
    """Whether `route` was taken for want of an answer or after a failure."""
    phase: str | None = None
    """Of `Stopped`: how the run ends."""


class Lane(NamedTuple):
    """What becomes of a lane by itself."""

    ended: float
    succeeded: bool


class Decision(NamedTuple):
    """When and how a fan-out is decided."""

    at: float
    met: bool
    partial: bool
    succeeded: int
    failed: int
    winner: int | None


class Shown(NamedTuple):
    """A cell as a status shows it."""

    status: str
    output: Any = None
    route: str | None = None


class End(NamedTuple):
    """When a run ends, the ways in which it may, and the nodes that end it."""

    at: float
    ways: set[tuple[str, str | None]]
    """Phase and reason. Several where one event ends the run in several places at once."""
    causes: set[str]
    """Paths."""
    early: bool
    """Whether it ends before every node has."""


def lets_on(cell: Cell) -> bool:
    """Whether others may go on after a cell: it has ended, and has not taken its lane or run with it."""
    return cell.status in ("Succeeded", "Skipped")
