"""Values that conform to a schema, generated: the typical one first, then those at the edges.

Nothing is random: the same schema gives the same values.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, product
from math import prod
from typing import Any

from compozy.language.schema import SchemaInvalid, field_errors
from compozy.plantest.exploring.numbers import numbers
from compozy.plantest.exploring.texts import texts
from compozy.plantest.exploring.unknown import Unknown

MAX_VALUES = 64
"""The most values for one schema."""

_MAX_DEPTH = 6
_FEW_ITEMS = 5
_ABSENT = object()


@dataclass(frozen=True, slots=True)
class Hints:
    """Values that a plan compares with: an answer is more telling when it is one of them, or next to one."""

    texts: tuple[str, ...] = ()
    numbers: tuple[int | float, ...] = ()

    def with_values_of(self, data: Any) -> "Hints":
        """These and what stands in some data: an answer may be compared with an input."""
        scalars = list(_scalars(data))
        texts = [value for value in scalars if isinstance(value, str)]
        numbers = [value for value in scalars if isinstance(value, int | float) and not isinstance(value, bool)]
        return Hints(tuple(dict.fromkeys((*self.texts, *texts))), tuple(dict.fromkeys((*self.numbers, *numbers))))


def values_for(schema: Mapping[str, Any], hints: Hints = Hints()) -> list[Any]:
    """Up to `MAX_VALUES` different values that conform to a schema; empty where none could be made.

    An object without declared properties, and a part without any rule, is `Unknown`.
    """
    made = _Maker(schema, hints).values(schema, 0)
    return _first(value for value in made if not field_errors(schema, value))


def few_values_for(schema: Mapping[str, Any], hints: Hints = Hints()) -> list[Any]:
    """As `values_for`, but every value of each part only once, whatever stands beside it."""
    made = _Maker(schema, hints, combines=False).values(schema, 0)
    return _first(value for value in made if not field_errors(schema, value))


class _Maker:
    def __init__(self, root: Mapping[str, Any], hints: Hints, *, combines: bool = True) -> None:
        self._root = root
        self._hints = hints
        self._choose = _choices if combines else _covering

    def values(self, schema: Any, depth: int) -> list[Any]:
        """Candidates; those that do not conform after all are left out at the end."""
        if schema is True or schema == {} or depth > _MAX_DEPTH:
            return [Unknown()]
        if not isinstance(schema, Mapping):
            return []
        declared = self._joined(schema)
        if "const" in declared:
            return [declared["const"]]
        given = [declared["default"]] if "default" in declared else []
        examples = declared.get("examples")
        given += examples if isinstance(examples, list) else []
        if isinstance(declared.get("enum"), list):
            return [*given, *declared["enum"]]
        for key in ("oneOf", "anyOf"):
            if isinstance(declared.get(key), list):
                rest = {name: value for name, value in declared.items() if name not in ("oneOf", "anyOf")}
                return given + [
                    value for part in declared[key] for value in self.values(_merged(rest, part), depth + 1)
                ]
        return given + [value for kind in _types(declared) for value in self._of(kind, declared, depth)]

    def _joined(self, schema: Mapping[str, Any]) -> Mapping[str, Any]:
        """The schema with what it refers to, and with all that `allOf` demands."""
        declared: Mapping[str, Any] = schema
        for _ in range(_MAX_DEPTH):
            if isinstance(declared.get("$ref"), str):
                rest = {key: value for key, value in declared.items() if key != "$ref"}
                declared = _merged(rest, self._referred(declared["$ref"]))
            elif isinstance(declared.get("allOf"), list):
                parts = declared["allOf"]
                declared = {key: value for key, value in declared.items() if key != "allOf"}
                for part in parts:
                    declared = _merged(declared, part)
            else:
                break
        return declared

    def _referred(self, reference: str) -> Any:
        target: Any = self._root
        for segment in reference.removeprefix("#").split("/")[1:]:
            target = target.get(segment) if isinstance(target, Mapping) else None
        return target

    def _of(self, kind: str, schema: Mapping[str, Any], depth: int) -> list[Any]:
        match kind:
            case "boolean":
                return [True, False]
            case "integer" | "number":
                return numbers(schema, kind, self._hints.numbers)
            case "string":
                return texts(schema, self._hints.texts, self._hints.numbers)
            case "array":
                return self._lists(schema, depth)
            case "object":
                return self._objects(schema, depth)
        return [None]

    def _fitting(self, part: Any, depth: int) -> list[Any]:
        """Values for a part of the schema: one that does not conform would spoil the whole."""
        if not isinstance(part, Mapping):
            return _first(self.values(part, depth))
        shared = {key: self._root[key] for key in ("$defs", "definitions") if key in self._root}
        held_to = {**shared, **part}
        values = _first(self.values(part, depth))
        try:
            return [value for value in values if not field_errors(held_to, value)]
        except SchemaInvalid:  # it refers to something in the whole, which holds them in the end
            return values

    def _lists(self, schema: Mapping[str, Any], depth: int) -> list[Any]:
        fixed = schema.get("prefixItems")
        if isinstance(fixed, list):
            firsts = [self._fitting(part, depth + 1)[:1] for part in fixed]
            return [[value for first in firsts for value in first]]
        items = self._fitting(schema.get("items", {}), depth + 1)
        least, most = schema.get("minItems", 0), schema.get("maxItems", _FEW_ITEMS)
        near = [int(number) + more for number in self._hints.numbers for more in (0, 1) if number <= _FEW_ITEMS]
        bounds = (max(least, 1), least, least + 1, 2, most if most <= _FEW_ITEMS else least)
        lengths = dict.fromkeys((*bounds, *near))
        several = [_repeated(items, length) for length in lengths if least <= length <= most]
        return several + ([[item] for item in items] if least <= 1 <= most else [])

    def _objects(self, schema: Mapping[str, Any], depth: int) -> list[Any]:
        properties = schema.get("properties")
        needed = [name for name in schema.get("required", ()) if isinstance(name, str)]
        if not properties and not needed:
            return [{} if schema.get("additionalProperties") is False else Unknown()]
        declared = {**(properties or {}), **{name: {} for name in needed if name not in (properties or {})}}
        fields = {name: self._fitting(part, depth + 1) for name, part in declared.items()}
        made = {name: values for name, values in fields.items() if values}
        return [_object(chosen) for chosen in self._choose(made, needed)]


def _choices(fields: Mapping[str, list[Any]], needed: Sequence[str]) -> Iterable[dict[str, Any]]:
    """All fields at their first value; only those that are needed; each value of each field once; then every
    combination where these are few enough.
    """
    typical = {name: values[0] for name, values in fields.items()}
    yield typical
    yield {name: value for name, value in typical.items() if name in needed}
    options = {name: [*values, *([] if name in needed else [_ABSENT])] for name, values in fields.items()}
    for name, values in options.items():
        yield from ({**typical, name: value} for value in values)
    if prod(len(values) for values in options.values()) <= MAX_VALUES:
        yield from (dict(zip(options, chosen, strict=True)) for chosen in product(*options.values()))


def _covering(fields: Mapping[str, list[Any]], needed: Sequence[str]) -> Iterable[dict[str, Any]]:
    """As many objects as the field with the most values needs, and the one with what is needed alone."""
    for number in range(max((len(values) for values in fields.values()), default=1)):
        yield {name: values[number % len(values)] for name, values in fields.items()}
    yield {name: values[0] for name, values in fields.items() if name in needed}


def _object(chosen: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in chosen.items() if value is not _ABSENT}


def _types(schema: Mapping[str, Any]) -> list[str]:
    declared = schema.get("type")
    if isinstance(declared, str):
        return [declared]
    if isinstance(declared, list):
        return [kind for kind in declared if isinstance(kind, str)]
    if "properties" in schema or "required" in schema:
        return ["object"]
    if "items" in schema or "prefixItems" in schema:
        return ["array"]
    if "pattern" in schema or "format" in schema or "minLength" in schema or "maxLength" in schema:
        return ["string"]
    if any(key in schema for key in ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")):
        return ["number"]
    return ["string", "boolean", "number"]


def _merged(one: Mapping[str, Any], other: Any) -> Mapping[str, Any]:
    """Both schemas as one, as far as keywords of objects and plain ones go; the first wins."""
    if not isinstance(other, Mapping):
        return one
    merged = {**other, **one}
    if "properties" in one and "properties" in other:
        merged["properties"] = {**other["properties"], **one["properties"]}
    if "required" in one and "required" in other:
        merged["required"] = [*one["required"], *other["required"]]
    return merged


def _scalars(data: Any) -> Iterator[Any]:
    if isinstance(data, Mapping):
        for value in data.values():
            yield from _scalars(value)
    elif isinstance(data, list):
        for value in data:
            yield from _scalars(value)
    else:
        yield data


def _repeated(items: list[Any], length: int) -> list[Any]:
    return [items[index % len(items)] for index in range(length)] if items else []


def _first(values: Iterable[Any]) -> list[Any]:
    """The first different values."""
    return list(islice({_key(value): value for value in values}.values(), MAX_VALUES))


def _key(value: Any) -> str:
    return json.dumps(value, sort_keys=True, default=repr)
