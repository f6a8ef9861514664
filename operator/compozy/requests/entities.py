"""The names of agents, skills, secrets and so on inside an answer, found by the schema's `x-compozy-kind`.

The annotation counts wherever the schema applies to the value: in properties and items of any kind, behind
references, and in those alternatives that the value fits.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from compozy.language.annotations import ENTITY_KIND, ENTITY_KINDS
from compozy.language.schema import shape_of
from compozy.language.shapes.bounds import Pointer, dotted
from compozy.language.shapes.patterns import found, undeclared_names

if TYPE_CHECKING:
    from compozy.language.shapes.shape import Shape
    from compozy.requests.choices import Names

__all__ = ["ENTITY_KIND", "ENTITY_KINDS", "EntityReference", "references", "unknown_name"]


@dataclass(frozen=True, slots=True)
class EntityReference:
    """A value that must name something in the request's workspace."""

    path: str
    """Dotted path into the payload, such as `assignment.reviewer` or `reviewers.0.name`."""
    kind: str
    """One of `ENTITY_KINDS`."""
    value: Any
    """What was submitted: no entity can be meant by anything but a string."""


def references(schema: Mapping[str, Any], payload: Any) -> list[EntityReference]:
    """Return the entities that `payload` names, each once, in the order in which they are found.

    Raises `SchemaInvalid` for a schema that cannot be used, and `TooCostlyError` where looking takes too
    long.
    """
    shape = shape_of(schema)
    with shape.evaluating():
        named = {(dotted(at), kind): value for at, kind, value in _walk(shape, shape.schema, payload, ())}
    return [EntityReference(path, kind, value) for (path, kind), value in named.items()]


def unknown_name(schema: Mapping[str, Any], payload: Any, names: Names) -> tuple[str, str] | None:
    """Return path and fault of the first name in `payload` that nothing has; None where all may be right."""
    try:
        named = references(schema, payload)
    except ValueError:  # too costly: whoever judges the answer will say so
        return None
    for reference in named:
        if not isinstance(reference.value, str):
            return reference.path, f"must be the name of a {reference.kind}"
        known = names(reference.kind)
        if known is not None and all(choice.value != reference.value.strip() for choice in known):
            return reference.path, f"there is no {reference.kind} of that name here"
    return None


Found = tuple[Pointer, str, Any]


def _walk(shape: Shape, schema: Any, value: Any, at: Pointer) -> Iterator[Found]:
    shape.count()
    if not isinstance(schema, Mapping):
        return
    if ENTITY_KIND in schema and "enum" not in schema:
        yield at, schema[ENTITY_KIND], value
    for part in shape.applied_in_place(schema, value):
        yield from _walk(shape, part, value, at)
    if isinstance(value, Mapping):
        yield from _walk_object(shape, schema, value, at)
    elif isinstance(value, list):
        yield from _walk_list(shape, schema, value, at)


def _walk_object(
    shape: Shape, schema: Mapping[str, Any], value: Mapping[str, Any], at: Pointer
) -> Iterator[Found]:
    undeclared = undeclared_names(schema, value)
    unevaluated = shape.unevaluated_names(schema, value) if "unevaluatedProperties" in schema else ()
    for name, child in value.items():
        applied = [schema.get("properties", {}).get(name)]
        applied += [part for pattern, part in schema.get("patternProperties", {}).items() if found(pattern, name)]
        applied += [schema.get("additionalProperties")] if name in undeclared else []
        applied += [schema.get("unevaluatedProperties")] if name in unevaluated else []
        for part in applied:
            yield from _walk(shape, part, child, (*at, name))
        yield from _walk(shape, schema.get("propertyNames"), name, (*at, name))


def _walk_list(shape: Shape, schema: Mapping[str, Any], value: list[Any], at: Pointer) -> Iterator[Found]:
    prefix = schema.get("prefixItems", [])
    contained = schema.get("contains")
    unevaluated = shape.unevaluated_items(schema, value) if "unevaluatedItems" in schema else ()
    for index, child in enumerate(value):
        applied = [prefix[index] if index < len(prefix) else schema.get("items")]
        applied += [schema.get("unevaluatedItems")] if index in unevaluated else []
        for part in applied:
            yield from _walk(shape, part, child, (*at, index))
        if contained is not None and shape.conforms(child, contained):
            yield from _walk(shape, contained, child, (*at, index))
