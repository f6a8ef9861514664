"""How many have approved, and whether one more decides."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compozy.requests.approvals import approvers, has_approved, needed, others_missing, progress, speaker
from compozy.requests.respond import Accepted, Identity, Refused, judge, judge_approval

pytestmark = pytest.mark.unit


def request(approvals, *people, response=None, **responders):
    spec = {"kind": "Review", "decisions": ["approve", "reject"]}
    found = {"spec": {**spec, "responders": {**responders, "approvals": approvals}}}
    found["approvals"] = [{"responder": name} for name in people]
    return found | ({"response": response} if response else {})


def decide(asked, user, decision="approve", started_by=("carol",)):
    return judge(asked, {"decision": decision}, Identity(user, frozenset()), started_by, lambda *_: True)


def test_without_a_policy_one_person_decides():
    asked = {"spec": {"kind": "Ask", "decisions": ["respond"]}}
    assert (needed(asked), approvers(asked), others_missing(asked, "alice"), progress(asked)) == (1, [], 0, "")


@pytest.mark.parametrize(
    ("people", "user", "missing"),
    [([], "alice", 2), (["bob"], "alice", 1), (["alice"], "alice", 2), (["alice", "bob"], "carol", 0)],
)
def test_how_many_others_are_missing(people, user, missing):
    asked = request(3, *people)
    assert others_missing(asked, user) == missing
    found = decide(asked, user)
    if missing:
        assert isinstance(found, Refused) and found.code == "approvals_missing"
        assert f"{missing} other" in found.message and "of 3" in found.message
    else:
        assert found == Accepted("approve", None)


@given(st.integers(1, 20), st.lists(st.sampled_from("abcdefghij")), st.sampled_from("abcdefghij"))
def test_each_person_counts_once(approvals, people, user):
    asked = request(approvals, *people)
    assert (others_missing(asked, user) == 0) is (len({*people, user}) >= approvals)
    assert isinstance(decide(asked, user), Accepted) is (others_missing(asked, user) == 0)
    assert isinstance(decide(asked, user, "reject"), Accepted)


def test_who_decides_is_counted_with_the_others():
    decided = request(3, "alice", "bob", response={"decision": "approve", "responder": "carol"})
    assert approvers(decided) == ["alice", "bob", "carol"]
    assert progress(decided) == "3 of 3 approvals"
    rejected = request(3, "alice", response={"decision": "reject", "responder": "alice"})
    assert progress(rejected) == "1 of 3 approvals"
    assert has_approved(rejected, "alice") and not has_approved(decided, "carol")


@pytest.mark.parametrize(
    ("responders", "user", "started_by", "code"),
    [
        ({}, "alice", ["alice"], None),
        ({"initiator": "deny"}, "alice", ["alice"], "respond_self_denied"),
        ({"initiator": "deny"}, "alice", [None], "respond_self_denied"),
        ({"users": ["bob"]}, "alice", ["carol"], "respond_not_permitted"),
        ({}, "system:serviceaccount:a:b", ["carol"], "respond_not_permitted"),
        ({"agents": "allow"}, "system:serviceaccount:a:b", ["system:serviceaccount:a:b"], "respond_self_denied"),
    ],
)
def test_an_approval_is_judged_like_a_decision(responders, user, started_by, code):
    refused = judge_approval(request(2, **responders), Identity(user, frozenset()), started_by)
    assert (refused.code if refused else None) == code


def test_a_closed_question_takes_no_approval():
    closed = request(2) | {"status": {"state": "Expired"}}
    assert judge_approval(closed, Identity("alice"), ["carol"]).code == "request_expired"


def test_who_says_it_is_shown_with_the_groups_that_count():
    assert speaker({"responder": "alice"}) == "alice"
    assert speaker({"responder": "alice", "groups": ["leads", "ops"]}) == "alice (leads, ops)"
