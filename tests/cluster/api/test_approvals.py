"""Several people must approve: the list of approvals, as the API server holds it whoever writes."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from support.apiserver import APPLY, JSON_PATCH, Answer, Object, User

pytestmark = pytest.mark.cluster

CLOSED = {"Expired": "request_expired", "Canceled": "request_canceled"}


def refused(answer: Answer, status: int, text: str) -> None:
    assert (answer.status, text in answer.message) == (status, True), answer


def review(workspace: Any, approvals: int = 3, **responders: Any) -> str:
    policy = {**responders, "approvals": approvals}
    name: str = workspace.open(kind="Review", decisions=["approve", "reject"], responders=policy)
    return name


def entries(workspace: Any, name: str) -> list[Object]:
    found: list[Object] = workspace.admin.get("humanrequests", name).get("approvals", [])
    return found


def add(user: User, name: str, **more: Any) -> Answer:
    """Add one's approval by a merge patch, which repeats those that are there."""
    known = user.get("humanrequests", name).get("approvals", [])
    return user.patch("humanrequests", name, {"approvals": [*known, {"responder": user.name, **more}]})


def decide(user: User, name: str, decision: str = "approve") -> Answer:
    return user.patch("humanrequests", name, {"response": {"responder": user.name, "decision": decision}})


class TestHowManyMustApprove:
    def test_the_last_one_decides_and_nobody_before(self, workspace: Any) -> None:
        name, carol = review(workspace), workspace.person("carol")
        refused(decide(workspace.alice, name), 422, "approvals_missing: 2 more of 3 must approve")
        add(workspace.alice, name, note="fine").object()
        refused(decide(workspace.bob, name), 422, "approvals_missing: 1 more of 3 must approve")
        add(workspace.bob, name).object()
        decide(carol, name).object()
        assert entries(workspace, name) == [{"responder": "alice", "note": "fine"}, {"responder": "bob"}]

    def test_nobody_counts_twice(self, workspace: Any) -> None:
        name = review(workspace, 2)
        add(workspace.alice, name).object()
        refused(decide(workspace.alice, name), 422, "approvals_missing: 1 more of 2")
        twice = [{"responder": "alice"}, {"responder": "alice"}]
        answer = workspace.alice.patch("humanrequests", name, {"approvals": twice})
        refused(answer, 422, "Duplicate value")

    def test_a_user_who_is_named_and_in_a_named_group_counts_once(self, workspace: Any) -> None:
        name = review(workspace, 2, users=["alice"], groups=["release-managers"])
        add(workspace.alice, name, groups=["release-managers"]).object()
        refused(decide(workspace.alice, name), 422, "approvals_missing")
        decide(workspace.bob, name).object()

    @pytest.mark.parametrize("first", [False, True], ids=["at-once", "having-approved"])
    def test_a_rejection_decides_at_once(self, workspace: Any, first: bool) -> None:
        name = review(workspace)
        if first:
            add(workspace.alice, name).object()
        decide(workspace.alice, name, "reject").object()
        refused(decide(workspace.bob, name), 422, "request_already_answered")
        refused(add(workspace.bob, name), 422, "request_already_answered")

    def test_where_one_is_enough_there_is_no_list(self, workspace: Any) -> None:
        name = review(workspace, 1)
        refused(add(workspace.alice, name), 422, "request_validation_failed: no more `approvals` are needed")
        decide(workspace.alice, name).object()

    def test_it_takes_no_more_than_are_needed(self, workspace: Any) -> None:
        name = review(workspace, 2)
        add(workspace.alice, name).object()
        refused(add(workspace.bob, name), 422, "request_validation_failed: no more `approvals` are needed")

    @pytest.mark.parametrize("decisions", [["respond"], ["approve", "edit"], ["approve", "reject", "respond"]])
    def test_it_takes_decisions_that_are_alike(self, workspace: Any, decisions: list[str]) -> None:
        name = review(workspace)
        spec = workspace.admin.get("humanrequests", name)["spec"] | {"decisions": decisions}
        manifest = {
            "apiVersion": "compozy.dev/v1alpha1",
            "kind": "HumanRequest",
            "metadata": {"name": f"{name}-x"},
        }
        answer = workspace.operator.create("humanrequests", manifest | {"spec": spec})
        refused(answer, 422, "more than one approval needs decisions of `approve` and `reject` only")


class TestAnApprovalStands:
    @pytest.mark.parametrize("person", ["alice", "bob", "admin"])
    def test_only_the_operator_takes_it_away(self, workspace: Any, person: str) -> None:
        name = review(workspace)
        add(workspace.alice, name).object()
        user = getattr(workspace, person)
        for nothing in (None, []):
            refused(user.patch("humanrequests", name, {"approvals": nothing}), 403, "may hand an approval back")
        mine = {"approvals": [{"responder": user.name}]}
        if person != "alice":
            refused(user.patch("humanrequests", name, mine), 403, "may hand an approval back")
        workspace.operator.patch("humanrequests", name, {"approvals": None}).object()
        assert entries(workspace, name) == []

    @pytest.mark.parametrize("change", [{"note": "other"}, {"note": None}, {"groups": ["g"]}], ids=str)
    def test_nobody_alters_it(self, workspace: Any, change: Object) -> None:
        name = review(workspace)
        add(workspace.alice, name, note="fine").object()
        (entry,) = entries(workspace, name)
        altered = {key: value for key, value in (entry | change).items() if value is not None}
        for user in (workspace.alice, workspace.bob, workspace.operator):
            refused(user.patch("humanrequests", name, {"approvals": [altered]}), 422, "an approval never changes")

    @pytest.mark.parametrize("state", ["Pending", "Answered"])
    def test_not_even_the_operator_takes_one_away_on_which_a_response_rests(
        self, workspace: Any, state: str
    ) -> None:
        name = review(workspace, 2)
        add(workspace.alice, name).object()
        decide(workspace.bob, name).object()
        if state != "Pending":
            workspace.set_status("humanrequests", name, state=state)
        refused(workspace.operator.patch("humanrequests", name, {"approvals": None}), 422, "an approval stands")
        both = workspace.operator.patch("humanrequests", name, {"approvals": None, "response": None})
        assert both.ok is (state == "Pending"), both

    @pytest.mark.parametrize("state", CLOSED)
    def test_it_comes_too_late(self, workspace: Any, state: str) -> None:
        name = review(workspace)
        add(workspace.alice, name).object()
        workspace.settle(name, state)
        for answer in (add(workspace.bob, name), decide(workspace.bob, name)):
            assert answer.status == 422
            (cause,) = answer.body["details"]["causes"]
            assert cause["message"] == f"Forbidden: {CLOSED[state]}"
        refused(workspace.operator.patch("humanrequests", name, {"approvals": None}), 422, "an approval stands")

    def test_a_request_is_not_created_with_one(self, workspace: Any) -> None:
        name = review(workspace)
        manifest = workspace.admin.get("humanrequests", name)
        manifest = {key: manifest[key] for key in ("apiVersion", "kind", "spec")}
        born = {**manifest, "metadata": {"name": f"{name}-x"}, "approvals": [{"responder": "alice"}]}
        refused(workspace.operator.create("humanrequests", born), 422, "a request is created without approvals")


class TestWhoApproves:
    def test_only_for_oneself_and_one_at_a_time(self, workspace: Any) -> None:
        name = review(workspace, agents="allow")
        forged = {"approvals": [{"responder": "carol"}]}
        text = "`approvals.responder` must be the authenticated user, 'alice': it is 'carol'"
        refused(workspace.alice.patch("humanrequests", name, forged), 403, text)
        refused(workspace.operator.patch("humanrequests", name, forged), 403, "it is 'carol'")
        two = {"approvals": [{"responder": "alice"}, {"responder": "carol"}]}
        refused(workspace.alice.patch("humanrequests", name, two), 422, "add one approval, your own")
        both = {"approvals": [{"responder": "alice"}], "response": {"responder": "alice", "decision": "reject"}}
        refused(workspace.alice.patch("humanrequests", name, both), 422, "add one approval, your own")

    @pytest.mark.parametrize(
        ("responders", "name", "allowed"),
        [
            ({"users": ["alice", "bob"]}, "bob", True),
            ({"users": ["alice", "carol"]}, "bob", False),
            ({"groups": ["release-managers"]}, "bob", True),
            ({"groups": ["others"]}, "bob", False),
            ({}, "system:serviceaccount:team:bot", False),
            ({"agents": "allow"}, "system:serviceaccount:team:bot", True),
        ],
    )
    def test_those_whom_the_request_admits(
        self, workspace: Any, responders: Object, name: str, allowed: bool
    ) -> None:
        question = review(workspace, **responders)
        answer = add(workspace.person(name), question)
        if allowed:
            answer.object()
        else:
            refused(answer, 403, f"respond_not_permitted: '{name}' is ")

    def test_through_every_door(self, workspace: Any) -> None:
        name = review(workspace, 4)
        alice, bob, carol = workspace.alice, workspace.bob, workspace.person("carol")
        patch = [{"op": "add", "path": "/approvals", "value": [{"responder": "alice"}]}]
        alice.patch("humanrequests", name, patch, JSON_PATCH).object()
        patch = [{"op": "add", "path": "/approvals/-", "value": {"responder": "bob"}}]
        bob.patch("humanrequests", name, patch, JSON_PATCH).object()
        # Server-side apply merges by responder: nobody needs to repeat what is there.
        manifest = {"apiVersion": "compozy.dev/v1alpha1", "kind": "HumanRequest", "metadata": {"name": name}}
        mine = manifest | {"approvals": [{"responder": "carol"}]}
        carol.patch("humanrequests", name, mine, APPLY, fieldManager="carol").object()
        found = workspace.person("dora").get("humanrequests", name)
        found["approvals"].append({"responder": "dora"})
        refused(workspace.person("dora").replace("humanrequests", found), 422, "no more `approvals` are needed")
        assert [entry["responder"] for entry in entries(workspace, name)] == ["alice", "bob", "carol"]
        # An owner of a field who applies without it would take it back.
        refused(carol.patch("humanrequests", name, manifest, APPLY, fieldManager="carol"), 403, "hand an approval")


class TestWhoSaysSo:
    @pytest.mark.parametrize("where", ["response", "approvals"])
    @pytest.mark.parametrize(
        ("said", "text"),
        [
            ({"groups": ["release-managers"]}, None),
            ({"groups": []}, None),
            ({"groups": ["system:authenticated", "release-managers"]}, None),
            (
                {"groups": ["release-managers", "system:masters"]},
                "groups` must be left out or be groups of 'alice'",
            ),
            ({"uid": "1234"}, "uid` must be left out or be the uid of 'alice'"),
        ],
    )
    def test_uid_and_groups_are_true_where_they_are_given(
        self, workspace: Any, where: str, said: Object, text: str | None
    ) -> None:
        name = review(workspace, 2 if where == "approvals" else 1)
        entry = {"responder": "alice", **said}
        body: Object = (
            {"approvals": [entry]} if where == "approvals" else {"response": entry | {"decision": "approve"}}
        )
        answer = workspace.alice.patch("humanrequests", name, body)
        if text is None:
            answer.object()
        else:
            refused(answer, 403, f"`{where}.{text}")

    def test_a_uid_is_that_of_the_user(self, workspace: Any) -> None:
        name = review(workspace, 1)
        for uid, given, ok in (("u-1", "u-2", False), ("u-1", "u-1", True)):
            response = {"response": {"responder": "zoe", "uid": given, "decision": "approve"}}
            zoe = workspace.admin.acting_as("zoe", ["release-managers"], uid)
            assert zoe.patch("humanrequests", name, response).ok is ok


def test_of_many_at_once_each_counts_once_and_one_decides(workspace: Any) -> None:
    """Everybody adds an approval on the version they read, or decides where theirs is the last."""
    people = [workspace.person(f"approver-{number}") for number in range(12)]
    name = review(workspace, 4)

    def approve(user: User) -> str:
        while True:
            found = user.get("humanrequests", name)
            known = found.get("approvals", [])
            last = len(known) == 3
            body: Object = {"metadata": {"resourceVersion": found["metadata"]["resourceVersion"]}}
            body |= (
                {"response": {"responder": user.name, "decision": "approve"}}
                if last
                else {"approvals": [*known, {"responder": user.name}]}
            )
            answer = user.patch("humanrequests", name, body)
            if answer.status != 409:
                return ("decided" if last else "approved") if answer.ok else answer.message

    with ThreadPoolExecutor(12) as pool:
        outcomes = list(pool.map(approve, people))
    assert (outcomes.count("approved"), outcomes.count("decided")) == (3, 1)
    assert all("request_already_answered" in text for text in outcomes if text not in ("approved", "decided"))
    approvers = {entry["responder"] for entry in entries(workspace, name)}
    decided = workspace.admin.get("humanrequests", name)["response"]["responder"]
    assert len(approvers | {decided}) == 4
