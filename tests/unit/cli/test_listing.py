"""Order and pages of questions."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compozy.cli.errors import CliError
from compozy.cli.listing import ListState, asking_order, decode_cursor, encode_cursor, page, sort_key

pytestmark = pytest.mark.unit

TIMES = [None, "2026-01-01T00:00:00Z", "2026-01-01T00:00:00.5Z", "2026-01-01T00:00:00.000001Z"]
TIMES += ["2025-12-31T23:59:59.999999Z", "2026-03-01T00:00:00Z"]


def question(uid: str, **fields: Any) -> dict[str, Any]:
    return {
        "metadata": {"uid": uid, "name": uid, "creationTimestamp": fields.get("opened") or "2026-01-01T00:00:00Z"},
        "spec": {"node": fields.get("node", "n"), "expiresAt": fields.get("expires"), **_item(fields)},
        "status": {"state": "Pending", "resolvedAt": fields.get("resolved")},
    }


def _item(fields: dict[str, Any]) -> dict[str, Any]:
    return {"item": fields["item"]} if "item" in fields else {}


def names(items: Any) -> list[str]:
    return [item["metadata"]["name"] for item in items]


def test_pending_expiry_first_then_opened_then_uid() -> None:
    questions = [
        question("never-b", opened="2026-01-02T00:00:00Z"),
        question("never-a", opened="2026-01-01T00:00:00Z"),
        question("late", expires="2026-03-01T00:00:00Z"),
        question("half", expires="2026-01-01T00:00:00.5Z"),
        question("whole", expires="2026-01-01T00:00:00Z"),
        question("twin-b", expires="2026-02-01T00:00:00Z"),
        question("twin-a", expires="2026-02-01T00:00:00Z"),
        question("twin-old", expires="2026-02-01T00:00:00Z", opened="2025-01-01T00:00:00Z"),
    ]
    assert names(page(questions, "pending", 50, None).items) == [
        "whole",
        "half",
        "twin-old",
        "twin-a",
        "twin-b",
        "late",
        "never-a",
        "never-b",
    ]


def test_resolved_newest_first() -> None:
    questions = [
        question("b", resolved="2026-01-01T00:00:00Z"),
        question("a", resolved="2026-01-01T00:00:00Z"),
        question("new", resolved="2026-01-01T00:00:00.5Z"),
        question("unknown", opened="2025-01-01T00:00:00Z"),
    ]
    assert names(page(questions, "resolved", 50, None).items) == ["new", "a", "b", "unknown"]


questions = st.lists(
    st.builds(
        question,
        st.uuids().map(str),
        expires=st.sampled_from(TIMES),
        opened=st.sampled_from(TIMES[1:]),
        resolved=st.sampled_from(TIMES),
    ),
    unique_by=lambda item: item["metadata"]["uid"],
    max_size=30,
)
states = st.sampled_from(["pending", "resolved"])


@given(questions, states, st.integers(1, 7))
def test_pages_make_up_the_list(items: list[dict[str, Any]], state: ListState, limit: int) -> None:
    cursor: str | None = None
    found: list[str] = []
    while True:
        shown = page(items, state, limit, cursor)
        found += names(shown.items)
        assert (shown.next_cursor == "") == (shown.left == 0)
        if not shown.next_cursor:
            break
        assert len(shown.items) == limit
        cursor = shown.next_cursor
    assert found == names(sorted(items, key=lambda item: sort_key(item, state)))


@given(questions, states, st.data())
def test_what_leaves_between_pages_moves_nothing(
    items: list[dict[str, Any]], state: ListState, data: st.DataObject
) -> None:
    """The last row of a page may be answered before the next page is read."""
    first = page(items, state, 3, None)
    left = [item for item in items if not data.draw(st.booleans())]
    if first.next_cursor:
        rest = page(left, state, 200, first.next_cursor)
        seen = set(names(first.items))
        expected = [item for item in left if item["metadata"]["name"] not in seen]
        assert names(rest.items) == names(sorted(expected, key=lambda item: sort_key(item, state)))


@given(questions, states)
def test_a_cursor_is_read_as_it_was_written(items: list[dict[str, Any]], state: ListState) -> None:
    for item in items:
        key = sort_key(item, state)
        assert decode_cursor(encode_cursor(key, state), state) == key


def packed(value: Any) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")


@pytest.mark.parametrize(
    "cursor",
    [
        "x",
        "!!!",
        "é",
        packed({}),
        packed(["resolved", 1, "u"]),
        packed(["pending", 0, 1, 2]),
        packed(["pending", 0, "1", 2, "u"]),
        packed(["pending", 0, True, 2, "u"]),
        packed(["pending", 0, 1, 2, "u", "more"]),
        packed([[[]]]),
        "W1tb" * 5000,
    ],
)
def test_a_cursor_of_something_else_is_refused(cursor: str) -> None:
    with pytest.raises(CliError) as caught:
        page([], "pending", 50, cursor)
    assert (caught.value.code, caught.value.exit_code) == ("bad_input", 65)


@pytest.mark.parametrize("limit", [0, -1, 201])
def test_a_limit_out_of_range_is_refused(limit: int) -> None:
    with pytest.raises(CliError, match="from 1 to 200"):
        page([], "pending", limit, None)


def test_a_terminal_asks_node_by_node_in_item_order() -> None:
    asked = [
        question("m10", node="M/do", item=10, opened="2026-01-01T00:00:01Z"),
        question("m2", node="M/do", item=2, opened="2026-01-01T00:00:02Z"),
        question("m0", node="M/do", item=0, opened="2026-01-01T00:00:03Z"),
        question("a", node="A", opened="2026-01-01T00:00:02Z"),
        question("z", node="Z", opened="2026-01-01T00:00:00Z"),
    ]
    assert names(asking_order(asked)) == ["z", "m0", "m2", "m10", "a"]
