"""A small synchronous client of the Kubernetes API.

It speaks JSON, knows one user and one cluster, and starts in a few hundredths of a second.
"""

import json
import ssl
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Lock
from typing import Any
from urllib.parse import urlencode

from compozy.cli.kube.access import Access
from compozy.cli.kube.connections import FAILURES, Connections, Response
from compozy.cli.kube.credentials import Credentials
from compozy.cli.kube.elements import elements
from compozy.cli.kube.errors import ApiError, UnreachableError
from compozy.cli.kube.resources import GROUP, SELF_SUBJECT_REVIEWS, Resource

FIELD_MANAGER = "compozy-cli"
"""Our name in `metadata.managedFields`."""

PAGE = 500
"""Objects in one page of a list."""

DEFAULT_REQUEST_SECONDS = 60.0

_JSON = "application/json"
_TABLE = "application/json;as=Table;g=meta.k8s.io;v=v1"
_MERGE_PATCH = "application/merge-patch+json"
_JSON_PATCH = "application/json-patch+json"
_APPLY_PATCH = "application/apply-patch+yaml"
_THROTTLED_TRIES = 4
_CHUNK = 256 * 1024
"""Bytes of a long answer that are read at once."""

Object = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Identity:
    """Who we are, as the API server sees it."""

    username: str
    groups: tuple[str, ...] = ()
    uid: str = ""


@dataclass(frozen=True, slots=True)
class ObjectList:
    """A consistent list and the version to watch from."""

    items: list[Object]
    resource_version: str


@dataclass(slots=True)
class Scan:
    """A collection that is read once, element by element. Closes its connection at the end."""

    _response: Response
    _array: str
    _others: dict[str, Any] = field(default_factory=dict)

    def __iter__(self) -> Iterator[Any]:
        """Raises UnreachableError when the connection ends before the list does."""
        try:
            yield from elements(self._response.stream(_CHUNK), self._array, self._others)
        except (*FAILURES, ValueError) as error:
            raise UnreachableError(f"a list broke off: {_one_line(error)}") from error
        finally:
            self._response.close()

    @property
    def resource_version(self) -> str:
        """The version to watch from. Known at the end."""
        return str((self._others.get("metadata") or {}).get("resourceVersion") or "")

    @property
    def columns(self) -> list[str]:
        """The titles of a table. Known from the first row on."""
        return [column["name"] for column in self._others.get("columnDefinitions") or ()]


class Client:
    """One user at one API server. Every method raises ApiError, UnreachableError or ConfigError.

    Several threads may use it at once.
    """

    def __init__(self, access: Access, environ: Mapping[str, str], request_seconds: float | None = None) -> None:
        """`request_seconds` limits a single request; 0 means no limit, None the default."""
        self.access = access
        self._credentials = Credentials(access, environ)
        seconds = DEFAULT_REQUEST_SECONDS if request_seconds is None else request_seconds
        self._seconds = seconds or None
        self._connections: Connections | None = None
        self._connecting = Lock()

    def whoami(self) -> Identity:
        """The user that the API server takes us for (a SelfSubjectReview)."""
        review = {"apiVersion": SELF_SUBJECT_REVIEWS.api_version, "kind": SELF_SUBJECT_REVIEWS.kind}
        user = self.create(SELF_SUBJECT_REVIEWS, None, review)["status"]["userInfo"]
        return Identity(user["username"], tuple(user.get("groups") or ()), user.get("uid") or "")

    def get(self, resource: Resource, namespace: str | None, name: str) -> Object:
        """One object."""
        return self.call("GET", resource.path(namespace, name))

    def list(
        self,
        resource: Resource,
        namespace: str | None,
        *,
        field_selector: str = "",
        label_selector: str = "",
    ) -> ObjectList:
        """All objects that match, page by page. `namespace=None`: in all namespaces.

        A list that grows too old between two pages is begun again, once.
        """
        query = _selectors(field_selector, label_selector) | {"limit": str(PAGE)}
        try:
            return self._pages(resource.path(namespace), query)
        except ApiError as error:
            if not error.gone:
                raise
        return self._pages(resource.path(namespace), query)

    def scan(
        self,
        resource: Resource,
        namespace: str | None,
        *,
        field_selector: str = "",
        label_selector: str = "",
        table: bool = False,
    ) -> Scan:
        """All objects that match, one by one, or their rows in a table, which has only the columns of the kind.

        Asked for without pages: the API server answers from memory then, and a page after the first may cost
        it a walk through its storage.
        """
        query = _selectors(field_selector, label_selector)
        if table:
            query["includeObject"] = "None"
        response = self.open_stream(resource.path(namespace), query, self._seconds, _TABLE if table else _JSON)
        return Scan(response, "rows" if table else "items")

    def names(self, resource: Resource, namespace: str | None, field_selector: str = "") -> Sequence[str]:
        """The names of all objects that match."""
        rows = self.scan(resource, namespace, field_selector=field_selector, table=True)
        return [str(row["cells"][rows.columns.index("Name")]) for row in rows]

    def create(self, resource: Resource, namespace: str | None, body: Object) -> Object:
        """Creates an object. Unknown fields are refused, not dropped."""
        return self.call("POST", resource.path(namespace), body=body, query=_written())

    def merge_patch(
        self, resource: Resource, namespace: str | None, name: str, patch: Object, subresource: str = ""
    ) -> Object:
        """Merges a patch. With `metadata.resourceVersion` in it, a stale one is a conflict."""
        path = resource.path(namespace, name, subresource)
        return self.call("PATCH", path, body=patch, query=_written(), content_type=_MERGE_PATCH)

    def json_patch(
        self,
        resource: Resource,
        namespace: str | None,
        name: str,
        operations: Sequence[Object],
        manager: str = FIELD_MANAGER,
    ) -> Object:
        """Applies JSON patch operations, which keep what is null. A failing `test` is a 422, no conflict.

        The API server remembers for each `manager` which fields it has written, and when.
        """
        path, query = resource.path(namespace, name), _written() | {"fieldManager": manager}
        return self.call("PATCH", path, body=operations, query=query, content_type=_JSON_PATCH)

    def apply(
        self, resource: Resource, namespace: str | None, name: str, body: Object, *, force: bool = False
    ) -> Object:
        """Server-side apply: says which fields are ours. Fields of others are a conflict unless forced."""
        query = _written() | {"force": "true" if force else "false"}
        path = resource.path(namespace, name)
        return self.call("PATCH", path, body=body, query=query, content_type=_APPLY_PATCH)

    def replace(
        self, resource: Resource, namespace: str | None, name: str, body: Object, subresource: str = ""
    ) -> Object:
        """Replaces an object. Its resourceVersion must be the current one."""
        path = resource.path(namespace, name, subresource)
        return self.call("PUT", path, body=body, query=_written())

    def delete(self, resource: Resource, namespace: str | None, name: str) -> Object:
        """Deletes an object and, in the background, what it owns."""
        return self.call("DELETE", resource.path(namespace, name), query={"propagationPolicy": "Background"})

    def call(
        self,
        method: str,
        path: str,
        *,
        body: Object | Sequence[Object] | None = None,
        query: Mapping[str, str] | None = None,
        accept: str = _JSON,
        content_type: str = _JSON,
    ) -> Object:
        """One request and its JSON answer."""
        return self._decoded(
            _unthrottled(lambda: self._send(method, path, body, query, accept, content_type, self._seconds)), path
        )

    def open_stream(
        self, path: str, query: Mapping[str, str], read_seconds: float | None, accept: str = _JSON
    ) -> Response:
        """Begins a streamed GET, for watching or a long list. The caller closes the response."""
        response = _unthrottled(lambda: self._send("GET", path, None, query, accept, _JSON, read_seconds))
        if response.status != 200:
            self._decoded(response, path)
        return response

    def _pages(self, path: str, query: dict[str, str]) -> ObjectList:
        items: list[Object] = []
        token = ""
        while True:
            page = self.call("GET", path, query=query | ({"continue": token} if token else {}))
            items += page.get("items") or []
            token = page.get("metadata", {}).get("continue") or ""
            if not token:
                return ObjectList(items, page.get("metadata", {}).get("resourceVersion") or "")

    def _send(
        self,
        method: str,
        path: str,
        body: Object | Sequence[Object] | None,
        query: Mapping[str, str] | None,
        accept: str,
        content_type: str,
        seconds: float | None,
    ) -> Response:
        """One request; once more where the server no longer takes a credential that can be renewed."""
        target = path + (f"?{urlencode(query)}" if query else "")
        payload = None if body is None else json.dumps(body, separators=(",", ":")).encode()
        for _ in range(2):
            headers = [("Accept", accept), ("User-Agent", "kubectl-compozy"), *self._credentials.headers()]
            run = self._credentials.runs
            if payload is not None:
                headers.append(("Content-Type", content_type))
            with self._reaching():
                response = self._connected().request(method, target, payload, headers, seconds)
            if response.status != 401 or not self._credentials.refused(run):
                break
            response.close()
            self._connections = None
        return response

    @contextmanager
    def _reaching(self) -> Iterator[None]:
        """What goes wrong on the way is one line, which names the server."""
        try:
            yield
        except ssl.SSLError as error:
            raise UnreachableError(f"cannot trust {self.access.server}: {_one_line(error)}") from error
        except FAILURES as error:
            raise UnreachableError(f"cannot reach {self.access.server}: {_one_line(error)}") from error

    def _connected(self) -> Connections:
        with self._connecting:
            if self._connections is None:
                self._connections = Connections(self.access, self._credentials.client_certificate())
            return self._connections

    def _decoded(self, response: Response, path: str) -> Object:
        """The JSON of an answer, or the error that it is."""
        with self._reaching():
            data = response.read()
        try:
            answer = json.loads(data)
        except (ValueError, RecursionError):
            answer = None
        if not isinstance(answer, dict):
            if response.status == 404 and GROUP in path:
                raise UnreachableError(
                    f"{self.access.server} does not know {GROUP}: install the CRDs with "
                    "`kubectl apply --server-side -f crds/`"
                )
            raise UnreachableError(
                f"{self.access.server} answered {response.status} and no JSON: is it an API server?"
            )
        if response.status >= 300:
            raise ApiError.from_status(response.status, answer)
        return answer


def _unthrottled(send: Callable[[], Response]) -> Response:
    """Sends; waits and sends again where the server says that it is busy (429)."""
    response = send()
    for _ in range(_THROTTLED_TRIES - 1):
        if response.status != 429:
            break
        response.close()
        time.sleep(min(_retry_after(response), 10))
        response = send()
    return response


def _selectors(field_selector: str, label_selector: str) -> dict[str, str]:
    given = {"fieldSelector": field_selector, "labelSelector": label_selector}
    return {key: value for key, value in given.items() if value}


def _written() -> dict[str, str]:
    return {"fieldManager": FIELD_MANAGER, "fieldValidation": "Strict"}


def _retry_after(response: Response) -> float:
    try:
        return float(response.header("Retry-After", "1"))
    except ValueError:
        return 1.0


def _one_line(error: BaseException) -> str:
    """The reason of a network error."""
    text = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return " ".join(str(text).split())
