"""Who may answer what, and with which words an answer is refused."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compozy.engine.proposals import digest_of
from compozy.redaction.redactor import PLAIN as REDACTOR
from compozy.requests.respond import (
    CHECKS,
    Accepted,
    Identity,
    Refused,
    is_quickly_judged,
    judge,
    same_answer,
)

pytestmark = pytest.mark.unit

EXPECT = {
    "type": "object",
    "required": ["environment", "assignment"],
    "properties": {
        "environment": {"type": "string", "enum": ["staging", "production"]},
        "assignment": {
            "type": "object",
            "required": ["reviewer"],
            "properties": {"reviewer": {"type": "string", "x-compozy-kind": "agent"}},
        },
    },
}
GOOD = {"environment": "staging", "assignment": {"reviewer": "bob"}}
ALICE = Identity("alice", frozenset(("team", "system:authenticated")))
BOT = Identity("system:serviceaccount:prod:bot", frozenset(("system:serviceaccounts",)))


def request(state=None, response=None, **spec):
    found = {
        "spec": {
            "run": "r",
            "generation": 1,
            "node": "n",
            "kind": "Ask",
            "prompt": "?",
            "expect": EXPECT,
            "decisions": ["respond"],
            **spec,
        }
    }
    if state:
        found["status"] = {"state": state}
    if response:
        found["response"] = response
    return found


def review(**spec):
    schema = {"type": "object", "required": ["tag"], "properties": {"tag": {"type": "string"}}}
    return request(
        kind="Review",
        expect=None,
        decisions=["approve", "edit", "reject", "respond"],
        editSchema=schema,
        respondSchema={"release_url": "string"},
        **spec,
    )


def exists(kind, name):
    return (kind, name) in {("agent", "bob"), ("secret", "deploy-key")}


def verdict(asked=None, payload=GOOD, identity=ALICE, started_by=("carol",), **response):
    return judge(asked or request(), {"payload": payload, **response}, identity, started_by, exists)


def code(*arguments, **named):
    found = verdict(*arguments, **named)
    return found.code if isinstance(found, Refused) else None


def test_an_answer_that_fits_is_accepted():
    assert verdict() == Accepted("respond", GOOD)
    assert verdict(decision="respond", note="fine") == Accepted("respond", GOOD)
    assert verdict(request(state="Pending")) == Accepted("respond", GOOD)


# -- still open ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        (request("Answered", {"responder": "zoe", "payload": GOOD}), "request_already_answered"),
        (request("Declined", {"responder": "zoe", "decision": "decline"}), "request_already_answered"),
        (request("Pending", {"responder": "zoe", "payload": GOOD}), "request_already_answered"),
        (request("Expired"), "request_expired"),
        (request("Canceled"), "request_canceled"),
    ],
)
def test_late_answers_hear_what_became_of_the_question(asked, expected):
    assert code(asked) == expected
    # Being late comes before everything else that may be wrong.
    assert code(asked, payload={}, identity=BOT, started_by=(), decision="nonsense") == expected


def test_a_late_answer_hears_who_was_first():
    assert "zoe" in verdict(request("Answered", {"responder": "zoe", "payload": GOOD})).message


def test_a_deadline_that_nobody_has_noticed_yet_does_not_count():
    assert code(request(expiresAt="2001-01-01T00:00:00Z")) is None


# -- the decision -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("decision", ["approve", "decline", "unavailable", "Respond", "nonsense"])
def test_only_the_listed_decisions_are_allowed(decision):
    refused = verdict(decision=decision)
    assert refused.code == "request_validation_failed"
    assert refused.details == {"decision": "must be one of respond"}


def test_a_review_must_say_what_it_decides():
    refused = verdict(review())
    assert refused.code == "request_validation_failed"
    assert refused.details == {"decision": "is required: one of approve, edit, reject, respond"}


@pytest.mark.parametrize("decision", ["decline", "unavailable"])
def test_a_question_can_be_closed_without_an_answer_where_it_says_so(decision):
    asked = request(decisions=["respond", "decline", "unavailable"])
    assert verdict(asked, payload={"any": "thing"}, decision=decision) == Accepted(decision, None)


@pytest.mark.parametrize("decision", ["approve", "reject"])
def test_approve_and_reject_take_no_payload(decision):
    assert verdict(review(), payload={"tag": "mine"}, decision=decision) == Accepted(decision, None)


def test_an_edit_gives_no_marker_in_place_of_what_is_hidden():
    proposal = {
        "tag": "v1",
        "api_token": "hunter2hunter2",
        "list": ["a", {"url": "https://me:hunter2@example.com/"}],
    }
    hidden = review(proposedPreview=REDACTOR.json(proposal), proposalDigest=digest_of(proposal))
    refused = verdict(hidden, payload=REDACTOR.json(proposal), decision="edit")
    assert refused.code == "request_validation_failed"
    assert list(refused.details) == ["api_token", "list.1.url"]
    assert verdict(hidden, payload=proposal, decision="edit") == Accepted("edit", proposal)


def test_where_nothing_is_hidden_a_text_that_looks_like_a_marker_is_one():
    proposal = {"tag": "[REDACTED]"}
    shown = review(proposedPreview=proposal, proposalDigest=digest_of(proposal))
    assert verdict(shown, payload=proposal, decision="edit") == Accepted("edit", proposal)
    plain = {"tag": "v1"}
    shown = review(proposedPreview=plain, proposalDigest="sha256:of-another")
    assert verdict(shown, payload=proposal, decision="edit") == Accepted("edit", proposal)


def test_edit_and_respond_are_held_to_schemas_of_their_own():
    assert verdict(review(), payload={"tag": "v2"}, decision="edit") == Accepted("edit", {"tag": "v2"})
    assert verdict(review(), payload={}, decision="edit").details == {"tag": "is required"}
    answer = {"release_url": "https://example.com/"}
    assert verdict(review(), payload=answer, decision="respond") == Accepted("respond", answer)
    assert verdict(review(), payload={"tag": "v2"}, decision="respond").details == {"release_url": "is required"}


# -- who may answer -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("responders", "identity", "started_by", "expected"),
    [
        ({}, ALICE, ("carol",), None),
        ({}, ALICE, ("alice",), None),
        ({}, ALICE, (), None),
        ({}, ALICE, (None,), None),
        # agents
        ({}, BOT, ("carol",), "respond_not_permitted"),
        ({"agents": "deny"}, BOT, ("carol",), "respond_not_permitted"),
        ({"agents": "allow"}, BOT, ("carol",), None),
        ({"agents": "allow"}, BOT, (BOT.user,), "respond_self_denied"),
        ({"agents": "allow"}, BOT, ("carol", BOT.user), "respond_self_denied"),
        ({"agents": "deny"}, BOT, (BOT.user,), "respond_self_denied"),
        ({"agents": "allow"}, BOT, ("carol", None), "respond_self_denied"),
        ({"agents": "allow"}, BOT, (None,), "respond_self_denied"),
        ({"agents": "allow"}, BOT, (), "respond_self_denied"),
        ({"agents": "allow"}, BOT, ("system:serviceaccount:prod:other",), None),
        # users and groups
        ({"users": ["alice"]}, ALICE, ("carol",), None),
        ({"users": ["x", "y", "alice"]}, ALICE, ("carol",), None),
        ({"users": ["Alice"]}, ALICE, ("carol",), "respond_not_permitted"),
        ({"groups": ["team"]}, ALICE, ("carol",), None),
        ({"groups": ["oidc:team"]}, ALICE, ("carol",), "respond_not_permitted"),
        ({"users": ["bob"], "groups": ["team"]}, ALICE, ("carol",), None),
        ({"users": ["bob"], "groups": ["admins"]}, ALICE, ("carol",), "respond_not_permitted"),
        (
            {"users": ["bob"]},
            Identity("root", frozenset(("system:masters",))),
            ("carol",),
            "respond_not_permitted",
        ),
        ({"users": []}, ALICE, ("carol",), "respond_not_permitted"),
        ({"groups": []}, ALICE, ("carol",), "respond_not_permitted"),
        ({"users": None, "groups": None}, ALICE, ("carol",), None),
        ({"groups": ["team"]}, Identity.of_user("alice"), ("carol",), None),
        ({"users": ["bob"]}, Identity.of_user("alice"), ("carol",), "respond_not_permitted"),
        ({"agents": "allow", "users": ["alice"]}, BOT, ("carol",), "respond_not_permitted"),
        ({"agents": "deny", "users": [BOT.user]}, BOT, ("carol",), "respond_not_permitted"),
        ({"agents": "allow", "users": [BOT.user]}, BOT, ("carol",), None),
        # the initiator
        ({"initiator": "deny"}, ALICE, ("alice",), "respond_self_denied"),
        ({"initiator": "deny"}, ALICE, ("carol", "alice"), "respond_self_denied"),
        ({"initiator": "deny"}, ALICE, (None,), "respond_self_denied"),
        ({"initiator": "deny"}, ALICE, ("carol",), None),
        ({"initiator": "deny", "users": ["alice"]}, ALICE, ("alice",), "respond_self_denied"),
    ],
)
def test_who_may_answer(responders, identity, started_by, expected):
    asked = request(responders=responders)
    assert code(asked, identity=identity, started_by=started_by) == expected
    if expected:
        # Whoever may not answer hears that, not what is wrong with what they said.
        assert code(asked, payload={}, identity=identity, started_by=started_by) == expected


def test_whoever_may_not_answer_hears_who_may():
    asked = request(responders={"users": ["bob", "zoe"], "groups": ["ops"]})
    assert verdict(asked).message == "alice may not answer: only users bob, zoe group ops may"
    nobody = request(responders={"users": []})
    assert verdict(nobody).message == "alice may not answer: only nobody may"


# -- the shape ----------------------------------------------------------------------------------------------


def test_every_fault_has_its_path():
    refused = verdict(payload={"environment": "Staging", "assignment": {}})
    assert refused.code == "request_validation_failed"
    assert refused.details == {
        "environment": 'must be one of "staging", "production"',
        "assignment.reviewer": "is required",
    }
    assert refused.origin is None


@pytest.mark.parametrize("payload", [None, [], "staging", 3, {"environment": float("nan")}])
def test_what_is_no_object_is_refused(payload):
    assert code(payload=payload) == "request_validation_failed"


def test_an_answer_needs_a_payload():
    refused = judge(request(), {"decision": "respond"}, ALICE, ("carol",), exists)
    assert refused.details == {"payload": "is required with `respond`"}


def test_a_shape_that_cannot_be_used_admits_nothing():
    for expect in ({"$ref": "https://example.com/"}, "string", None):
        assert code(request(expect=expect)) == "request_validation_failed"


# -- entities -----------------------------------------------------------------------------------------------


def test_a_missing_entity_has_an_origin_and_the_exact_nested_path():
    refused = verdict(payload={"environment": "staging", "assignment": {"reviewer": "nobody"}})
    assert refused == Refused(
        "input_validation",
        "assignment.reviewer: there is no agent 'nobody' here",
        {"assignment.reviewer": "there is no agent 'nobody' here"},
        "response",
        "assignment.reviewer",
        "unknown_reference",
    )


def test_a_payload_with_both_faults_is_told_about_its_shape_first():
    assert code(payload={"assignment": {"reviewer": "nobody"}}) == "request_validation_failed"


def test_names_are_trimmed_and_of_one_kind():
    padded = {"environment": "staging", "assignment": {"reviewer": " bob "}}
    assert verdict(payload=padded) == Accepted("respond", padded)
    assert code(payload={"environment": "staging", "assignment": {"reviewer": "deploy-key"}}) == "input_validation"


def test_what_is_no_name_at_all_is_told_apart():
    asked = request(expect={"properties": {"who": {"x-compozy-kind": "agent"}}})
    refused = verdict(asked, payload={"who": 3})
    assert (refused.code, refused.field, refused.reason) == ("input_validation", "who", "invalid_kind_payload")


def test_a_secret_typed_in_place_of_its_name_is_not_repeated():
    asked = request(expect={"properties": {"key": {"type": "string", "x-compozy-kind": "secret"}}})
    refused = verdict(asked, payload={"key": "ghp_abcdefghijklmnopqrstuvwxyz"})
    assert refused.code == "input_validation"
    assert "ghp_" not in str(refused)


# -- the whole ----------------------------------------------------------------------------------------------


def test_the_order_of_the_checks_is_the_specification():
    assert [check.__name__ for check in CHECKS] == [
        "_still_open",
        "_decision_allowed",
        "_not_own_run",
        "_agents_allowed",
        "_named_responder",
        "_initiator_allowed",
        "_enough_approvals",
        "_shape",
        "_hidden",
        "_entities",
    ]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["environment", "assignment", "reviewer"]) | st.text(), inner, max_size=3
        )
    ),
    max_leaves=8,
)


@given(payload=JSON, user=st.sampled_from(["alice", BOT.user]), agents=st.sampled_from(["allow", "deny"]))
def test_any_payload_gets_a_verdict(payload, user, agents):
    found = verdict(request(responders={"agents": agents}), payload, Identity(user))
    if isinstance(found, Accepted):
        assert found.payload == payload
        assert agents == "allow" or user == "alice"
    else:
        assert found.code
        assert found.message
        assert found.details or found.code.startswith("respond_")


# -- the same answer again ----------------------------------------------------------------------------------

RECORDED = {"responder": "alice", "decision": "respond", "payload": {"a": 1, "b": [True, "x"]}}


@pytest.mark.parametrize(
    ("response", "same"),
    [
        (RECORDED, True),
        ({**RECORDED, "payload": {"b": [True, "x"], "a": 1.0}}, True),
        ({**RECORDED, "note": "again"}, True),
        ({key: value for key, value in RECORDED.items() if key != "decision"}, True),
        ({**RECORDED, "responder": "bob"}, False),
        ({**RECORDED, "payload": {"a": 1, "b": ["x", True]}}, False),
        ({**RECORDED, "payload": {"a": True, "b": [True, "x"]}}, False),
        ({**RECORDED, "payload": float("nan")}, False),
        ({**RECORDED, "decision": "decline"}, False),
        ({"payload": RECORDED["payload"]}, False),
    ],
)
def test_the_same_answer_again(response, same):
    assert same_answer(request("Answered", RECORDED), response) is same


def test_approving_twice_is_the_same_whatever_came_with_it():
    asked = {**review(), "response": {"responder": "alice", "decision": "approve"}}
    assert same_answer(asked, {"responder": "alice", "decision": "approve", "payload": None})
    assert not same_answer(asked, {"responder": "alice", "decision": "reject"})
    assert not same_answer(asked, {"responder": "alice"})


def test_nothing_is_the_same_as_no_answer():
    assert not same_answer(request("Expired"), RECORDED)


def test_every_late_answer_is_a_repetition_or_refused():
    for one, other in itertools.product([GOOD, {"a": 1}], repeat=2):
        asked = request("Answered", {"responder": "alice", "decision": "respond", "payload": one})
        assert same_answer(asked, {"responder": "alice", "payload": other}) is (one == other)
        assert code(asked, payload=other) == "request_already_answered"


PLAIN = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}


@pytest.mark.parametrize(
    ("expect", "payload", "is_quick"),
    [
        (PLAIN, {"a": 1}, True),
        (PLAIN, {"a": 1, "more": "x" * 5000}, False),
        (PLAIN, {"a": "one"}, False),
        (EXPECT, GOOD, False),
        ({"type": "string", "pattern": "^(a+)+$"}, "a" * 50, False),
        ({"type": "object", "properties": {"a": {"$ref": "#"}}}, {"a": {}}, False),
        ({"type": 7}, {"a": 1}, False),
        (7, {"a": 1}, False),
    ],
)
def test_only_a_small_answer_to_a_plain_question_is_judged_quickly(expect, payload, is_quick):
    assert is_quickly_judged(request(expect=expect), {"decision": "respond", "payload": payload}) is is_quick


def test_a_decision_without_a_payload_is_judged_quickly():
    assert is_quickly_judged(review(), {"decision": "reject"})
    assert is_quickly_judged(request(), {"decision": "decline"})
