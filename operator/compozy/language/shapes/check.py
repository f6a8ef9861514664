"""Whether a schema can be used: valid, bounded, self-contained, and within what is evaluated safely."""

from collections.abc import Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from typing import Any

from jsonschema import Draft202012Validator
from referencing import Registry
from referencing.exceptions import Unresolvable
from referencing.jsonschema import DRAFT202012

from compozy.language.errors import format_path
from compozy.language.problems import Problem
from compozy.language.shapes.bounds import Pointer, json_faults
from compozy.language.shapes.canonical import canonical_json
from compozy.language.shapes.messages import faults_of
from compozy.language.shapes.patterns import pattern_fault
from compozy.language.shapes.subschemas import IN_PLACE, children, walk

MAX_BYTES = 64 * 1024
"""The largest schema, as JSON in UTF-8."""

MAX_DEPTH = 40
"""Levels of nesting a schema may have: an object inside an object takes two."""

MAX_PROBLEMS = 20
"""Problems reported for one schema."""

_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_PRIMITIVES = ("boolean", "integer", "number", "string")
_TYPES = (*_PRIMITIVES, "array", "null", "object")

Finding = tuple[Pointer, str, str]
"""Where in the schema, the code of the problem, and its message."""


def schema_problems(schema: Any, path: str) -> list[Problem]:
    """Return what keeps `schema` from being used, with places below `path`; empty when it is fine."""
    findings = list(_bounds(schema)) or list(_grammar(schema)) or [*_keywords(schema), *_references(schema)]
    return [
        Problem(format_path((path, *pointer) if path else pointer), code, message)
        for pointer, code, message in findings[:MAX_PROBLEMS]
    ]


def _bounds(schema: Any) -> Iterator[Finding]:
    if not isinstance(schema, dict):
        yield (), "schema_invalid", "must be a JSON Schema object"
        return
    faults = json_faults(schema, MAX_DEPTH)
    yield from ((pointer, "schema_invalid", message) for pointer, message in faults.items())
    if not faults and len(canonical_json(schema).encode()) > MAX_BYTES:
        yield (), "schema_too_large", f"must be at most {MAX_BYTES} bytes as JSON"


def _grammar(schema: Mapping[str, Any]) -> Iterator[Finding]:
    """Hold the schema to the schema of schemas, and refuse a short form that reads as something else."""
    for error in Draft202012Validator(Draft202012Validator.META_SCHEMA).iter_errors(schema):
        for pointer, message in faults_of(error):
            of_type = pointer[-1:] == ("type",) and error.validator == "anyOf"
            yield pointer, "schema_invalid", f"must be one of {', '.join(_TYPES)}" if of_type else message
    written = set(schema) - {"type"}
    if written and all(isinstance(value, str) and value in _PRIMITIVES for value in schema.values()):
        message = f"`{min(written)}` is a keyword of JSON Schema; for a field of that name write `properties:`"
        yield (), "schema_shorthand_ambiguous", message


def _keywords(schema: Mapping[str, Any]) -> Iterator[Finding]:
    for pointer, part in walk(schema):
        dialect = part.get("$schema", _DIALECT)
        if dialect.rstrip("#") != _DIALECT or (pointer and "$schema" in part):
            message = f"only JSON Schema 2020-12 is understood: write {_DIALECT}, at the top, or leave it out"
            yield (*pointer, "$schema"), "schema_dialect_unsupported", message
        for keyword in ("$dynamicRef", "$dynamicAnchor") + (("$id",) if pointer else ()):
            if keyword in part:
                message = f"`{keyword}` is for schemas made of several documents: use `$defs` and `$ref`"
                yield (*pointer, keyword), "schema_reference_unsupported", message
        for place, pattern in _patterns(part):
            if fault := pattern_fault(pattern):
                message = f"is no RE2 regular expression (look-around and back-references are not): {fault}"
                yield (*pointer, *place), "schema_pattern_unsupported", message


def _patterns(schema: Mapping[str, Any]) -> Iterator[tuple[Pointer, str]]:
    if "pattern" in schema:
        yield ("pattern",), schema["pattern"]
    yield from ((("patternProperties", name), name) for name in schema.get("patternProperties", {}))


def _references(schema: Mapping[str, Any]) -> Iterator[Finding]:
    """Check that every `$ref` leads to a schema in here, and that no value could send one round for ever."""
    root = {key: value for key, value in schema.items() if key not in ("$schema", "$id")}
    registry: Registry[Any] = Registry()
    resolver = registry.resolver_with_root(DRAFT202012.create_resource(root))
    places = {id(part): pointer for pointer, part in walk(root)}
    graph: dict[Pointer, set[Pointer]] = {}
    for pointer, part in walk(root):
        graph[pointer] = {(*pointer, *below) for below, _ in children(part, IN_PLACE)}
        if "$ref" not in part:
            continue
        reference, place = part["$ref"], (*pointer, "$ref")
        if not reference.startswith("#"):
            message = f"`{reference[:200]}` is outside this schema and is never fetched: put it under `$defs`"
            yield place, "schema_remote_reference", message
            continue
        target = _target(resolver, reference)
        if isinstance(target, bool):
            continue
        if id(target) not in places:
            yield place, "schema_reference_unresolved", f"`{reference[:200]}` leads to no schema in here"
        else:
            graph[pointer].add(places[id(target)])
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        message = "refers to itself for the same value: checking it would never end"
        yield error.args[1][0], "schema_reference_circular", message


def _target(resolver: Any, reference: str) -> Any:
    try:
        return resolver.lookup(reference).contents
    except (Unresolvable, ValueError, TypeError):  # the library lets a malformed pointer raise the latter two
        return None
