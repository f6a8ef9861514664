"""What the operator knows of the cluster, fed by watches and by its own writes.

It only ever saves reads: every write carries the version it was decided on, so a stale entry loses a race and
is read again, and never decides one.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple, TypeVar

from compozy.requests.state import state_of

Item = dict[str, Any]
K = TypeVar("K")


class Key(NamedTuple):
    """Namespace and name of an object."""

    namespace: str
    name: str


def key_of(item: Mapping[str, Any]) -> Key:
    """The key of an object."""
    metadata = item["metadata"]
    return Key(metadata.get("namespace", ""), metadata["name"])


class Cache:
    """The objects of each kind, and of each run its requests and the runs that it has started."""

    def __init__(self, operator: str = "") -> None:
        """`operator` is this operator as the API server knows it."""
        self.operator = operator
        self._items: dict[str, dict[Key, Item]] = {}
        self._requests: dict[str, set[Key]] = {}
        """By the uid of their controller: the keys of questions."""
        self._unresolved: dict[str, set[Key]] = {}
        """By the uid of their controller: the keys of questions that are not resolved."""
        self._ownerless: dict[Key, set[Key]] = {}
        """By run: the keys of questions that are not resolved and have no controller."""
        self._children: dict[str, set[Key]] = {}
        """By the uid of their controller: the keys of runs."""

    def put(self, item: Item) -> bool:
        """Take an object in, unless something newer is known. Returns whether it was taken."""
        key, kind = key_of(item), item["kind"]
        known = self._items.setdefault(kind, {}).get(key)
        if known is not None:
            if _is_newer(known, item):
                return False
            self._unlist(known)
        self._items[kind][key] = item
        self._list(item)
        return True

    def drop(self, item: Mapping[str, Any]) -> None:
        """Forget an object that is gone, unless another of the same name has come since."""
        key, kind = key_of(item), item["kind"]
        known = self._items.get(kind, {}).get(key)
        if known is None or known["metadata"]["uid"] != item["metadata"]["uid"]:
            return
        self._unlist(self._items[kind].pop(key))

    def _list(self, item: Item) -> None:
        for index, group in self._places_of(item):
            index.setdefault(group, set()).add(key_of(item))

    def _unlist(self, item: Item) -> None:
        for index, group in self._places_of(item):
            _discard(index, group, key_of(item))

    def _places_of(self, item: Item) -> Iterator[tuple[dict[Any, set[Key]], str | Key]]:
        """The indexes that an object is in, each with its group there."""
        owner, is_question = owner_uid(item), item["kind"] == "HumanRequest"
        if item["kind"] == "PlanRun" and owner is not None:
            yield self._children, owner
        if is_question and owner is not None:
            yield self._requests, owner
        if is_question and state_of(item) == "Pending":
            if owner is None:
                yield self._ownerless, run_of(item)
            else:
                yield self._unresolved, owner

    def get(self, kind: str, key: Key) -> Item | None:
        """An object, where it is known."""
        return self._items.get(kind, {}).get(key)

    def all(self, kind: str) -> Iterator[Item]:
        """Every known object of a kind."""
        yield from list(self._items.get(kind, {}).values())

    def children_of(self, run: Mapping[str, Any]) -> list[Item]:
        """The runs that this very run has started, by name."""
        items = self._items.get("PlanRun", {})
        return [items[key] for key in sorted(self._children.get(run["metadata"]["uid"], ()))]

    def requests_of(self, run: Mapping[str, Any]) -> list[Item]:
        """The questions that this very run has opened, by name."""
        return self._questions(self._requests.get(run["metadata"]["uid"], ()))

    def unresolved_of(self, run: Mapping[str, Any]) -> list[Item]:
        """Those of its questions that have no result yet, by name."""
        return self._questions(self._unresolved.get(run["metadata"]["uid"], ()))

    def left_behind(self, key: Key) -> list[Item]:
        """The questions without a result of a run that was deleted without them, by name.

        The garbage collector has taken the run from their owners. One that has its name now is another one where
        it is younger.
        """
        run, found = self.get("PlanRun", key), self._questions(self._ownerless.get(key, ()))
        return [item for item in found if run is None or _created_at(item) < _created_at(run)]

    def _questions(self, keys: Iterable[Key]) -> list[Item]:
        items = self._items.get("HumanRequest", {})
        return [items[key] for key in sorted(keys)]


def run_of(request: Mapping[str, Any]) -> Key:
    """The key of the run that a request belongs to."""
    return Key(request["metadata"]["namespace"], request["spec"]["run"])


def owner_uid(item: Mapping[str, Any]) -> str | None:
    """The uid of the object's controller."""
    for reference in item["metadata"].get("ownerReferences", ()):
        if reference.get("controller"):
            return str(reference["uid"])
    return None


def _created_at(item: Mapping[str, Any]) -> str:
    """RFC 3339 in UTC, in whole seconds: ordered as text."""
    return str(item["metadata"]["creationTimestamp"])


def _discard(sets: dict[K, set[Key]], group: K, key: Key) -> None:
    """Take a key out of its set, and the set away with the last of them."""
    found = sets.get(group, set())
    found.discard(key)
    if not found:
        sets.pop(group, None)


def _is_newer(known: Mapping[str, Any], item: Mapping[str, Any]) -> bool:
    """Whether what we know is newer: versions of one resource type compare as integers since Kubernetes 1.35."""
    if known["metadata"]["uid"] != item["metadata"]["uid"]:
        return False
    old, new = known["metadata"]["resourceVersion"], item["metadata"]["resourceVersion"]
    return bool(old.isdecimal() and new.isdecimal() and int(old) > int(new))
