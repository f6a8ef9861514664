"""In which order questions are listed, and where a page ends.

Pending: those that expire first come first, those that never expire last; then the longest open; then by uid.
Resolved: the newest first. A cursor is the sort key of a page's last row, so a page that begins after it
stays right while questions come and go. Pure: objects in, objects out.
"""

import base64
import binascii
import heapq
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from operator import itemgetter
from typing import Any, Literal, TypeVar

from compozy.cli.errors import CliError
from compozy.cli.output.times import parse_time

Request = Mapping[str, Any]
AnyRequest = TypeVar("AnyRequest", bound=Request)
ListState = Literal["pending", "resolved"]
SortKey = tuple[int | float | str, ...]

DEFAULT_LIMIT = 50
MAX_LIMIT = 200


@dataclass(frozen=True, slots=True)
class Page:
    """Some rows of a list, in order."""

    items: list[Request]
    next_cursor: str
    """Empty at the end of the list."""
    left: int
    """Rows after this page."""
    total: int
    """Rows of the whole list."""


def sort_key(request: Request, state: ListState) -> SortKey:
    """The place of a request in a list: smaller comes first."""
    metadata = request["metadata"]
    opened = _micros(metadata.get("creationTimestamp"))
    if state == "pending":
        expires = _micros(request["spec"].get("expiresAt"))
        return (0 if expires else 1, expires, opened, metadata["uid"])
    resolved = _micros((request.get("status") or {}).get("resolvedAt")) or opened
    return (-resolved, metadata["uid"])


def page(requests: Iterable[Request], state: ListState, limit: int, cursor: str | None) -> Page:
    """The rows after a cursor, at most `limit` of them.

    Reads the requests once, in any order, and keeps no more than a page of them. Raises CliError for a cursor
    that is not ours, before it reads any.
    """
    if not 1 <= limit <= MAX_LIMIT:
        raise CliError("bad_input", f"--limit must be from 1 to {MAX_LIMIT}, not {limit}")
    after = decode_cursor(cursor, state) if cursor else ()
    total = following = 0

    def rows_after() -> Iterator[tuple[SortKey, Request]]:
        nonlocal total, following
        for request in requests:
            total += 1
            key = sort_key(request, state)
            if key > after:
                following += 1
                yield key, request

    taken = heapq.nsmallest(limit, rows_after(), key=itemgetter(0))
    left = following - len(taken)
    next_cursor = encode_cursor(taken[-1][0], state) if left else ""
    return Page([request for _, request in taken], next_cursor, left, total)


def encode_cursor(key: SortKey, state: ListState) -> str:
    """An opaque name for a place in a list."""
    text = json.dumps([state, *key], separators=(",", ":"))
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def decode_cursor(cursor: str, state: ListState) -> SortKey:
    """The place that a cursor names. Raises CliError when it was not made by a list of this state."""
    shape = (int, int, int, str) if state == "pending" else (int, str)
    try:
        parts = json.loads(base64.b64decode(cursor + "=" * (-len(cursor) % 4), b"-_", validate=True))
    except (binascii.Error, ValueError, RecursionError):
        parts = None
    if not isinstance(parts, list) or parts[:1] != [state] or [type(part) for part in parts[1:]] != list(shape):
        raise CliError(
            "bad_input", f"the cursor does not belong to a list of {state} requests: leave --cursor out"
        )
    return tuple(parts[1:])


def asking_order(requests: Sequence[AnyRequest]) -> list[AnyRequest]:
    """The order in which a terminal asks: node by node as they opened, then in item order."""
    first_opened: dict[str, int] = {}
    for request in requests:
        node, opened = request["spec"]["node"], _micros(request["metadata"].get("creationTimestamp"))
        first_opened[node] = min(opened, first_opened.get(node, opened))
    return sorted(
        requests,
        key=lambda request: (
            first_opened[request["spec"]["node"]],
            request["spec"]["node"],
            request["spec"].get("item", -1),
            request["metadata"]["uid"],
        ),
    )


@lru_cache(maxsize=4096)
def _micros(text: str | None) -> int:
    """Microseconds since 1970; 0 where there is no time. Questions of a fan-out have their times in common."""
    moment = parse_time(text)
    if moment is None:
        return 0
    whole = moment.replace(microsecond=0)
    return int(whole.timestamp()) * 1_000_000 + moment.microsecond
