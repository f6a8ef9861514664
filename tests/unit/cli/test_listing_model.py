"""Pages of a list while questions come and go, against a naive reference."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, initialize, invariant, multiple, rule

from compozy.cli.errors import CliError
from compozy.cli.listing import ListState, page

pytestmark = pytest.mark.unit

START = datetime(2026, 1, 1, tzinfo=UTC)
FINAL = ("Answered", "Declined", "Expired", "Canceled")
moments = st.integers(0, 5)
"""Few, so that there are ties."""


def text(seconds: float) -> str:
    return (START + timedelta(seconds=seconds)).isoformat()


@dataclass
class Question:
    """A question of the reference, in its own terms."""

    uid: str
    opened: int
    expires: float | None
    state: str = "Pending"
    resolved: float | None = None

    def listed(self) -> dict[str, Any]:
        spec = {} if self.expires is None else {"expiresAt": text(self.expires)}
        status = {"state": self.state} | ({} if self.resolved is None else {"resolvedAt": text(self.resolved)})
        metadata = {"uid": self.uid, "name": self.uid, "creationTimestamp": text(self.opened)}
        return {"metadata": metadata, "spec": spec, "status": status}

    @property
    def place(self) -> tuple[Any, ...]:
        """Where it stands, as the published page says it."""
        if self.state == "Pending":
            return self.expires is None, self.expires or 0, self.opened, self.uid
        return -(self.resolved or 0), self.uid


@dataclass
class Walk:
    """Somebody who goes through a list page by page."""

    state: ListState
    there_from_the_start: set[str]
    """What has been in the list without a break since the first page was read."""
    seen: list[tuple[tuple[Any, ...], str]] = field(default_factory=list)
    cursor: str = ""


class Lists(RuleBasedStateMachine):
    """Questions open, are resolved and deleted; several walk through the lists meanwhile."""

    uids = Bundle("uids")
    walks = Bundle("walks")

    def __init__(self) -> None:
        super().__init__()
        self.questions: dict[str, Question] = {}
        self.open_walks: list[Walk] = []

    def of(self, state: ListState) -> list[Question]:
        """The reference: all of them, sorted from scratch."""
        found = [one for one in self.questions.values() if (one.state == "Pending") == (state == "pending")]
        return sorted(found, key=lambda one: one.place)

    def page(self, state: ListState, limit: int, cursor: str) -> Any:
        return page((one.listed() for one in self.of(state)[::-1]), state, limit, cursor or None)

    @initialize(target=uids, opened=moments, expires=st.lists(st.none() | moments, max_size=8))
    def some_are_open(self, opened: int, expires: list[int | None]) -> Any:
        return multiple(*(self.open(f"{number:02}", opened, when) for number, when in enumerate(expires)))

    @rule(target=uids, uid=st.uuids().map(str), opened=moments, expires=st.none() | moments | st.just(0.5))
    def open(self, uid: str, opened: int, expires: float | None) -> str:
        self.questions[uid] = Question(uid, opened, expires)
        return uid

    @rule(uid=uids, final=st.sampled_from(FINAL), when=moments | st.just(2.000001))
    def resolve(self, uid: str, final: str, when: float) -> None:
        question = self.questions.get(uid)
        if question is None or question.state != "Pending":
            return
        question.state, question.resolved = final, when
        self._leaves(uid, "pending")

    @rule(uid=consumes(uids))
    def delete(self, uid: str) -> None:
        if self.questions.pop(uid, None):
            self._leaves(uid, "pending")
            self._leaves(uid, "resolved")

    def _leaves(self, uid: str, state: ListState) -> None:
        for walk in self.open_walks:
            if walk.state == state:
                walk.there_from_the_start.discard(uid)

    @rule(target=walks, state=st.sampled_from(["pending", "resolved"]), limit=st.integers(1, 4))
    def begin(self, state: ListState, limit: int) -> Walk:
        walk = Walk(state, {one.uid for one in self.of(state)})
        self.open_walks.append(walk)
        self._read(walk, limit)
        return walk

    @rule(walk=walks, limit=st.integers(1, 4))
    def go_on(self, walk: Walk, limit: int) -> None:
        if walk in self.open_walks:
            self._read(walk, limit)

    def _read(self, walk: Walk, limit: int) -> None:
        shown = self.page(walk.state, limit, walk.cursor)
        reference = self.of(walk.state)
        last = walk.seen[-1][0] if walk.seen else ()
        expected = [one for one in reference if one.place > last]
        assert [item["metadata"]["uid"] for item in shown.items] == [one.uid for one in expected[:limit]]
        assert (shown.left, shown.total) == (max(0, len(expected) - limit), len(reference))
        walk.seen += [(one.place, one.uid) for one in expected[:limit]]
        walk.cursor = shown.next_cursor
        if not walk.cursor:
            self.open_walks.remove(walk)
            assert walk.there_from_the_start <= {uid for _, uid in walk.seen}

    @rule(walk=walks)
    def a_cursor_of_the_other_list_is_refused(self, walk: Walk) -> None:
        other: ListState = "resolved" if walk.state == "pending" else "pending"
        if walk.cursor:
            with pytest.raises(CliError, match="does not belong"):
                self.page(other, 1, walk.cursor)

    @rule(garbage=st.text(min_size=1), walk=walks)
    def garbage_is_refused(self, garbage: str, walk: Walk) -> None:
        for cursor in (garbage, walk.cursor[:-4]):
            if cursor:
                with pytest.raises(CliError) as caught:
                    self.page(walk.state, 1, cursor)
                assert (caught.value.code, caught.value.exit_code) == ("bad_input", 65)

    @invariant()
    def nobody_is_shown_a_row_twice_or_out_of_order(self) -> None:
        for walk in self.open_walks:
            places = [place for place, _ in walk.seen]
            assert places == sorted(set(places))
            assert len({uid for _, uid in walk.seen}) == len(walk.seen)


Lists.TestCase.settings = settings(max_examples=120, stateful_step_count=30, deadline=None)
TestLists = Lists.TestCase
