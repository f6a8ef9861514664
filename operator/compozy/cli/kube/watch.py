"""Watching a collection: what it holds now, then every change, across broken connections.

What is yielded is the current state of an object, so a consumer decides from the object and never from the
number or the order of events. A deletion that happened while nobody listened is found by listing again.
"""

import json
import random
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from compozy.cli.kube.client import Client, Object, ObjectList, Scan
from compozy.cli.kube.connections import FAILURES
from compozy.cli.kube.errors import ApiError, UnreachableError
from compozy.cli.kube.resources import Resource

SILENCE_SECONDS = 90.0
"""Bookmarks come every minute: a stream that is silent for longer has died without telling."""

STREAM_SECONDS = 240
PATIENCE_SECONDS = 60.0
"""How long a watch outlives an API server that cannot be reached."""


@dataclass(frozen=True, slots=True)
class Change:
    """An object as it is now, or as it last was (`deleted`)."""

    deleted: bool
    object: Object


@dataclass(slots=True)
class _Position:
    """Where a watch stands: what it has told so far, by uid, and the version to go on from."""

    known: dict[str, Object]
    remembered: Callable[[Object], Object]
    resource_version: str = ""

    def knows(self, item: Object) -> bool:
        """Whether this very version was told."""
        told = self.known.get(item["metadata"]["uid"])
        return told is not None and told["metadata"].get("resourceVersion") == item["metadata"]["resourceVersion"]

    def tell(self, item: Object) -> Change:
        """The change that an object as it is now stands for."""
        self.known[item["metadata"]["uid"]] = self.remembered(item)
        return Change(False, item)


def watch(
    client: Client,
    resource: Resource,
    namespace: str | None,
    *,
    field_selector: str = "",
    label_selector: str = "",
    since: ObjectList | None = None,
    seconds: float | None = None,
    remembered: Callable[[Object], Object] = lambda item: item,
) -> Iterator[Change]:
    """Yields every object that matches, then changes, until `seconds` have passed or the caller stops.

    With `since`, a list that the caller has already, only what has changed after it is yielded.
    An object that no longer matches the selectors counts as deleted. `remembered` makes of an object what is
    kept of it: at least its uid and resourceVersion, and what is to be told of it should it be found missing.
    Raises ApiError when the server refuses, UnreachableError when it has been silent for longer than a minute.
    """
    selectors = {"fieldSelector": field_selector, "labelSelector": label_selector}
    query = {key: value for key, value in selectors.items() if value}
    deadline = None if seconds is None else time.monotonic() + seconds
    position = _Position({}, remembered)
    if since is not None:
        told = {item["metadata"]["uid"]: remembered(item) for item in since.items}
        position = _Position(told, remembered, since.resource_version)
    last_heard = time.monotonic()
    pause = 0.1
    while deadline is None or time.monotonic() < deadline:
        try:
            if not position.resource_version:
                listed = client.scan(
                    resource, namespace, field_selector=field_selector, label_selector=label_selector
                )
                yield from _relisted(position, listed)
            last_heard = time.monotonic()
            yield from _stream(client, resource.path(namespace), query, position, deadline)
            if time.monotonic() - last_heard > 1:
                pause = 0.1
                continue
        except UnreachableError:
            if time.monotonic() - last_heard > PATIENCE_SECONDS:
                raise
        except ApiError as error:
            if error.gone:
                position.resource_version = ""
                continue
            if error.status < 500 and error.status != 429:
                raise
            if time.monotonic() - last_heard > PATIENCE_SECONDS:
                raise
        time.sleep(pause * random.uniform(0.5, 1.5))  # noqa: S311 - jitter
        pause = min(pause * 2, 5.0)


def watch_object(client: Client, resource: Resource, seen: Object, seconds: float) -> Iterator[Change]:
    """Yields every change of one object after what was seen of it, until `seconds` have passed."""
    metadata = seen["metadata"]
    return watch(
        client,
        resource,
        metadata["namespace"],
        field_selector=f"metadata.name={metadata['name']}",
        since=ObjectList([seen], metadata["resourceVersion"]),
        seconds=seconds,
    )


def _relisted(position: _Position, listed: Scan) -> Iterator[Change]:
    """The difference between what was told and a fresh list."""
    fresh = set()
    for item in listed:
        fresh.add(item["metadata"]["uid"])
        if not position.knows(item):
            yield position.tell(item)
    for uid in [uid for uid in position.known if uid not in fresh]:
        yield Change(True, position.known.pop(uid))
    position.resource_version = listed.resource_version


def _stream(
    client: Client, path: str, query: dict[str, str], position: _Position, deadline: float | None
) -> Iterator[Change]:
    """One connection's worth of events. Ends quietly when the connection does."""
    left = STREAM_SECONDS if deadline is None else max(1, int(deadline - time.monotonic()) + 1)
    asked = query | {
        "watch": "true",
        "allowWatchBookmarks": "true",
        "resourceVersion": position.resource_version,
        "timeoutSeconds": str(min(left, STREAM_SECONDS)),
    }
    response = client.open_stream(path, asked, min(SILENCE_SECONDS, left + 5))
    try:
        for line in _lines(response.stream(65536)):
            event = json.loads(line)
            item = event["object"]
            if event["type"] == "ERROR":
                raise ApiError.from_status(500, item)
            position.resource_version = item["metadata"]["resourceVersion"]
            if event["type"] == "BOOKMARK":
                continue
            if event["type"] == "DELETED":
                position.known.pop(item["metadata"]["uid"], None)
                yield Change(True, item)
            else:
                yield position.tell(item)
    except FAILURES:
        return
    finally:
        response.close()


def _lines(chunks: Iterator[bytes]) -> Iterator[bytes]:
    """Splits a byte stream at line ends; an unfinished last line is dropped."""
    rest = b""
    for chunk in chunks:
        *whole, rest = (rest + chunk).split(b"\n")
        yield from (line for line in whole if line.strip())
