"""Lists of thousands of questions on a real API server: in order, complete, and only what was asked for."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from support.apiserver import request

from .conftest import BIN, CHANNEL, Desk

pytestmark = pytest.mark.cluster

MANY = 2000
RUNS = 50
LONG = "x" * 4000


def manifest(number: int) -> dict[str, Any]:
    """A question of a fan-out; every third never expires, and many expire at the same time."""
    expires = None if number % 3 == 0 else f"2099-01-{1 + number * 7 % 28:02}T00:00:00Z"
    return request(
        f"many-{number:05}",
        run=f"run-{number % RUNS}",
        node="ask",
        item=number // RUNS,
        expect=CHANNEL,
        context={"log": LONG},
        expiresAt=expires,
    )


@pytest.fixture(scope="module")
def many(shared_desk: Desk) -> Iterator[Desk]:
    """Somebody who has thousands of questions. They are gone afterwards: other tests list all namespaces."""
    operator, path = shared_desk.operator, shared_desk.operator.path("humanrequests")
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda number: operator.call("POST", path, manifest(number)).object(), range(MANY)))
    yield shared_desk
    shared_desk.admin.call("DELETE", path).object()


def in_order(desk: Desk) -> list[dict[str, Any]]:
    """The pending questions, from the objects themselves."""
    items: list[dict[str, Any]] = []
    token = ""
    while True:
        query = {"fieldSelector": "status.state=Pending", "limit": "500"} | ({"continue": token} if token else {})
        page = desk.admin.call("GET", desk.admin.path("humanrequests"), **query).object()
        items += page["items"]
        token = page["metadata"].get("continue", "")
        if not token:
            return sorted(items, key=place)


def place(item: dict[str, Any]) -> tuple[Any, ...]:
    expires = item["spec"].get("expiresAt")
    return expires is None, expires or "", item["metadata"]["creationTimestamp"], item["metadata"]["uid"]


def names(items: list[dict[str, Any]]) -> list[str]:
    return [item["metadata"]["name"] for item in items]


def test_a_walk_through_thousands(many: Desk) -> None:
    """Meanwhile some are resolved or deleted on both sides of where the walk is, and new ones open."""
    expected = in_order(many)
    page = many.json("requests", "--limit", "200")
    assert names(page["items"]) == names(expected[:200])
    assert page["aggregates"] == {"pending": len(expected)}
    assert page["items"][0]["spec"] == expected[0]["spec"]

    gone = [expected[at] for at in (0, 150, 199, 200, 201, 900, -1)]
    for item in gone[:4]:
        status = {"state": "Canceled", "resolvedAt": "2026-05-01T00:00:00Z"}
        name = item["metadata"]["name"]
        many.operator.patch("humanrequests", name, {"status": status}, subresource="status").object()
    for item in gone[4:]:
        many.admin.delete("humanrequests", item["metadata"]["name"]).object()
    many.open("before", expiresAt="2098-01-01T00:00:00Z")
    many.open("after", expiresAt=None)

    found = names(page["items"])
    while page["next_cursor"]:
        page = many.json("requests", "--limit", "200", "--cursor", page["next_cursor"])
        found += names(page["items"])
    # It may have opened in the same second as the last of the others: then its uid decides.
    after = many.admin.get("humanrequests", "after")
    left = sorted([*(item for item in expected[200:] if item not in gone), after], key=place)
    assert found == [*names(expected[:200]), *names(left)]
    assert page["aggregates"] == {"pending": len(expected) - len(gone) + 2}


def test_one_run_of_many(many: Desk) -> None:
    everything = in_order(many)
    expected = [item for item in everything if item["spec"]["run"] == "run-7"]
    listed = many.json("requests", "--run", "run-7", "--limit", "200")
    assert names(listed["items"]) == names(expected)
    assert (listed["aggregates"], listed["next_cursor"]) == ({"pending": len(everything)}, "")
    table = many.call("requests", "--run", "run-7", "--limit", "3")
    assert [line.split()[0] for line in table.stdout.splitlines()[1:]] == names(expected[:3])
    assert table.stderr.startswith(f"{len(expected) - 3} more: add --cursor ")


def test_one_place_of_many(many: Desk) -> None:
    everything = in_order(many)
    one = next(item for item in everything if item["spec"]["run"] == "run-7")
    place = ["--run", "run-7", "--node", "ask", "--generation", "1", "--item", str(one["spec"]["item"])]
    assert names(many.json("requests", *place)["items"]) == [one["metadata"]["name"]]
    assert many.json("request", *place) == one
    first = [item for item in everything if item["spec"].get("item") == 0]
    assert names(many.json("requests", "--item", "0", "--limit", "200")["items"]) == names(first)
    assert many.json("requests", "--generation", "2")["items"] == []
    assert many.json("requests", "--node", "another")["items"] == []


def test_a_watch_of_thousands_begins_in_order(many: Desk) -> None:
    expected = names(in_order(many))
    command = [str(BIN / "kubectl-compozy"), "requests", "-w", "-o", "json", "-n", many.namespace]
    with subprocess.Popen(command, env=many.environment(many.alice), stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            seen = [json.loads(process.stdout.readline())["metadata"]["name"] for _ in expected]
            many.open("one-more")
            last = json.loads(process.stdout.readline())["metadata"]["name"]
        finally:
            process.kill()
    assert (seen, last) == (expected, "one-more")
