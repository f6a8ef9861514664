"""The parts a Go template consists of, as the parser builds them.

Variables are resolved while parsing: every declaration has a slot of its own, so that a rendering is an
array of slots and nothing has to be searched for by name.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from compozy.language.graph.template.tokens import Literal

ROOT_SLOT = 0
"""The slot of `$`, the scope that the template is rendered over."""


@dataclass(frozen=True, slots=True)
class Field:
    """`.a.b`: a path from the dot."""

    names: tuple[str, ...]
    offset: int


@dataclass(frozen=True, slots=True)
class Variable:
    """`$x` or `$x.a.b`; `$` itself is `ROOT_SLOT`."""

    name: str
    slot: int
    names: tuple[str, ...]
    offset: int


@dataclass(frozen=True, slots=True)
class Chain:
    """`(pipeline).a.b`: a path from the result of something."""

    base: Operand
    names: tuple[str, ...]
    offset: int


@dataclass(frozen=True, slots=True)
class Dot:
    """`.`: the current value."""

    offset: int


@dataclass(frozen=True, slots=True)
class Constant:
    """A literal, or `nil`."""

    value: Literal | None
    text: str
    offset: int


@dataclass(frozen=True, slots=True)
class Call:
    """A function with its arguments, which may be none; in a later stage of a pipeline one more is piped in."""

    function: str
    arguments: tuple[Operand, ...]
    offset: int


@dataclass(frozen=True, slots=True)
class Declaration:
    """A variable on the left of a pipeline."""

    name: str
    slot: int


@dataclass(frozen=True, slots=True)
class Pipeline:
    """Stages joined by `|`; the result of each is the last argument of the next, so all but the first are calls.

    `declarations` receive the result; with `assigns` they were declared before.
    """

    first: Operand
    calls: tuple[Call, ...]
    declarations: tuple[Declaration, ...]
    assigns: bool
    offset: int


Operand: TypeAlias = Field | Variable | Chain | Dot | Constant | Call | Pipeline


@dataclass(frozen=True, slots=True)
class Text:
    """Text that is copied as it is."""

    text: str


@dataclass(frozen=True, slots=True)
class Action:
    """`{{ pipeline }}`: prints the result, unless it declares variables."""

    pipeline: Pipeline


@dataclass(frozen=True, slots=True)
class Branch:
    """One way of an `if` or `with`: its condition and what to render when that is true."""

    condition: Pipeline
    body: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """`if` or `with`; the first branch that is true is rendered, else `otherwise`.

    With `sets_dot` (a `with`) the condition becomes the dot of the body.
    """

    branches: tuple[Branch, ...]
    otherwise: tuple[Node, ...]
    sets_dot: bool


@dataclass(frozen=True, slots=True)
class Range:
    """`range`: renders the body for each element, or `otherwise` when there is none."""

    source: Pipeline
    body: tuple[Node, ...]
    otherwise: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Jump:
    """`break` or, with `again`, `continue`."""

    again: bool


Node: TypeAlias = Text | Action | Choice | Range | Jump
