"""What can be chosen: the values that a schema lists, with or without titles; the names that there are here."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Choice:
    """One value that can be chosen."""

    value: Any
    """The value as JSON, of whatever type the author gave it."""
    title: str = ""
    """A longer name for people; empty when the author gave none."""

    @property
    def text(self) -> str:
        """What a person types and sees: text as it is, anything else as JSON."""
        value = self.value
        if isinstance(value, str) and value and value == value.strip() and value.isprintable():
            return value
        return json.dumps(value, ensure_ascii=False)


Names = Callable[[str], Sequence[Choice] | None]
"""What there is of a kind of `x-compozy-kind` where the question is: names, with what they are as titles. None
where that cannot be known. Each call looks anew."""


def names_unknown(_kind: str) -> None:
    """Knows no names: whoever judges the answer will look them up."""


def choices_of(schema: Mapping[str, Any]) -> tuple[Choice, ...]:
    """Return the values that `enum`, `const` or titled alternatives (`oneOf: [{const, title}]`) list."""
    if "const" in schema:
        return (Choice(schema["const"]),)
    if "enum" in schema:
        return _named(schema["enum"], schema.get("enumNames"))
    alternatives = schema.get("oneOf", schema.get("anyOf"))
    if not isinstance(alternatives, list) or not all(_is_titled(branch) for branch in alternatives):
        return ()
    return tuple(Choice(branch["const"], str(branch.get("title", ""))) for branch in alternatives)


def _named(values: Sequence[Any], names: Any) -> tuple[Choice, ...]:
    titles = names if isinstance(names, list) and len(names) == len(values) else [""] * len(values)
    return tuple(Choice(value, str(title)) for value, title in zip(values, titles, strict=True))


def _is_titled(branch: Any) -> bool:
    return isinstance(branch, Mapping) and "const" in branch and branch.keys() <= {"const", "title", "description"}
