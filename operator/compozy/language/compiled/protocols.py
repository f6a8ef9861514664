"""What the engine needs of a dialect: templates, conditions, and how results are named in a scope."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Protocol, TypeAlias

from rpds import HashTrieMap

Scope = Mapping[str, Any]


Table: TypeAlias = "HashTrieMap[str, Any]"
"""A map that never changes; with one more entry it is another map that shares all the rest."""


class Renderable(Protocol):
    """A value with templates in it."""

    def render(self, scope: Scope, /) -> Any:
        """The value in a scope. Raises RenderError."""


class TextTemplate(Protocol):
    """A template whose result is text whatever it holds."""

    def render_text(self, scope: Scope, /) -> str:
        """The text in a scope. Raises RenderError."""


class Condition(Protocol):
    """Something that is true or false in a scope."""

    def test(self, scope: Scope, /) -> bool:
        """Whether it holds. Raises LanguageError where it cannot be decided."""


class Dialect(Protocol):
    """How a dialect names inputs and results."""

    @property
    def name(self) -> Literal["steps", "graph"]:
        """Which dialect it is."""

    @property
    def asks_in_turn(self) -> bool:
        """Whether questions are put one at a time, in item order."""

    def scope(self, inputs: Mapping[str, Any], generation: int) -> Table:
        """What templates and conditions see before anything has run."""

    def record(
        self, scope: Table, node: str, status: str, output: Any, items: Sequence[Mapping[str, Any]] | None = None
    ) -> Table:
        """The scope that also knows of a node that has ended; `items` are its lanes, in a fan-out."""
