"""Gates of the steps dialect: `{value, op, to}`, the condition of `exit`, `decide` and `filter`.

There is no and, or, not: several exits in a row say that. Values compare as JSON, so 1 and "1" differ.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from operator import ge, gt, le, lt
from typing import Final

from compozy.language.errors import GateError, GateSyntaxError, JsonPath, LanguageError, name_keys
from compozy.language.keys import type_name
from compozy.language.steps.template import TemplateValue, compile_value
from compozy.language.values import Json, is_number, json_equal

_KEYS: Final = ("value", "op", "to")


@dataclass(frozen=True, slots=True)
class Gate:
    """A comparison of two values, each of which may hold templates."""

    op: str
    _value: TemplateValue
    _to: TemplateValue

    def roots(self) -> Mapping[str, tuple[JsonPath, ...]]:
        """Return every name that must be in scope with the places (under `value` or `to`) that use it."""
        places: dict[str, tuple[JsonPath, ...]] = {}
        for key, operand in (("value", self._value), ("to", self._to)):
            for root, paths in operand.roots().items():
                places[root] = (*places.get(root, ()), *((key, *path) for path in paths))
        return places

    def test(self, scope: Mapping[str, Json]) -> bool:
        """Tell whether the gate holds.

        Raises `RenderError` when an operand cannot be rendered, and `GateError` when the operands do not suit
        the `op`: ordering is of numbers, `contains` is of text in text or of a value in a list.
        """
        return _OPERATIONS[self.op](self._value.render(scope), self._to.render(scope))


def compile_gate(data: Json) -> Gate:
    """Read a gate. `to` is null when absent.

    Raises `GateSyntaxError` for an unknown key, a missing one, an unknown `op`, or an ordering of something
    that is already known not to be a number; `TemplateSyntaxError` for a template that cannot be read.
    """
    if not isinstance(data, dict):
        raise GateSyntaxError(f"a gate is an object with value, op and to, not {type_name(data)}")
    for key in data:
        if key not in _KEYS:
            raise GateSyntaxError(f"unknown key {key}; a gate has value, op and to", path=(key,))
    for key in ("value", "op"):
        if key not in data:
            raise GateSyntaxError(f"the gate has no {key}; write it beside the others", path=(key,))
    op = data["op"]
    if not isinstance(op, str) or op not in _OPERATIONS:
        raise GateSyntaxError(f"unknown op {op!r:.60}; use one of {name_keys(_OPERATIONS)}", path=("op",))
    gate = Gate(op, _operand(data, "value"), _operand(data, "to"))
    if op in _ORDERINGS:
        _check_number(op, "value", gate._value)
        _check_number(op, "to", gate._to)
    return gate


def _operand(data: dict[str, Json], key: str) -> TemplateValue:
    try:
        return compile_value(data.get(key))
    except LanguageError as error:
        error.path = (key, *(error.path or ()))
        raise


def _check_number(op: str, key: str, operand: TemplateValue) -> None:
    if operand.is_static and not is_number(value := operand.render({})):
        raise GateSyntaxError(f"{op} compares numbers; {key} is {type_name(value)}", path=(key,))


def _ordering(op: str, compare: Callable[[float, float], bool]) -> Callable[[Json, Json], bool]:
    def ordered(value: Json, to: Json) -> bool:
        if isinstance(value, int | float) and isinstance(to, int | float) and is_number(value) and is_number(to):
            return compare(value, to)
        raise GateError(f"{op} compares numbers; value is {type_name(value)} and to is {type_name(to)}")

    return ordered


def _is_empty(value: Json) -> bool:
    return value is None or (isinstance(value, str | list | dict) and not value)


def _contains(value: Json, to: Json) -> bool:
    if isinstance(value, str) and isinstance(to, str):
        return to in value
    if isinstance(value, list):
        return any(json_equal(element, to) for element in value)
    raise GateError(
        f"contains looks for text in text or for a value in a list; value is {type_name(value)} "
        f"and to is {type_name(to)}"
    )


_ORDERINGS: Final[Mapping[str, Callable[[Json, Json], bool]]] = {
    "gt": _ordering("gt", gt),
    "lt": _ordering("lt", lt),
    "gte": _ordering("gte", ge),
    "lte": _ordering("lte", le),
}

_OPERATIONS: Final[Mapping[str, Callable[[Json, Json], bool]]] = {
    **_ORDERINGS,
    "eq": json_equal,
    "ne": lambda value, to: not json_equal(value, to),
    "empty": lambda value, _to: _is_empty(value),
    "not_empty": lambda value, _to: not _is_empty(value),
    "contains": _contains,
}
