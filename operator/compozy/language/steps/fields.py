"""Reading the input of a step: templates are compiled and what they refer to is checked."""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from compozy.language.compiled import InferSpec
from compozy.language.errors import JsonPath, LanguageError, format_path, name_keys
from compozy.language.keys import read_keys, type_name
from compozy.language.problems import Problem
from compozy.language.steps.context import Surroundings
from compozy.language.steps.gate import Gate, compile_gate
from compozy.language.steps.template import Template, TemplateValue, compile_value, parse

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Fields:
    """Where the input of one step stands, and what its templates may refer to."""

    step: str
    """Id of the step, or what stands for it, for messages."""
    path: str
    around: Surroundings

    @property
    def problems(self) -> list[Problem]:
        """Where problems go."""
        return self.around.problems

    def at(self, key: str) -> str:
        """The path of a key of this input."""
        return f"{self.path}{'' if not key or key.startswith('[') else '.'}{key}"

    def report(self, key: str, code: str, message: str) -> None:
        """Record a problem with a key of this input."""
        self.problems.append(Problem(self.at(key), code, message))

    def keys(self, data: Any, known: Collection[str], required: Collection[str]) -> dict[str, Any] | None:
        """The values by snake_case name; None where the input is not an object at all."""
        values = read_keys(data, self.path, known, self.problems, required)
        return values if isinstance(data, Mapping) else None

    def text(self, values: Mapping[str, Any], key: str, *bindings: str) -> Template | None:
        """A text template; None where the key is absent or wrong."""
        if key not in values:
            return None
        if not isinstance(values[key], str):
            self.report(key, "invalid_type", f"must be text, not {type_name(values[key])}")
            return None
        template = self._compiled(lambda: parse(values[key]), key)
        if template is not None:
            self._check_roots(dict.fromkeys(template.roots(), ((),)), key, bindings)
        return template

    def value(self, values: Mapping[str, Any], key: str) -> TemplateValue | None:
        """Any JSON value with templates in its strings; None where the key is absent or wrong."""
        if key and key not in values:
            return None
        data: Any = values[key] if key else values
        compiled = self._compiled(lambda: compile_value(data), key)
        if compiled is not None:
            self._check_roots(compiled.roots(), key, ())
        return compiled

    def gate(self, values: Mapping[str, Any], key: str, *bindings: str) -> Gate | None:
        """A `{value, op, to}` gate; None where the key is absent or wrong."""
        if key not in values:
            return None
        gate = self._compiled(lambda: compile_gate(values[key]), key)
        roots = gate.roots() if gate is not None else _roots_of(values[key])
        self._check_roots(roots, key, bindings)
        return gate

    def either_gate(self, values: Mapping[str, Any], key: str, *bindings: str) -> "Gate | InferSpec | None":
        """Exactly one of a gate under `key` and a question to a model under `infer`."""
        if (key in values) == ("infer" in values):
            self.report("", "gate_choice", f"write exactly one of `{key}` and `infer`")
            return None
        if key in values:
            return self.gate(values, key, *bindings)
        return self.infer(values, *bindings)

    def infer(self, values: Mapping[str, Any], *bindings: str) -> InferSpec | None:
        """A question to a model under `infer`, with the `model` that answers it."""
        question = self.text(values, "infer", *bindings)
        model = self.text(values, "model", *bindings)
        return InferSpec(question, model) if question is not None else None

    def count(self, values: Mapping[str, Any], key: str, default: int) -> int:
        """A whole number of at least one."""
        value = values.get(key, default)
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            self.report(key, "invalid_value", "must be a whole number of at least 1")
            return default
        return value

    def _compiled(self, build: Callable[[], T], key: str) -> T | None:
        try:
            return build()
        except LanguageError as error:
            self.report(_joined(key, error.path or ()), error.code, error.message)
            return None

    def _check_roots(self, roots: Mapping[str, Iterable[JsonPath]], key: str, bindings: tuple[str, ...]) -> None:
        for root in sorted(roots):
            if root in self.around.roots or root in bindings:
                continue
            known = name_keys(sorted(self.around.roots | set(bindings)))
            message = (
                f"step {self.step} refers to `{root}`, which is neither `input` nor an earlier step; "
                f"available: {known}"
            )
            for place in roots[root]:
                self.report(_joined(key, place), "unknown_reference", message)


def _joined(key: str, place: JsonPath) -> str:
    """The path of a place inside the value of a key."""
    inner = format_path(place)
    return f"{key}{'' if not key or not inner or inner.startswith('[') else '.'}{inner}"


def _roots_of(data: Any) -> Mapping[str, Iterable[JsonPath]]:
    """What the templates of a gate refer to that is wrong otherwise: one look finds every problem."""
    try:
        return compile_value(data).roots()
    except LanguageError:
        return {}
