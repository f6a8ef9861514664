"""The parts of one step or node, wrapped so that they tell what becomes of them."""

from dataclasses import dataclass

from compozy.language.compiled import Condition, Renderable, TextTemplate
from compozy.plantest.exploring.traced import (
    Instead,
    TracedCondition,
    TracedText,
    TracedValue,
    Usable,
    anything,
    itself,
)
from compozy.plantest.exploring.tracer import Place, Tracer


@dataclass(frozen=True, slots=True)
class Parts:
    """Wraps what one step or node renders and tests."""

    place: Place
    tracer: Tracer

    def condition(self, name: str, inner: Condition) -> TracedCondition:
        """A condition."""
        return TracedCondition(self.place, name, self.tracer, inner)

    def maybe_condition(self, name: str, inner: Condition | None) -> TracedCondition | None:
        """A condition that need not be there."""
        return None if inner is None else self.condition(name, inner)

    def text(
        self, name: str, inner: TextTemplate, usable: Usable = anything, instead: Instead = itself
    ) -> TracedText:
        """A template whose result is text."""
        return TracedText(self.place, name, self.tracer, inner, usable, instead)

    def maybe_text(
        self, name: str, inner: TextTemplate | None, usable: Usable = anything, instead: Instead = itself
    ) -> TracedText | None:
        """A template whose result is text, that need not be there."""
        return None if inner is None else self.text(name, inner, usable, instead)

    def value(
        self, name: str, inner: Renderable, usable: Usable = anything, instead: Instead = itself
    ) -> TracedValue:
        """A value with templates in it."""
        return TracedValue(self.place, name, self.tracer, inner, usable, instead)

    def maybe_value(
        self, name: str, inner: Renderable | None, usable: Usable = anything, instead: Instead = itself
    ) -> TracedValue | None:
        """A value with templates in it, that need not be there."""
        return None if inner is None else self.value(name, inner, usable, instead)
