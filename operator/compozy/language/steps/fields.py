"""Reading the input of a step: templates are compiled and what they refer to is checked."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from compozy.language.compiled import Renderable
from compozy.language.errors import LanguageError
from compozy.language.keys import read_keys, type_name
from compozy.language.problems import Problem
from compozy.language.steps.template import Template, TemplateValue, compile_value, parse


@dataclass(frozen=True, slots=True)
class Fields:
    """Where the input of one step stands, and what its templates may refer to."""

    step: str
    """Id of the step, for messages."""
    path: str
    roots: frozenset[str]
    """`input` and the ids of earlier steps."""
    problems: list[Problem]

    def at(self, key: str) -> str:
        """The path of a key of this input."""
        return f"{self.path}.{key}" if key else self.path

    def report(self, key: str, code: str, message: str) -> None:
        """Record a problem with a key of this input."""
        self.problems.append(Problem(self.at(key), code, message))

    def keys(self, data: Any, known: Collection[str], required: Collection[str]) -> dict[str, Any] | None:
        """The values by snake_case name; None where the input is not an object at all."""
        before = len(self.problems)
        values = read_keys(data, self.path, known, self.problems, required)
        return None if len(self.problems) > before and not values else values

    def text(self, value: Any, key: str) -> Template | None:
        """A text template."""
        if not isinstance(value, str):
            self.report(key, "invalid_type", f"must be text, not {type_name(value)}")
            return None
        try:
            template = parse(value)
        except LanguageError as error:
            self.report(key, error.code, error.message)
            return None
        self._check_roots(sorted(template.roots()), key)
        return template

    def template(self, value: Any, key: str) -> Renderable | None:
        """Any JSON value with templates in its strings."""
        return self.value(value, key)

    def value(self, value: Any, key: str) -> TemplateValue | None:
        """Like `template`, for callers that ask whether the value is static."""
        try:
            compiled = compile_value(value)
        except LanguageError as error:
            self.report(key, error.code, error.message)
            return None
        self._check_roots(sorted(compiled.roots()), key)
        return compiled

    def _check_roots(self, roots: list[str], key: str) -> None:
        for root in roots:
            if root not in self.roots:
                message = (
                    f"step {self.step} refers to `{root}`, which is neither `input` nor an earlier step; "
                    f"available: {', '.join(sorted(self.roots))}"
                )
                self.report(key, "unknown_reference", message)
