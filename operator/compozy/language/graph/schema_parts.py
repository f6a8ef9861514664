"""The parts of a JSON Schema that hold for one value, taken together as far as they certainly say something."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import unquote

_MORE_MEMBERS: Final = (
    *("anyOf", "oneOf", "if", "then", "else", "dependentSchemas", "patternProperties", "unevaluatedProperties"),
)
"""Keywords under which a schema may know members that it does not list."""

_MOST_PARTS: Final = 64
"""More parts than this say nothing certain any more."""


@dataclass(slots=True)
class Parts:
    """What `$ref` and `allOf` bring together."""

    properties: list[Mapping[str, Any]] = field(default_factory=list)
    types: frozenset[str] | None = None
    """The types that every part allows; None where none says anything."""
    is_open: bool = False
    """Whether there may be members that are not listed."""
    refuses_others: bool = False
    items: Any = None

    @property
    def is_closed(self) -> bool:
        """Whether the listed members are all: an author who lists some has named what there is to name."""
        return bool(self.properties) or self.refuses_others

    @property
    def names(self) -> list[str]:
        """Every listed member."""
        return list(dict.fromkeys(name for properties in self.properties for name in properties))

    def declared(self, name: str) -> Any:
        """The schema of a listed member; None for one that is not."""
        found = [properties[name] for properties in self.properties if name in properties]
        return found[0] if len(found) < 2 and found else {"allOf": found} if found else None


def parts_of(schema: Any, document: Any) -> Parts:
    """Bring together what holds for the same value as `schema`; `document` is where references begin."""
    parts = Parts()
    waiting, seen = [schema], 0
    while waiting:
        part = waiting.pop()
        seen += 1
        if seen > _MOST_PARTS:
            parts.is_open = True
            break
        if isinstance(part, Mapping):
            _add(part, parts)
            together = part.get("allOf")
            waiting += together if isinstance(together, list) else []
            if "$ref" in part:
                target = _target(part["$ref"], document)
                parts.is_open |= target is None
                waiting += [] if target is None else [target]
    return parts


def _add(part: Mapping[str, Any], parts: Parts) -> None:
    properties, additional = part.get("properties"), part.get("additionalProperties")
    if isinstance(properties, Mapping):
        parts.properties.append(properties)
    parts.refuses_others |= additional is False
    parts.is_open |= additional not in (None, False) or any(key in part for key in _MORE_MEMBERS)
    declared = part.get("type")
    types = frozenset([declared] if isinstance(declared, str) else declared or ()) if declared else None
    if types is not None:
        parts.types = types if parts.types is None else parts.types & types
    if isinstance(part.get("items"), Mapping) and "prefixItems" not in part:
        parts.items = part["items"]


def _target(reference: Any, document: Any) -> Any:
    """What a reference into the same document leads to; None for any other, and for one that leads nowhere."""
    if not isinstance(reference, str) or not reference.startswith("#"):
        return None
    current = document
    for segment in reference[1:].split("/")[1:]:
        key = unquote(segment).replace("~1", "/").replace("~0", "~")
        if isinstance(current, list) and key.isdecimal() and int(key) < len(current):
            current = current[int(key)]
        elif isinstance(current, Mapping) and key in current:
            current = current[key]
        else:
            return None
    return None if len(reference) > 1 and not reference.startswith("#/") else current
