"""Changes of a document, each made twice: to its text and to its value. The two must agree."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from compozy.language.authoring import surgery
from compozy.language.authoring.format import as_json, format_text, is_json
from compozy.language.errors import JsonPath, format_path
from compozy.language.problems import PlanInvalid
from compozy.language.yaml_text import load


class AuthoringError(ValueError):
    """An edit that cannot be made as asked: there is nothing at the place, or the text does not allow it."""


class Change(Protocol):
    """One change of a document in normal form."""

    def to_text(self, text: str) -> str:
        """The text after the change."""

    def to_value(self, value: Any) -> None:
        """Makes the change to the value."""


@dataclass(frozen=True, slots=True)
class Put:
    """Another value at a path, or a new key."""

    path: JsonPath
    value: Any
    order: Sequence[str] = ()

    def to_text(self, text: str) -> str:
        """The text after the change."""
        return surgery.put(text, self.path, self.value, self.order)

    def to_value(self, value: Any) -> None:
        """Makes the change to the value."""
        parent: Any = _at(value, self.path[:-1])
        last: Any = self.path[-1]
        if isinstance(parent, list) or last in parent:
            parent[last] = self.value
            return
        items = list(parent.items())
        items.insert(surgery.new_position(list(parent), str(last), self.order), (last, self.value))
        parent.clear()
        parent.update(items)


@dataclass(frozen=True, slots=True)
class Remove:
    """No key, or no element, at a path."""

    path: JsonPath

    def to_text(self, text: str) -> str:
        """The text after the change."""
        return surgery.remove(text, self.path)

    def to_value(self, value: Any) -> None:
        """Makes the change to the value."""
        del _at(value, self.path[:-1])[self.path[-1]]


@dataclass(frozen=True, slots=True)
class Insert:
    """A new element before the one at `index` of the list at a path."""

    path: JsonPath
    index: int
    value: Any

    def to_text(self, text: str) -> str:
        """The text after the change."""
        return surgery.insert(text, self.path, self.index, self.value)

    def to_value(self, value: Any) -> None:
        """Makes the change to the value."""
        _at(value, self.path).insert(self.index, self.value)


def changed(text: str, change: Change) -> str:
    """A document in normal form with one change, in normal form again. Raises AuthoringError."""
    expected = load(text).value
    change.to_value(expected)
    try:
        after = as_json(expected) if is_json(text) else change.to_text(text)
        if says(after, expected):
            return format_text(after)
    except PlanInvalid:
        pass
    raise unsafe()


def says(text: str, value: Any) -> bool:
    """Whether a text has exactly this value; 1, 1.0 and true are three. Raises PlanInvalid where it has none."""
    return json.dumps(load(text).value, sort_keys=True) == json.dumps(value, sort_keys=True)


def unsafe() -> AuthoringError:
    """The error of an edit whose result would not say what it should."""
    message = "the edit would change more than it should; write the place without aliases, anchors and tags"
    return AuthoringError(message)


def _at(value: Any, path: JsonPath) -> Any:
    for segment in path:
        try:
            value = value[segment]
        except (KeyError, IndexError, TypeError):
            raise AuthoringError(f"there is no {format_path(path)}") from None
    return value
