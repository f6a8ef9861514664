"""The life of a HumanRequest, as the API server holds it: written once, frozen, final."""

from typing import Any

import pytest

from support.apiserver import APPLY, ASK, JSON_PATCH, STRATEGIC, Object, request

pytestmark = pytest.mark.cluster

ALREADY_ANSWERED = "request_already_answered"
FROZEN = "a question never changes once it is open"
RESOLVED = ("Answered", "Declined", "Expired", "Canceled")
PAYLOADS: dict[str, tuple[Any, list[Any]]] = {
    "object": ({"a": {"b": [1, {"c": True}]}}, [{"a": {"b": [1, {"c": False}]}}, {}, {"a": {}, "z": 1}, 1]),
    "array": ([1, [2, 3]], [[1, [2, 4]], [[2, 3], 1], [1], [], {"0": 1}]),
    "string": ("staging", ["production", "", ["staging"]]),
    "number": (3, [4, 3.5, "3", True]),
    "boolean": (True, [False, "true", 1]),
    "null": (None, [0, False, "", {}, []]),
}
CHANGES = [
    pytest.param(kind, before, after, id=f"{kind}-to-{after!r}")
    for kind, (before, others) in PAYLOADS.items()
    for after in others
]


def refused(answer: Any, code: int, text: str) -> None:
    assert (answer.status, text in answer.message) == (code, True), answer


class TestOpening:
    def test_a_request_is_pending_at_once(self, workspace: Any) -> None:
        found = workspace.alice.get("humanrequests", workspace.open())
        assert found["status"] == {"state": "Pending"}
        assert found["spec"] == ASK | {"responders": {"agents": "deny", "initiator": "allow", "approvals": 1}}

    def test_it_cannot_be_created_with_an_answer(self, workspace: Any) -> None:
        operator = workspace.operator
        answered = request("born-answered") | {"response": {"responder": operator.name}}
        refused(operator.create("humanrequests", answered), 422, "a request is created without a response")

    def test_a_status_given_at_creation_counts_for_nothing(self, workspace: Any) -> None:
        manifest = request("born-expired") | {"status": {"state": "Expired"}}
        workspace.operator.create("humanrequests", manifest).object()
        found = workspace.alice.get("humanrequests", "born-expired")
        assert found["status"]["state"] == "Pending"


class TestAnswering:
    @pytest.mark.parametrize("payload", [before for before, _ in PAYLOADS.values()], ids=PAYLOADS)
    def test_a_payload_of_any_json_type_is_kept_as_it_was(self, workspace: Any, payload: Any) -> None:
        name = workspace.open()
        response = {"responder": "alice", "decision": "respond", "payload": payload}
        patch = [{"op": "add", "path": "/response", "value": response}]
        workspace.alice.patch("humanrequests", name, patch, JSON_PATCH).object()
        assert workspace.bob.get("humanrequests", name)["response"] == response

    def test_the_decision_is_respond_unless_it_says_otherwise(self, workspace: Any) -> None:
        name = workspace.open()
        workspace.alice.patch("humanrequests", name, {"response": {"responder": "alice"}}).object()
        assert workspace.bob.get("humanrequests", name)["response"]["decision"] == "respond"

    @pytest.mark.parametrize("decision", ["approve", "decline"])
    def test_a_decision_must_be_one_of_those_asked_for(self, workspace: Any, decision: str) -> None:
        name = workspace.open(kind="Review", decisions=["edit", "reject"])
        patch = {"response": {"responder": "alice", "decision": decision}}
        answer = workspace.alice.patch("humanrequests", name, patch)
        refused(answer, 422, "request_validation_failed: `decision` must be one of: edit, reject")

    @pytest.mark.parametrize("state", RESOLVED)
    def test_a_late_answer_hears_what_came_before_it(self, workspace: Any, state: str) -> None:
        name = workspace.open()
        workspace.settle(name, state)
        answer = workspace.bob.patch("humanrequests", name, {"response": {"responder": "bob", "payload": 1}})
        codes = {"Expired": "request_expired", "Canceled": "request_canceled"}
        assert answer.status == 422
        # One cause, so that a client reads one code.
        (cause,) = answer.body["details"]["causes"]
        assert cause["message"] == f"Forbidden: {codes.get(state, ALREADY_ANSWERED)}"

    def test_the_same_answer_again_changes_nothing(self, workspace: Any) -> None:
        name = workspace.open()
        patch = {"response": {"responder": "alice", "decision": "respond", "payload": {"a": [1]}}}
        first = workspace.alice.patch("humanrequests", name, patch).object()
        again = workspace.alice.patch("humanrequests", name, patch).object()
        assert again["metadata"]["resourceVersion"] == first["metadata"]["resourceVersion"]


class TestAnAnswerStands:
    @pytest.mark.parametrize(("kind", "before", "after"), CHANGES)
    def test_its_payload_cannot_be_altered(self, workspace: Any, kind: str, before: Any, after: Any) -> None:
        name = workspace.open()
        add = [{"op": "add", "path": "/response", "value": {"responder": "alice", "payload": before}}]
        workspace.alice.patch("humanrequests", name, add, JSON_PATCH).object()
        change = [{"op": "replace", "path": "/response/payload", "value": after}]
        for user in (workspace.alice, workspace.admin, workspace.operator):
            refused(user.patch("humanrequests", name, change, JSON_PATCH), 422, ALREADY_ANSWERED)
        assert workspace.alice.get("humanrequests", name)["response"]["payload"] == before

    @pytest.mark.parametrize("field", ["payload", "note"])
    @pytest.mark.parametrize("before", [{}, {"payload": {"a": 1}, "note": "first"}], ids=["add", "remove"])
    def test_nothing_is_added_to_it_or_taken_away(self, workspace: Any, field: str, before: Object) -> None:
        name = workspace.open()
        workspace.alice.patch("humanrequests", name, {"response": {"responder": "alice"} | before}).object()
        patch = {"response": {field: None if before else "later"}}
        refused(workspace.operator.patch("humanrequests", name, patch), 422, ALREADY_ANSWERED)

    @pytest.mark.parametrize("patch", [{"responder": "bob"}, {"decision": "decline"}])
    def test_who_answered_what_cannot_be_altered(self, workspace: Any, patch: Object) -> None:
        name = workspace.open()
        workspace.alice.patch("humanrequests", name, {"response": {"responder": "alice"}}).object()
        for user in (workspace.bob, workspace.operator):
            refused(user.patch("humanrequests", name, {"response": patch}), 422, ALREADY_ANSWERED)

    def test_the_operator_may_hand_it_back_while_pending(self, workspace: Any) -> None:
        name = workspace.open()
        workspace.alice.patch("humanrequests", name, {"response": {"responder": "alice"}}).object()
        workspace.operator.patch("humanrequests", name, {"response": None}).object()
        workspace.bob.patch("humanrequests", name, {"response": {"responder": "bob"}}).object()
        assert workspace.bob.get("humanrequests", name)["response"]["responder"] == "bob"

    @pytest.mark.parametrize("state", ["Answered", "Declined"])
    def test_nobody_may_hand_it_back_once_accepted(self, workspace: Any, state: str) -> None:
        name = workspace.open()
        workspace.settle(name, state)
        for user in (workspace.alice, workspace.admin, workspace.operator):
            refused(user.patch("humanrequests", name, {"response": None}), 422, ALREADY_ANSWERED)


class TestStates:
    @pytest.mark.parametrize("after", ["Pending", *RESOLVED])
    @pytest.mark.parametrize("before", RESOLVED)
    def test_a_resolved_request_stays_as_it_is(self, workspace: Any, before: str, after: str) -> None:
        name = workspace.open()
        workspace.settle(name, before)
        answer = workspace.operator.patch(
            "humanrequests", name, {"status": {"state": after}}, subresource="status"
        )
        if after == before:
            answer.object()
        else:
            refused(answer, 422, f"the state {before} is final")

    def test_leaving_the_status_out_does_not_reopen_it(self, workspace: Any) -> None:
        name = workspace.open()
        workspace.settle(name, "Expired")
        found = workspace.operator.get("humanrequests", name)
        del found["status"]
        answer = workspace.operator.replace("humanrequests", found, subresource="status")
        refused(answer, 422, "the state Expired is final")

    @pytest.mark.parametrize("state", ["Expired", "Canceled"])
    def test_what_is_answered_neither_expires_nor_is_canceled(self, workspace: Any, state: str) -> None:
        name = workspace.open()
        workspace.alice.patch("humanrequests", name, {"response": {"responder": "alice"}}).object()
        patch = {"status": {"state": state}}
        refused(
            workspace.operator.patch("humanrequests", name, patch, subresource="status"),
            422,
            ALREADY_ANSWERED,
        )

    @pytest.mark.parametrize(
        ("state", "decision"),
        [("Answered", None), ("Answered", "decline"), ("Declined", None), ("Declined", "respond")],
    )
    def test_the_state_says_what_the_answer_says(self, workspace: Any, state: str, decision: str | None) -> None:
        name = workspace.open()
        if decision:
            response = {"responder": "alice", "decision": decision}
            workspace.alice.patch("humanrequests", name, {"response": response}).object()
        answer = workspace.operator.patch(
            "humanrequests", name, {"status": {"state": state}}, subresource="status"
        )
        refused(answer, 422, f"{state} needs a response")

    def test_a_rejection_is_recorded_while_the_question_stays_open(self, workspace: Any) -> None:
        name = workspace.open()
        rejection = {"code": "request_validation_failed", "by": "alice", "at": "2030-01-01T00:00:00.123456Z"}
        workspace.set_status("humanrequests", name, lastRejection=rejection)
        assert workspace.alice.get("humanrequests", name)["status"]["state"] == "Pending"


SPEC_CHANGES = [
    {"prompt": "Another question"},
    {"generation": 2},
    {"item": 0},
    {"expiresAt": None},
    {"expiresAt": "2099-01-01T00:00:01Z"},
    {"context": {"candidates": ["production", "staging"]}},
    {"context": {"more": 1}},
    {"context": None},
    {"expect": {"required": []}},
    {"expect": None},
    {"expect": True},
    {"editSchema": {"type": "object"}},
    {"proposedPreview": "text"},
    {"decisions": ["decline", "respond"]},
    {"responders": {"agents": "allow"}},
    {"responders": {"users": ["mallory"]}},
]


class TestTheQuestionIsFrozen:
    @pytest.mark.parametrize("change", SPEC_CHANGES, ids=str)
    def test_no_part_of_it_changes(self, workspace: Any, change: Object) -> None:
        name = workspace.open()
        for user in (workspace.operator, workspace.admin):
            refused(user.patch("humanrequests", name, {"spec": change}), 422, FROZEN)

    def test_not_by_json_patch(self, workspace: Any) -> None:
        patch = [{"op": "replace", "path": "/spec/context/candidates/0", "value": "nowhere"}]
        refused(workspace.operator.patch("humanrequests", workspace.open(), patch, JSON_PATCH), 422, FROZEN)

    def test_not_by_a_strategic_merge_which_does_not_exist_here(self, workspace: Any) -> None:
        patch = {"spec": {"prompt": "Another question"}}
        answer = workspace.operator.patch("humanrequests", workspace.open(), patch, STRATEGIC)
        assert answer.status == 415

    def test_not_by_server_side_apply(self, workspace: Any) -> None:
        name = workspace.open()
        query = {"fieldManager": "other", "force": "true"}
        for change in ({"prompt": "Another question"}, {"context": {"release": "6.6.6"}}):
            manifest = request(name, **change)
            refused(workspace.operator.patch("humanrequests", name, manifest, APPLY, **query), 422, FROZEN)

    def test_not_by_replacing_it(self, workspace: Any) -> None:
        found = workspace.operator.get("humanrequests", workspace.open())
        found["spec"]["context"]["release"] = "6.6.6"
        refused(workspace.operator.replace("humanrequests", found), 422, FROZEN)

    def test_not_through_the_status(self, workspace: Any) -> None:
        found = workspace.operator.get("humanrequests", workspace.open())
        name, before = found["metadata"]["name"], found["spec"]
        changed = found | {"spec": before | {"prompt": "Another question"}}
        workspace.operator.replace("humanrequests", changed, subresource="status").object()
        patch = {"spec": {"prompt": "Another question"}}
        workspace.operator.patch("humanrequests", name, patch, subresource="status").object()
        assert workspace.operator.get("humanrequests", name)["spec"] == before

    @pytest.mark.parametrize("time", ["2099-01-01T00:00:00.0Z", "2099-01-01T00:00:00.000000Z"])
    def test_not_even_the_spelling_of_a_time_by_a_person(self, workspace: Any, time: str) -> None:
        answer = workspace.admin.patch("humanrequests", workspace.open(), {"spec": {"expiresAt": time}})
        refused(answer, 403, "may write `spec`")
