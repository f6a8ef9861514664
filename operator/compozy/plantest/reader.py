"""Values of a file of cases, held to their types: every problem is recorded with its path."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from compozy.language.keys import read_keys, type_name
from compozy.language.problems import Problem


@dataclass(slots=True)
class Reader:
    """Collects problems while a file is read."""

    problems: list[Problem] = field(default_factory=list)

    def report(self, path: str, code: str, message: str) -> None:
        """Record a problem."""
        self.problems.append(Problem(path, code, message))

    def keys(
        self, value: Any, path: str, known: tuple[str, ...], required: tuple[str, ...] = ()
    ) -> dict[str, Any]:
        """An object with known keys; others are problems."""
        return read_keys(value, path, known, self.problems, required)

    def object(self, value: Any, path: str) -> Mapping[str, Any]:
        """An object with any keys; empty where it is none."""
        return value if isinstance(value, Mapping) else self._wrong(value, path, "an object", {})

    def list(self, value: Any, path: str) -> list[Any]:
        """A list; empty where it is none."""
        return value if isinstance(value, list) else self._wrong(value, path, "a list", [])

    def text(self, value: Any, path: str) -> str:
        """Text; empty where it is none."""
        return value if isinstance(value, str) else self._wrong(value, path, "text", "")

    def boolean(self, value: Any, path: str) -> bool:
        """True or false; false where it is neither."""
        return value if isinstance(value, bool) else self._wrong(value, path, "true or false", False)

    def number(self, value: Any, path: str) -> int:
        """A whole number; 0 where it is none."""
        if isinstance(value, int) and not isinstance(value, bool):
            return value
        return int(self._wrong(value, path, "a whole number", 0))

    def one_of(self, value: Any, path: str, allowed: tuple[str, ...]) -> str:
        """One of some words."""
        if isinstance(value, str) and value in allowed:
            return value
        self.report(path, "invalid_value", f"must be {', '.join(allowed[:-1])} or {allowed[-1]}")
        return allowed[0]

    def _wrong(self, value: Any, path: str, wanted: str, instead: Any) -> Any:
        self.report(path, "invalid_type", f"must be {wanted}, not {type_name(value)}")
        return instead
