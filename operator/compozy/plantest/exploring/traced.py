"""Templates and conditions that tell a tracer what becomes of them."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from compozy.language.compiled import Condition, Renderable, Scope, TextTemplate
from compozy.language.errors import LanguageError
from compozy.plantest.exploring.tracer import Place, Tracer
from compozy.plantest.exploring.unknown import Unknown, Watch, unwatched

T = TypeVar("T")
UNKNOWN_TEXT = "(unknown)"

Usable = Callable[[Any], tuple[str, str] | None]
"""Code and message of why a rendered value cannot be used; None where it can."""
Instead = Callable[[Any], Any]
"""What stands for a value that something unknown has gone into."""


def anything(value: Any) -> tuple[str, str] | None:  # noqa: ARG001 - takes whatever comes
    """Whatever comes of a template can be used."""
    return None


def itself(value: Any) -> Any:
    """What is unknown may stay so."""
    return value


@dataclass(frozen=True, slots=True)
class _Traced:
    place: Place
    field: str
    tracer: Tracer

    def evaluated(self, evaluate: Callable[[Scope], T], scope: Scope) -> tuple[T | None, bool]:
        """What evaluating comes to, and whether something unknown was looked at.

        None where that cannot be evaluated: it proves nothing. Raises LanguageError for any other failure.
        """
        self.tracer.entered(self.place)
        watch = Watch(scope)
        try:
            return evaluate(watch), watch.touched
        except LanguageError as error:
            if watch.touched:
                return None, True
            self.tracer.failed(self.place, self.field, error.code, error.message)
            raise


@dataclass(frozen=True, slots=True)
class TracedValue(_Traced):
    """A value with templates in it."""

    inner: Renderable
    usable: Usable = anything
    instead: Instead = itself

    def render(self, scope: Scope, /) -> Any:
        """The value in a scope. Raises RenderError."""
        value, touched = self.evaluated(self.inner.render, scope)
        if touched:
            return self.instead(Unknown() if value is None else unwatched(value))
        return checked(self, self.usable, unwatched(value))


@dataclass(frozen=True, slots=True)
class TracedText(_Traced):
    """A template whose result is text."""

    inner: TextTemplate
    usable: Usable = anything
    instead: Instead = itself

    def render_text(self, scope: Scope, /) -> str:
        """The text in a scope. Raises RenderError."""
        text, touched = self.evaluated(self.inner.render_text, scope)
        if touched or text is None:
            return str(self.instead(UNKNOWN_TEXT))
        return str(checked(self, self.usable, text))


@dataclass(frozen=True, slots=True)
class TracedCondition(_Traced):
    """Something that is true or false in a scope."""

    inner: Condition

    def test(self, scope: Scope, /) -> bool:
        """Whether it holds; with unknown data either way. Raises LanguageError."""
        holds, touched = self.evaluated(self.inner.test, scope)
        if touched or holds is None:
            holds = self.tracer.choose(self.place, self.field, ("true", "false")) == 0
        self.tracer.verdict(self.place, self.field, holds)
        return holds


def checked(traced: _Traced, usable: Usable, value: Any) -> Any:
    """A rendered value; why it cannot be used is told, and the engine fails by itself."""
    fault = usable(value)
    if fault is not None:
        traced.tracer.failed(traced.place, traced.field, *fault)
    return value
