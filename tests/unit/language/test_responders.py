"""Policies that nobody, or too few people, could ever satisfy."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compozy.language.responders import unsatisfiable
from compozy.requests.respond import Identity, judge_approval

pytestmark = pytest.mark.unit

BOT = "system:serviceaccount:team:bot"
ACCOUNTS = "system:serviceaccounts"


@pytest.mark.parametrize(
    ("responders", "starters", "field"),
    [
        ({}, ["alice"], None),
        ({"approvals": 20}, ["alice"], None),
        ({"agents": "deny", "initiator": "deny"}, ["alice"], None),
        # Nobody is named.
        ({"users": []}, [], "users"),
        ({"groups": []}, [], "groups"),
        ({"users": [], "groups": []}, [], "users"),
        ({"users": [], "groups": ["team"]}, ["alice"], None),
        ({"users": ["alice"], "groups": []}, ["alice"], None),
        # Who has started the run.
        ({"users": ["alice"], "initiator": "deny"}, [], None),
        ({"users": ["alice"], "initiator": "deny"}, ["alice"], "initiator"),
        ({"users": ["alice"], "initiator": "deny"}, ["operator", "alice"], "initiator"),
        # A run that does not record it may be anybody's.
        ({"initiator": "deny"}, ["bob", None], "initiator"),
        ({"groups": ["team"], "initiator": "deny"}, [None], "initiator"),
        ({"groups": ["team"]}, [None], None),
        ({"users": ["alice"]}, [None], None),
        ({"users": [BOT], "agents": "allow"}, [None], "initiator"),
        ({"users": ["alice"], "initiator": "allow"}, ["alice"], None),
        ({"users": ["alice", "bob"], "initiator": "deny"}, ["operator", "alice", "bob"], "initiator"),
        ({"users": ["alice", "bob"], "initiator": "deny"}, ["alice"], None),
        ({"users": ["alice"], "groups": ["team"], "initiator": "deny"}, ["alice"], None),
        # How many must approve.
        ({"users": ["alice", "bob"], "approvals": 2}, [], None),
        ({"users": ["alice", "alice"], "approvals": 2}, [], "approvals"),
        ({"users": ["alice", "bob"], "approvals": 3}, [], "approvals"),
        ({"users": ["alice", "bob"], "approvals": 2, "initiator": "deny"}, ["bob"], "approvals"),
        ({"users": ["alice", BOT], "approvals": 2}, [], "approvals"),
        ({"users": ["alice", BOT], "approvals": 2, "agents": "allow"}, [], None),
        ({"users": ["alice", BOT], "approvals": 2, "agents": "allow"}, [BOT], "approvals"),
        ({"users": ["alice"], "groups": ["team"], "approvals": 20}, [], None),
        # Agents only.
        ({"users": [BOT]}, [], "agents"),
        ({"users": [BOT], "agents": "allow"}, [], None),
        ({"users": [BOT], "agents": "allow"}, [BOT], "initiator"),
        ({"groups": [ACCOUNTS]}, [], "agents"),
        ({"groups": [ACCOUNTS, f"{ACCOUNTS}:team"], "users": [BOT]}, [], "agents"),
        ({"groups": [f"{ACCOUNTS}:team"], "agents": "allow"}, [], None),
        ({"groups": [ACCOUNTS, "team"]}, [], None),
        ({"groups": [ACCOUNTS], "users": ["alice"], "approvals": 2}, [], "approvals"),
    ],
)
def test_what_can_be_known(responders: dict[str, object], starters: list[str | None], field: str | None) -> None:
    found = unsatisfiable(responders, starters)
    assert (found.field if found else None) == field
    assert found is None or found.message


PEOPLE = ["alice", "bob", "carol", BOT]
POLICIES = st.fixed_dictionaries(
    {},
    optional={
        "users": st.lists(st.sampled_from(PEOPLE), max_size=4),
        "groups": st.just([]),
        "agents": st.sampled_from(["allow", "deny"]),
        "initiator": st.sampled_from(["allow", "deny"]),
        "approvals": st.integers(1, 4),
    },
)


@given(POLICIES, st.lists(st.sampled_from([*PEOPLE, None]), min_size=1, max_size=2))
def test_it_says_what_trying_everybody_would_say(
    responders: dict[str, object], starters: list[str | None]
) -> None:
    """Where only users are named: as many as the judgement lets approve, against as many as must."""
    spec = {"kind": "Review", "decisions": ["approve", "reject"], "responders": responders}
    admitted = [
        name for name in PEOPLE if judge_approval({"spec": spec}, Identity(name, frozenset()), starters) is None
    ]
    is_named = "users" in responders or "groups" in responders
    needed = responders.get("approvals", 1) if is_named else 1
    # Where nobody is named anybody may, people beyond these too, unless the run could be anybody's.
    expected = len([name for name in admitted if is_named or name != BOT]) < needed
    assert (unsatisfiable(responders, starters) is not None) is expected
