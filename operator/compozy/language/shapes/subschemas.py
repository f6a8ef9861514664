"""Which keywords of JSON Schema 2020-12 hold further schemas: lints look at schemas, never at data."""

from collections.abc import Iterator, Mapping
from typing import Any

from compozy.language.shapes.bounds import Pointer

_ONE = (
    *("additionalProperties", "contains", "contentSchema", "else", "if", "items", "not"),
    *("propertyNames", "then", "unevaluatedItems", "unevaluatedProperties"),
)
_LIST = ("allOf", "anyOf", "oneOf", "prefixItems")
_MAP = ("$defs", "definitions", "dependentSchemas", "patternProperties", "properties")
_DATA = (
    *("$anchor", "$comment", "$dynamicAnchor", "$dynamicRef", "$id", "$ref", "$schema", "$vocabulary"),
    *("const", "contentEncoding", "contentMediaType", "default", "dependentRequired", "deprecated"),
    *("description", "enum", "examples", "exclusiveMaximum", "exclusiveMinimum", "format", "maxContains"),
    *("maxItems", "maxLength", "maxProperties", "maximum", "minContains", "minItems", "minLength"),
    *("minProperties", "minimum", "multipleOf", "pattern", "readOnly", "required", "title", "type"),
    *("uniqueItems", "writeOnly"),
)

KEYWORDS = frozenset((*_ONE, *_LIST, *_MAP, *_DATA))
"""Every keyword of JSON Schema 2020-12."""

IN_PLACE = ("allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas")
"""Keywords whose schemas apply to the same value as the schema that holds them."""


def is_keyword(name: str) -> bool:
    """Return whether `name` means something in a schema: a standard keyword or an `x-` annotation."""
    return name in KEYWORDS or name.startswith("x-")


def walk(schema: Any, pointer: Pointer = ()) -> Iterator[tuple[Pointer, Mapping[str, Any]]]:
    """Yield every schema object inside `schema` with its place, itself first, skipping what is malformed."""
    if not isinstance(schema, Mapping):
        return
    yield pointer, schema
    for segments, child in children(schema, (*_ONE, *_LIST, *_MAP)):
        yield from walk(child, (*pointer, *segments))


def children(schema: Mapping[str, Any], keywords: tuple[str, ...]) -> Iterator[tuple[Pointer, Any]]:
    """Yield the schemas directly below `schema` under the given keywords."""
    for keyword in keywords:
        held = schema.get(keyword)
        if keyword in _ONE:
            if keyword in schema:
                yield (keyword,), held
        elif keyword in _LIST and isinstance(held, list):
            yield from (((keyword, index), child) for index, child in enumerate(held))
        elif keyword in _MAP and isinstance(held, Mapping):
            yield from (((keyword, name), child) for name, child in held.items())
