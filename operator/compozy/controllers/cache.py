"""What the operator knows of the cluster, fed by watches and by its own writes.

It only ever saves reads: every write carries the version it was decided on, so a stale entry loses a race and
is read again, and never decides one.
"""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, TypeVar

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
        self._requests: dict[Key, set[Key]] = {}
        self._ownerless: dict[Key, set[Key]] = {}
        """By run: the keys of questions that have no controller."""
        self._children: dict[str, set[Key]] = {}
        """By the uid of their controller: the keys of runs."""

    def put(self, item: Item) -> bool:
        """Take an object in, unless something newer is known. Returns whether it was taken."""
        key, kind = key_of(item), item["kind"]
        known = self._items.setdefault(kind, {}).get(key)
        if known is not None and _is_newer(known, item):
            return False
        self._items[kind][key] = item
        if kind == "HumanRequest":
            self._requests.setdefault(run_of(item), set()).add(key)
            if owner_uid(item) is None:
                self._ownerless.setdefault(run_of(item), set()).add(key)
            else:
                _discard(self._ownerless, run_of(item), key)
        elif kind == "PlanRun" and (owner := owner_uid(item)) is not None:
            self._children.setdefault(owner, set()).add(key)
        return True

    def drop(self, item: Mapping[str, Any]) -> None:
        """Forget an object that is gone, unless another of the same name has come since."""
        key, kind = key_of(item), item["kind"]
        known = self._items.get(kind, {}).get(key)
        if known is None or known["metadata"]["uid"] != item["metadata"]["uid"]:
            return
        del self._items[kind][key]
        if kind == "HumanRequest":
            _discard(self._requests, run_of(item), key)
            _discard(self._ownerless, run_of(item), key)
        elif kind == "PlanRun":
            _discard(self._children, owner_uid(item) or "", key)

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
        items = self._items.get("HumanRequest", {})
        found = [items[key] for key in sorted(self._requests.get(key_of(run), ()))]
        uid = run["metadata"]["uid"]
        return [item for item in found if owner_uid(item) == uid]

    def left_behind(self, key: Key) -> list[Item]:
        """The questions of a run that was deleted without them, by name: the garbage collector has taken its name
        from their owners. A run that has the name now is another one where it is younger.
        """
        items, run = self._items.get("HumanRequest", {}), self.get("PlanRun", key)
        found = [items[one] for one in sorted(self._ownerless.get(key, ()))]
        return [item for item in found if run is None or _created_at(item) < _created_at(run)]


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
