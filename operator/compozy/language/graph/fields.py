"""Reading one node of a graph: templates and conditions are compiled and what they refer to is checked."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from compozy.language.errors import JsonPath, LanguageError, format_path
from compozy.language.graph.cel_types import check_types
from compozy.language.graph.condition import Condition, compile_condition
from compozy.language.graph.places import Place, Setting, UnresolvedError
from compozy.language.graph.reference import Reference
from compozy.language.graph.shapes import TEXT, JsonType, Shape
from compozy.language.graph.template import GoTemplate, GoTemplateValue, compile_value, parse
from compozy.language.keys import read_keys, type_name
from compozy.language.problems import Problem


@dataclass(frozen=True, slots=True)
class Fields:
    """Where one node stands, and what its templates may refer to."""

    node: str
    """Empty for the plan's output."""
    path: str
    place: Place
    problems: list[Problem]

    @property
    def setting(self) -> Setting:
        """What holds for the whole plan."""
        return self.place.graph.setting

    @property
    def forward(self) -> tuple[str, ...]:
        """The nodes that an edge of this one leads to."""
        return self.place.graph.edges.out(self.node)

    def binding(self, names: Mapping[str, Shape]) -> "Fields":
        """The same node, with further names for its templates."""
        return replace(self, place=self.place.binding(names))

    def report(self, key: str, code: str, message: str) -> None:
        """Record a problem with a key of this node."""
        self.problems.append(Problem(join(self.path, key), code, message))

    def keys(
        self, data: Any, key: str, known: Collection[str], required: Collection[str] = (), refusal: str = ""
    ) -> dict[str, Any]:
        """The values of a mapping under their snake_case names; `refusal` is the code for other keys."""
        found: list[Problem] = []
        values = read_keys(data, join(self.path, key), known, found, required=required)
        for problem in found:
            refused = refusal and problem.code == "unknown_key"
            self.problems.append(replace(problem, code=refusal) if refused else problem)
        return values

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
        for reference in template.references():
            self._resolve(reference, key)
        return template

    def value(self, value: Any, key: str) -> GoTemplateValue | None:
        """Any JSON value with templates in its strings."""
        try:
            compiled = compile_value(value)
        except LanguageError as error:
            self.report(_below(key, error.path or ()), error.code, error.message)
            return None
        for path, reference in compiled.references():
            self._resolve(reference, _below(key, path))
        return compiled

    def condition(self, value: Any, key: str) -> Condition | None:
        """A CEL expression that yields a boolean."""
        if not isinstance(value, str):
            self.report(key, "invalid_type", f"must be a CEL expression as text, not {type_name(value)}")
            return None
        names = self.setting.lane_names
        try:
            condition = compile_condition(value, names)
            check_types(value, self._types(condition.references(), key), names)
        except LanguageError as error:
            self.report(key, error.code, error.message)
            return None
        return condition

    def shape_of(self, template: GoTemplate) -> Shape:
        """What is declared of the value of a template that has been checked."""
        if template.exact_path is None:
            return TEXT
        try:
            return self.place.resolve(template.exact_path)
        except UnresolvedError:
            return None

    def route(self, target: Any, key: str) -> str | None:
        """The destination of a way out: a node that an edge of this one leads to."""
        if target in self.forward:
            return str(target)
        message = f"must be a direct forward edge of `{self.node}`; add the edge or name one of them"
        self.report(key, "error_route_backward", message)
        return None

    def _types(self, references: Iterable[Reference], key: str) -> list[tuple[Reference, JsonType]]:
        """What is declared of everything that a condition reads."""
        typed = []
        for reference in references:
            shape = self._resolve(reference, key)
            kind = shape.json_type() if shape is not None and not reference.tests else None
            if kind is not None:
                typed.append((reference, kind))
        return typed

    def _resolve(self, reference: Reference, key: str) -> Shape:
        path = reference.path[:-1] if reference.tests else reference.path
        try:
            return self.place.resolve(path)
        except UnresolvedError as error:
            self.report(key, error.code, error.message)
            return None


def join(path: str, key: str) -> str:
    """The path of a key below another."""
    return f"{path}{'' if key.startswith('[') else '.'}{key}" if key else path


def _below(key: str, path: JsonPath) -> str:
    return join(key, format_path(path)) if key else format_path(path)
