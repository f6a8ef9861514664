"""A value whose shape nobody knows, such as what a tool gives that has no stub.

It goes through a run like any other value. What a template or a condition makes of it proves nothing: whether
it was looked at is watched while they are evaluated.
"""

from collections.abc import Iterator, Mapping
from typing import Any


class Unknown(dict[str, Any]):
    """An object that has every key, each of them unknown but those that are given."""

    def __contains__(self, key: object) -> bool:
        return isinstance(key, str)

    def __missing__(self, key: str) -> "Unknown":
        return Unknown()

    def __repr__(self) -> str:
        return f"Unknown({super().__repr__()})"


class Watch(Mapping[str, Any]):
    """A scope that notices when something unknown is looked at."""

    def __init__(self, scope: Mapping[str, Any]) -> None:
        self._scope = scope
        self.touched = False

    def __getitem__(self, root: str) -> Any:
        return self.seen(self._scope[root])

    def __contains__(self, root: object) -> bool:
        return root in self._scope

    def __iter__(self) -> Iterator[str]:
        return iter(self._scope)

    def __len__(self) -> int:
        return len(self._scope)

    def seen(self, value: Any) -> Any:
        """A value as it is looked at: what holds unknown values goes on watching."""
        if isinstance(value, Unknown):
            self.touched = self.touched or not value
            return _WatchedObject(value, self) if value else value
        if isinstance(value, Mapping) and not isinstance(value, dict):
            return _WatchedTable(value, self)
        if not holds_unknown(value):
            return value
        return _WatchedList(value, self) if isinstance(value, list) else _WatchedObject(value, self)


class _WatchedTable(Mapping[str, Any]):
    """A persistent map, such as the results of the nodes of a graph."""

    def __init__(self, table: Mapping[str, Any], watch: Watch) -> None:
        self._table = table
        self._watch = watch

    def __getitem__(self, key: str) -> Any:
        return self._watch.seen(self._table[key])

    def __contains__(self, key: object) -> bool:
        return key in self._table

    def __iter__(self) -> Iterator[str]:
        return iter(self._table)

    def __len__(self) -> int:
        return len(self._table)


class _WatchedObject(dict[str, Any]):
    """An object with something unknown in it."""

    def __init__(self, original: dict[str, Any], watch: Watch) -> None:
        super().__init__(original)
        self.original = original
        self._watch = watch

    def __contains__(self, key: object) -> bool:
        return key in self.original

    def __getitem__(self, key: str) -> Any:
        return self._watch.seen(self.original[key])

    def keys(self) -> Any:
        self._watch.touched = True
        return super().keys()

    def values(self) -> Any:
        self._watch.touched = True
        return super().values()

    def items(self) -> Any:
        self._watch.touched = True
        return super().items()


class _WatchedList(list[Any]):
    """A list with something unknown in it."""

    def __init__(self, original: list[Any], watch: Watch) -> None:
        super().__init__(original)
        self.original = original
        self._watch = watch

    def __getitem__(self, index: Any) -> Any:
        return self._watch.seen(self.original[index])

    def __iter__(self) -> Iterator[Any]:
        return (self._watch.seen(item) for item in self.original)


def holds_unknown(value: Any) -> bool:
    """Whether anything in a value is unknown."""
    if isinstance(value, Unknown):
        return True
    if isinstance(value, dict):
        return any(holds_unknown(item) for item in value.values())
    return isinstance(value, list) and any(holds_unknown(item) for item in value)


def unwatched(value: Any) -> Any:
    """A value that came out of a watched scope, as it was in there."""
    if isinstance(value, _WatchedObject | _WatchedList):
        return value.original
    if isinstance(value, Unknown):
        return value
    if isinstance(value, dict):
        return {key: unwatched(item) for key, item in value.items()}
    return [unwatched(item) for item in value] if isinstance(value, list) else value
