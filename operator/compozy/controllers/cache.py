"""What the operator knows of the cluster, fed by watches and by its own writes.

It only ever saves reads: every write carries the version it was decided on, so a stale entry loses a race and
is read again, and never decides one.
"""

from bisect import bisect_left, insort
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from compozy.requests.state import state_of

Item = dict[str, Any]


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
        self._ownerless: dict[Key, list[tuple[str, Key]]] = {}
        """By run: when questions were opened that are not resolved and have no controller, in that order."""
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
        for index, owner in self._indexes_of(item):
            index.setdefault(owner, set()).add(key_of(item))
        if _is_ownerless(item):
            insort(self._ownerless.setdefault(run_of(item), []), _by_age(item))

    def _unlist(self, item: Item) -> None:
        for index, owner in self._indexes_of(item):
            _discard(index, owner, key_of(item))
        if _is_ownerless(item):
            others = self._ownerless[run_of(item)]
            del others[bisect_left(others, _by_age(item))]
            if not others:
                del self._ownerless[run_of(item)]

    def _indexes_of(self, item: Item) -> Iterator[tuple[dict[str, set[Key]], str]]:
        """The sets that an object is in, each with the uid of its controller."""
        owner = owner_uid(item)
        if owner is None:
            return
        if item["kind"] == "PlanRun":
            yield self._children, owner
        if item["kind"] == "HumanRequest":
            yield self._requests, owner
            if state_of(item) == "Pending":
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
        return self._questions(sorted(self._requests.get(run["metadata"]["uid"], ())))

    def unresolved_of(self, run: Mapping[str, Any]) -> list[Item]:
        """Those of its questions that have no result yet, by name."""
        return self._questions(sorted(self._unresolved.get(run["metadata"]["uid"], ())))

    def left_behind(self, key: Key) -> list[Item]:
        """The questions without a result of a run that was deleted without them, the oldest first.

        The garbage collector has taken the run from their owners. One that has its name now is another one where
        it is younger.
        """
        run, found = self.get("PlanRun", key), self._ownerless.get(key, [])
        end = len(found) if run is None else bisect_left(found, (_created_at(run),))
        return self._questions(one for _, one in found[:end])

    def _questions(self, keys: Iterable[Key]) -> list[Item]:
        items = self._items.get("HumanRequest", {})
        return [items[key] for key in keys]


def run_of(request: Mapping[str, Any]) -> Key:
    """The key of the run that a request belongs to."""
    return Key(request["metadata"]["namespace"], request["spec"]["run"])


def owner_uid(item: Mapping[str, Any]) -> str | None:
    """The uid of the object's controller."""
    for reference in item["metadata"].get("ownerReferences", ()):
        if reference.get("controller"):
            return str(reference["uid"])
    return None


def _is_ownerless(item: Item) -> bool:
    return item["kind"] == "HumanRequest" and owner_uid(item) is None and state_of(item) == "Pending"


def _by_age(item: Item) -> tuple[str, Key]:
    return _created_at(item), key_of(item)


def _created_at(item: Mapping[str, Any]) -> str:
    """RFC 3339 in UTC, in whole seconds: ordered as text."""
    return str(item["metadata"]["creationTimestamp"])


def _discard(sets: dict[str, set[Key]], group: str, key: Key) -> None:
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
