"""The parts a steps template consists of."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias


class Length(Enum):
    """The `.length` operator; only ever the last segment of a path."""

    LENGTH = "length"


class LoopVariable(Enum):
    """What a section over a list says about the current element."""

    INDEX = "@index"
    FIRST = "@first"
    LAST = "@last"


Segment: TypeAlias = str | int | Length
"""A step of a path: an object key, a list position, or `length`."""

DataPath: TypeAlias = tuple[Segment, ...]
"""A dotted path, such as `("E0", "values", 0, "id")`."""

Reference: TypeAlias = DataPath | LoopVariable


@dataclass(frozen=True, slots=True)
class Text:
    """Text that is copied as it is."""

    text: str


@dataclass(frozen=True, slots=True)
class Variable:
    """`{{path}}`: a value."""

    reference: Reference


@dataclass(frozen=True, slots=True)
class Section:
    """`{{#path}}…{{/path}}`, or with `^` its inverse."""

    reference: Reference
    inverted: bool
    body: tuple[Node, ...]


Node: TypeAlias = Text | Variable | Section
