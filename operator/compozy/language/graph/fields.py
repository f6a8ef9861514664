"""Reading one node of a graph: templates and conditions are compiled and what they refer to is checked."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from compozy.language.errors import LanguageError
from compozy.language.graph.condition import Condition, compile_condition
from compozy.language.graph.edges import Edges
from compozy.language.graph.template import GoTemplate, GoTemplateValue, compile_value, parse
from compozy.language.keys import type_name
from compozy.language.problems import Problem

ROOTS = frozenset({"inputs", "nodes", "generation"})
"""What templates and conditions may name."""


@dataclass(frozen=True, slots=True)
class Fields:
    """Where one node stands, and what its templates may refer to. `node` is empty for the plan's output."""

    node: str
    path: str
    edges: Edges
    input_schema: Mapping[str, Any] | None
    problems: list[Problem]

    def report(self, key: str, code: str, message: str) -> None:
        """Record a problem with a key of this node."""
        self.problems.append(Problem(f"{self.path}.{key}" if key else self.path, code, message))

    def text(self, value: Any, key: str) -> GoTemplate | None:
        """A template."""
        if not isinstance(value, str):
            self.report(key, "invalid_type", f"must be text, not {type_name(value)}")
            return None
        try:
            template = parse(value)
        except LanguageError as error:
            self.report(key, error.code, error.message)
            return None
        self._check(template.paths(), key)
        return template

    def value(self, value: Any, key: str) -> GoTemplateValue | None:
        """Any JSON value with templates in its strings."""
        try:
            compiled = compile_value(value)
        except LanguageError as error:
            self.report(key, error.code, error.message)
            return None
        self._check(compiled.paths(), key)
        return compiled

    def condition(self, value: Any, key: str) -> Condition | None:
        """A CEL expression that yields a boolean."""
        if not isinstance(value, str):
            self.report(key, "invalid_type", f"must be a CEL expression as text, not {type_name(value)}")
            return None
        try:
            condition = compile_condition(value)
        except LanguageError as error:
            self.report(key, error.code, error.message)
            return None
        self._check(condition.paths(), key)
        return condition

    def _check(self, paths: Iterable[tuple[str, ...]], key: str) -> None:
        for path in sorted(set(paths)):
            problem = self._reference(path)
            if problem is not None:
                self.report(key, *problem)

    def _reference(self, path: tuple[str, ...]) -> tuple[str, str] | None:
        match path:
            case ("nodes", name, *_):
                return self._node_reference(name)
            case ("inputs", name, *_):
                return self._input_reference(name)
            case (root, *_) if root not in ROOTS:
                return "unknown_reference", f"`{root}` is not known here; known: {', '.join(sorted(ROOTS))}"
        return None

    def _node_reference(self, name: str) -> tuple[str, str] | None:
        if not self.node:
            return None
        earlier = self.edges.before(self.node)
        if name in earlier and name != self.node:
            return None
        known = ", ".join(sorted(earlier - {self.node})) or "none"
        message = f"node `{name}` does not come before `{self.node}`; those that do: {known}"
        return "unknown_reference", message

    def _input_reference(self, name: str) -> tuple[str, str] | None:
        properties = (self.input_schema or {}).get("properties")
        open_ended = (self.input_schema or {}).get("additionalProperties", True) is not False
        if not isinstance(properties, Mapping) or name in properties or open_ended:
            return None
        known = ", ".join(sorted(properties)) or "none"
        return "unknown_reference", f"there is no input `{name}`; declared: {known}"
