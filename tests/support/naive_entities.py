"""A second reading of `x-compozy-kind`, in the words of JSON Schema: annotations of a schema that holds.

Evaluating a schema tells at once whether the value conforms, what was evaluated of it, and which entities it
names; a part that does not hold takes its annotations with it. Slow, and written apart from the product.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

KIND = "x-compozy-kind"


@dataclass
class Told:
    """What evaluating one schema for one value has come to."""

    holds: bool = True
    names: set[tuple[str, str, str]] = field(default_factory=set)
    """Dotted path, kind and value."""
    properties: set[str] = field(default_factory=set)
    items: set[int] = field(default_factory=set)

    def take(self, other: Told, *, in_place: bool) -> None:
        """Add what a part that holds has told."""
        self.names |= other.names
        if in_place:
            self.properties |= other.properties
            self.items |= other.items


def named(schema: Any, value: Any) -> set[tuple[str, str, str]] | None:
    """The entities that a value names; None where it does not conform."""
    told = evaluate(schema, schema, value, "")
    return told.names if told.holds else None


def evaluate(root: Any, schema: Any, value: Any, path: str) -> Told:
    told = Told()
    if isinstance(schema, bool):
        told.holds = schema
        return told
    if not _asserts(schema, value):
        told.holds = False
        return told
    if KIND in schema and "enum" not in schema:
        told.names.add((path or "payload", schema[KIND], repr(value)))
    if not (
        _applies_in_place(root, schema, value, path, told) and _applies_below(root, schema, value, path, told)
    ):
        return Told(holds=False)
    return told


def _asserts(schema: Any, value: Any) -> bool:
    """The keywords that look at nothing but the value itself."""
    types = {"string": str, "object": dict, "array": list, "null": type(None), "integer": int}
    return (
        ("type" not in schema or isinstance(value, types[schema["type"]]))
        and ("enum" not in schema or value in schema["enum"])
        and ("const" not in schema or value == schema["const"])
        and ("minLength" not in schema or not isinstance(value, str) or len(value) >= schema["minLength"])
        and ("maxLength" not in schema or not isinstance(value, str) or len(value) <= schema["maxLength"])
        and all(name in value for name in schema.get("required", []) if isinstance(value, dict))
    )


def _applies_in_place(root: Any, schema: Any, value: Any, path: str, told: Told) -> bool:
    def judged(part: Any) -> Told:
        return evaluate(root, part, value, path)

    musts = [*schema.get("allOf", [])]
    if "$ref" in schema:
        musts.append(root["$defs"][schema["$ref"].rsplit("/", 1)[1]] if schema["$ref"] != "#" else root)
    if isinstance(value, dict):
        musts += [part for name, part in schema.get("dependentSchemas", {}).items() if name in value]
    if "if" in schema:
        condition = judged(schema["if"])
        if condition.holds:
            told.take(condition, in_place=True)
        musts.append(schema.get("then" if condition.holds else "else", True))
    results = [judged(part) for part in musts]
    for keyword, fits in (("anyOf", lambda count: count >= 1), ("oneOf", lambda count: count == 1)):
        if keyword in schema:
            branches = [branch for branch in map(judged, schema[keyword]) if branch.holds]
            if not fits(len(branches)):
                return False
            results += branches
    if "not" in schema and judged(schema["not"]).holds:
        return False
    for result in results:
        told.take(result, in_place=True)
    return all(result.holds for result in results)


def _applies_below(root: Any, schema: Any, value: Any, path: str, told: Told) -> bool:
    parts: list[Told] = []

    def apply(part: Any, child: Any, segment: Any, *, must_hold: bool = True) -> Told:
        result = evaluate(root, part, child, f"{path}.{segment}" if path else str(segment))
        if must_hold or result.holds:
            parts.append(result)
        return result

    if isinstance(value, dict):
        _below_object(schema, value, told, apply)
    if isinstance(value, list) and not _below_list(schema, value, told, apply):
        return False
    for part in parts:
        told.take(part, in_place=False)
    return all(part.holds for part in parts)


def _below_object(schema: Any, value: Any, told: Told, apply: Any) -> None:
    mine: set[str] = set()
    for name, child in value.items():
        if "propertyNames" in schema:
            apply(schema["propertyNames"], name, name)
        matching = [
            part for pattern, part in schema.get("patternProperties", {}).items() if re.search(pattern, name)
        ]
        if name in schema.get("properties", {}):
            matching.append(schema["properties"][name])
        if not matching and "additionalProperties" in schema:
            matching.append(schema["additionalProperties"])
        for part in matching:
            apply(part, child, name)
            mine.add(name)
    told.properties |= mine
    if "unevaluatedProperties" in schema:
        for name in set(value) - told.properties:
            apply(schema["unevaluatedProperties"], value[name], name)
        told.properties |= set(value)


def _below_list(schema: Any, value: Any, told: Told, apply: Any) -> bool:
    prefix = schema.get("prefixItems", [])
    for index, child in enumerate(value):
        if index < len(prefix):
            apply(prefix[index], child, index)
            told.items.add(index)
        elif "items" in schema:
            apply(schema["items"], child, index)
            told.items.add(index)
    if "contains" in schema:
        held = [
            apply(schema["contains"], child, index, must_hold=False).holds for index, child in enumerate(value)
        ]
        told.items |= {index for index, holds in enumerate(held) if holds}
        if not any(held):
            return False
    if "unevaluatedItems" in schema:
        for index in set(range(len(value))) - told.items:
            apply(schema["unevaluatedItems"], value[index], index)
        told.items |= set(range(len(value)))
    return True
