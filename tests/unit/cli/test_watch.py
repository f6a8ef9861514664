"""Watching: the current state of objects, whatever happens to the connection."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from typing import Any

import pytest

from compozy.cli.kube.access import Access
from compozy.cli.kube.client import Client, ObjectList
from compozy.cli.kube.errors import ApiError
from compozy.cli.kube.resources import HUMAN_REQUESTS
from compozy.cli.kube.watch import Change, watch

from .conftest import Call, Reply, Scripted

pytestmark = pytest.mark.unit


def item(uid: str, version: str) -> dict[str, Any]:
    return {"metadata": {"uid": uid, "resourceVersion": version}}


def event(kind: str, uid: str, version: str) -> dict[str, Any]:
    return {"type": kind, "object": item(uid, version)}


def listed(version: str, *items: Any) -> Reply:
    return Reply(body={"metadata": {"resourceVersion": version}, "items": list(items)})


def play(server: Scripted, *replies: Reply) -> None:
    """Answers with one reply after the other, then with a refusal that ends the watch."""
    left = iter(replies)
    end = Reply(403, {"kind": "Status", "code": 403, "message": "the end"})
    server.handler = lambda _call: next(left, end)


def told(server: Scripted, **options: Any) -> list[tuple[bool, str, str]]:
    """What the watch yields until it ends: deleted, uid, version."""
    client = Client(Access(server=server.url), {})

    def until_end() -> Iterator[Change]:
        try:
            yield from watch(client, HUMAN_REQUESTS, "team", **options)
        except ApiError as error:
            assert error.message == "the end"

    return [
        (
            change.deleted,
            change.object["metadata"]["uid"],
            change.object["metadata"]["resourceVersion"],
        )
        for change in until_end()
    ]


def test_first_what_there_is_then_what_changes(server: Scripted) -> None:
    stream = Reply(lines=[event("MODIFIED", "a", "3"), event("BOOKMARK", "x", "8"), event("DELETED", "b", "9")])
    play(server, listed("2", item("a", "1"), item("b", "2")), stream)
    assert told(server, field_selector="spec.run=r") == [
        (False, "a", "1"),
        (False, "b", "2"),
        (False, "a", "3"),
        (True, "b", "9"),
    ]
    calls: list[Call] = server.calls
    assert [call.query.get("resourceVersion") for call in calls] == [None, "2", "9"]
    assert all(call.query["fieldSelector"] == "spec.run=r" for call in calls)
    assert calls[1].query["allowWatchBookmarks"] == "true"


def test_a_list_that_the_caller_has_is_not_told_again(server: Scripted) -> None:
    play(server, Reply(lines=[event("ADDED", "b", "6")]))
    assert told(server, since=ObjectList([item("a", "1")], "5")) == [(False, "b", "6")]
    assert server.calls[0].query["resourceVersion"] == "5"


def test_a_broken_connection_goes_on_where_it_was(server: Scripted) -> None:
    play(
        server,
        listed("2", item("a", "1")),
        Reply(lines=[event("MODIFIED", "a", "3")]),
        Reply(lines=[event("MODIFIED", "a", "4")]),
    )
    assert told(server) == [(False, "a", "1"), (False, "a", "3"), (False, "a", "4")]


@pytest.mark.parametrize(
    "too_old",
    [
        Reply(lines=[{"type": "ERROR", "object": {"kind": "Status", "code": 410, "message": "old"}}]),
        Reply(410, {"kind": "Status", "code": 410, "message": "old"}),
    ],
)
def test_a_version_that_is_too_old_means_listing_again(server: Scripted, too_old: Reply) -> None:
    """What was deleted meanwhile is found missing, what is as it was is not told again."""
    play(
        server,
        listed("5", item("a", "1"), item("b", "2"), item("c", "3")),
        too_old,
        listed("9", item("a", "1"), item("c", "8"), item("d", "9")),
    )
    assert told(server) == [
        (False, "a", "1"),
        (False, "b", "2"),
        (False, "c", "3"),
        (False, "c", "8"),
        (False, "d", "9"),
        (True, "b", "2"),
    ]


def test_what_is_kept_of_an_object_is_for_the_caller_to_say(server: Scripted) -> None:
    play(
        server,
        listed("5", {**item("a", "1"), "long": "text"}),
        Reply(410, {"kind": "Status", "code": 410, "message": "old"}),
        listed("9"),
    )
    changes = watch(
        Client(Access(server=server.url), {}),
        HUMAN_REQUESTS,
        "team",
        remembered=lambda one: {"metadata": one["metadata"]},
    )
    assert list(itertools.islice(changes, 2)) == [
        Change(False, {**item("a", "1"), "long": "text"}),
        Change(True, item("a", "1")),
    ]


def test_a_list_that_breaks_off_is_read_again(server: Scripted) -> None:
    """What it had told by then is not told twice."""
    whole = json.dumps({"items": [item("a", "1"), item("b", "2")], "metadata": {"resourceVersion": "5"}})
    play(server, Reply(body=whole[:70].encode()), Reply(body=whole.encode()), Reply(lines=[]))
    assert told(server) == [(False, "a", "1"), (False, "b", "2")]


def test_a_server_that_fails_is_asked_again(server: Scripted) -> None:
    failing = Reply(503, {"kind": "Status", "code": 503, "message": "not now"})
    play(server, failing, listed("1", item("a", "1")))
    assert told(server) == [(False, "a", "1")]


def test_it_ends_when_its_time_is_over(server: Scripted) -> None:
    server.handler = lambda call: Reply(lines=[]) if "watch" in call.query else listed("1", item("a", "1"))
    changes = watch(Client(Access(server=server.url), {}), HUMAN_REQUESTS, "team", seconds=0.2)
    assert len(list(itertools.islice(changes, 5))) == 1
