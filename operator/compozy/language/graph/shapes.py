"""What is declared of a value before there is one: which members it has, and of what type they are.

None stands for a value of which nothing is known. Whatever a declaration does not certainly rule out is allowed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

from compozy.language.errors import name_keys
from compozy.language.graph.schema_parts import Parts, parts_of
from compozy.language.keys import type_name

JsonType = Literal["string", "boolean", "array", "object"]
"""The types that say enough of a value to check what is done with it. JSON has one type of numbers."""

_EXACT: Final[Mapping[str, JsonType]] = {
    "string": "string",
    "boolean": "boolean",
    "array": "array",
    "object": "object",
}
_WRITTEN: Final[Mapping[type, JsonType]] = {str: "string", bool: "boolean", list: "array", dict: "object"}


class Absent(Exception):
    """A member that a value certainly does not have; the text says why, to go after the name of the value."""


@dataclass(frozen=True, slots=True)
class Declared:
    """A value that a JSON Schema describes."""

    schema: Any
    document: Any = None
    """What references in the schema begin at; the schema itself where it is None."""
    or_null: bool = False

    def member(self, name: str) -> Shape:
        """What is known of a member. Raises Absent."""
        parts = self._parts()
        found = parts.declared(name)
        if found is not None:
            return Declared(found, self._document)
        if parts.is_open:
            return None
        if parts.types is not None and "object" not in parts.types:
            raise Absent(_has_no_keys(" or ".join(sorted(parts.types)) or "nothing"))
        if parts.is_closed:
            raise Absent(_has_only(name, parts.names))
        return None

    def element(self) -> Shape:
        """What is known of the elements of a list."""
        found = self._parts().items
        return None if found is None else Declared(found, self._document)

    def json_type(self) -> JsonType | None:
        """The one type that the value certainly has, where it is one of interest."""
        types = self._parts().types
        if self.or_null or types is None or len(types) != 1:
            return None
        return _EXACT.get(next(iter(types)))

    @property
    def _document(self) -> Any:
        return self.schema if self.document is None else self.document

    def _parts(self) -> Parts:
        return parts_of(self.schema, self._document)


@dataclass(frozen=True, slots=True)
class Members:
    """An object with exactly these members."""

    members: Mapping[str, Shape]
    or_null: bool = False

    def member(self, name: str) -> Shape:
        """What is known of a member. Raises Absent."""
        if name not in self.members:
            raise Absent(_has_only(name, list(self.members)))
        return self.members[name]

    def element(self) -> Shape:
        """Nothing: it is no list."""
        return None

    def json_type(self) -> JsonType | None:
        """An object, unless it may be null."""
        return None if self.or_null else "object"


@dataclass(frozen=True, slots=True)
class Written:
    """A value that stands in the plan."""

    value: Any
    or_null: bool = False

    def member(self, name: str) -> Shape:
        """What is known of a member. Raises Absent."""
        if not isinstance(self.value, Mapping):
            raise Absent(_has_no_keys(type_name(self.value)))
        if name not in self.value:
            raise Absent(_has_only(name, [str(key) for key in self.value]))
        return Written(self.value[name])

    def element(self) -> Shape:
        """Nothing: the elements of a list differ."""
        return None

    def json_type(self) -> JsonType | None:
        """The type of the value."""
        return None if self.or_null else _WRITTEN.get(type(self.value))


Shape = Declared | Members | Written | None

TEXT: Final = Declared({"type": "string"})
NUMBER: Final = Declared({"type": "number"})
BOOLEAN: Final = Declared({"type": "boolean"})
LIST: Final = Declared({"type": "array"})
NOTHING: Final = Members({})


def nullable(shape: Shape) -> Shape:
    """The same, or null."""
    return None if shape is None else replace(shape, or_null=True)


def _has_no_keys(kind: str) -> str:
    return f"is {kind} and has no keys"


def _has_only(name: str, names: Sequence[str]) -> str:
    return f"has no `{name}`; there is {name_keys(names)}"
