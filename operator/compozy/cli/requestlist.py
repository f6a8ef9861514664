"""Reads lists of questions: all of them as brief as their order needs, then a page of them in full.

A question can carry a long context. What a list is ordered by comes as a table of the API server's, which is
small and quickly made; then the objects of one page are read, several at a time.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from compozy.cli.kube.access import ConfigError
from compozy.cli.kube.client import Client, Object, Scan
from compozy.cli.kube.errors import ApiError
from compozy.cli.kube.resources import HUMAN_REQUESTS
from compozy.cli.kube.selectors import equal, every
from compozy.cli.listing import ListState, Request
from compozy.requests.state import state_of

CONNECTIONS = 4
"""How many objects of a page are asked for at the same time."""

_STATES = {"pending": equal("status.state", "Pending"), "resolved": "status.state!=Pending"}
_COLUMNS = {
    "Name": ("metadata", "name"),
    "Workspace": ("metadata", "namespace"),
    "UID": ("metadata", "uid"),
    "Opened": ("metadata", "creationTimestamp"),
    "Generation": ("spec", "generation"),
    "Item": ("spec", "item"),
    "Expires": ("spec", "expiresAt"),
    "Resolved": ("status", "resolvedAt"),
}
"""Columns of the CRD, and where what they show belongs."""


@dataclass(frozen=True, slots=True)
class Filter:
    """Which questions are meant. None means any."""

    run: str | None = None
    node: str | None = None
    generation: int | None = None
    item: int | None = None
    labels: str | None = None

    @property
    def fields(self) -> str:
        """The field selector."""
        given = {
            "spec.run": self.run,
            "spec.node": self.node,
            "spec.generation": self.generation,
            "spec.item": self.item,
        }
        return every(*(equal(path, value) for path, value in given.items() if value is not None))


class Briefs:
    """The questions of a state that a filter selects, each with what its place in a list follows from."""

    def __init__(self, client: Client, namespace: str | None, wanted: Filter, state: ListState | None) -> None:
        """`namespace=None`: in all of them; `state=None`: whatever their state."""
        self._client = client
        self._namespace = namespace
        self._labels = wanted.labels or ""
        self._fields = every(_STATES[state] if state else "", wanted.fields)
        self._scan: Scan | None = None

    def __iter__(self) -> Iterator[Request]:
        """Reads them. Raises ConfigError where the CRDs of the cluster are too old for it."""
        self._scan = self._client.scan(
            HUMAN_REQUESTS,
            self._namespace,
            field_selector=self._fields,
            label_selector=self._labels,
            table=True,
        )
        places: Sequence[tuple[int, str, str]] = ()
        for row in self._scan:
            places = places or _places(self._scan.columns)
            yield _brief(row["cells"], places)

    @property
    def resource_version(self) -> str:
        """The version to watch from. Known once they were read."""
        return self._scan.resource_version if self._scan else ""


def is_listed(request: Request, state: ListState) -> bool:
    """Whether a question belongs to the list of a state."""
    return (state_of(request) == "Pending") == (state == "pending")


def count_pending(client: Client, namespace: str | None) -> int:
    """How many questions wait, whatever a list is filtered by."""
    return sum(1 for _ in Briefs(client, namespace, Filter(), "pending"))


def in_full(
    client: Client, briefs: Iterable[Request], state: ListState, shape: Callable[[Object], Object]
) -> Iterator[Object]:
    """What `shape` makes of the objects, in their order. Those that have left the list meanwhile are left out."""
    from concurrent.futures import ThreadPoolExecutor

    def read(brief: Request) -> Object | None:
        metadata = brief["metadata"]
        try:
            found = client.get(HUMAN_REQUESTS, metadata["namespace"], metadata["name"])
        except ApiError as error:
            if not error.not_found:
                raise
            return None
        same = found["metadata"]["uid"] == metadata["uid"]
        return shape(found) if same and is_listed(found, state) else None

    with ThreadPoolExecutor(CONNECTIONS) as pool:
        for shaped in pool.map(read, briefs):
            if shaped is not None:
                yield shaped


def _places(columns: Sequence[str]) -> Sequence[tuple[int, str, str]]:
    """For each cell that is wanted: its number, and where it belongs."""
    if missing := _COLUMNS.keys() - columns:
        raise ConfigError(
            f"the CRDs of this cluster are older than this plugin, without {', '.join(sorted(missing))}: "
            "`kubectl apply --server-side -f crds/`"
        )
    return [(columns.index(name), *place) for name, place in _COLUMNS.items()]


def _brief(cells: Sequence[Any], places: Sequence[tuple[int, str, str]]) -> Request:
    brief: dict[str, dict[str, Any]] = {"metadata": {}, "spec": {}, "status": {}}
    for number, part, key in places:
        if cells[number] is not None:
            brief[part][key] = cells[number]
    return brief
