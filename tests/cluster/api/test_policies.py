"""What depends on who asks: who answers, who writes what, and who started a run."""

import time
from typing import Any

import pytest

from compozy.api.identity import CLUSTER_KEEPERS, OPERATOR_USER
from compozy.api.policies import all_policies
from support.apiserver import APPLY, JSON_PATCH, Api, Object, User, request, run

pytestmark = pytest.mark.cluster

# Objects that there are, or the garbage collector would delete what they own; `_owners` makes them.
OWNER = {"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": ""}
PARENT: Object = {
    "apiVersion": "compozy.dev/v1alpha1",
    "kind": "PlanRun",
    "name": "parent",
    "uid": "",
    "controller": True,
}
METADATA: list[tuple[str, Any]] = [
    ("labels", {"hidden": "yes"}),
    ("annotations", {"note": "x"}),
    ("finalizers", ["example.com/stay"]),
    ("ownerReferences", [OWNER]),
]


@pytest.fixture(scope="module", autouse=True)
def _owners(api: Api, _people: str) -> None:
    admin = api.admin(_people)
    path = f"/api/v1/namespaces/{_people}/configmaps"
    made = admin.call("POST", path, {"metadata": {"name": OWNER["name"]}}).object()
    OWNER["uid"] = made["metadata"]["uid"]
    made = admin.create("planruns", run("parent", planRef={"name": "release"})).object()
    PARENT["uid"] = made["metadata"]["uid"]


def refused(answer: Any, *texts: str) -> None:
    assert answer.status == 403, answer
    assert [text for text in texts if text not in answer.message] == [], answer.message


def answer(user: User, name: str, responder: str | None = None) -> Any:
    return user.patch("humanrequests", name, {"response": {"responder": responder or user.name}})


class TestWhoAnswered:
    @pytest.mark.parametrize("forger", ["alice", "admin", "operator"])
    def test_a_forged_responder_is_refused(self, workspace: Any, forger: str) -> None:
        user = getattr(workspace, forger)
        text = f"`response.responder` must be the authenticated user, '{user.name}': it is 'bob'"
        name = workspace.open(responders={"agents": "allow"})
        refused(answer(user, name, "bob"), "compozy-responder-identity", text)

    def test_through_every_door(self, workspace: Any) -> None:
        name, forged = workspace.open(), {"responder": "bob"}
        add = [{"op": "add", "path": "/response", "value": forged}]
        refused(workspace.alice.patch("humanrequests", name, add, JSON_PATCH), "it is 'bob'")
        found = workspace.alice.get("humanrequests", name)
        refused(workspace.alice.replace("humanrequests", found | {"response": forged}), "it is 'bob'")
        manifest = {key: found[key] for key in ("apiVersion", "kind")}
        manifest |= {"metadata": {"name": name}, "response": forged}
        query = {"fieldManager": "bob", "force": "true"}
        refused(workspace.alice.patch("humanrequests", name, manifest, APPLY, **query), "it is 'bob'")

    def test_an_impersonator_is_whom_it_impersonates(self, workspace: Any) -> None:
        name = workspace.open()
        patch = '{"response": {"responder": "alice"}}'
        command = ("patch", "hreq", name, "--type=merge", "--patch", patch)
        assert (
            "must be the authenticated user, 'bob'"
            in workspace.admin.kubectl(*command, "--as=bob", "--as-group=release-managers").stderr
        )
        accepted = workspace.admin.kubectl(*command, "--as=alice", "--as-group=release-managers")
        assert accepted.returncode == 0, accepted.stderr


class TestWhoMayAnswer:
    @pytest.mark.parametrize(
        ("responders", "name", "groups", "allowed"),
        [
            ({}, "alice", [], True),
            ({"users": ["bob", "carol", "alice"]}, "alice", [], True),
            ({"users": ["bob"]}, "alice", [], False),
            ({"groups": ["oidc:leads", "oidc:team"]}, "alice", ["oidc:team"], True),
            ({"groups": ["oidc:leads"]}, "alice", ["oidc:team"], False),
            ({"users": ["bob"], "groups": ["oidc:team"]}, "alice", ["oidc:team"], True),
            ({"users": ["bob"], "groups": ["oidc:team"]}, "bob", [], True),
            ({"users": []}, "alice", [], False),
            ({"groups": []}, "alice", [], False),
            ({}, "system:serviceaccount:team:bot", [], False),
            ({"agents": "deny"}, "system:serviceaccount:team:bot", [], False),
            (
                {"agents": "deny", "users": ["system:serviceaccount:team:bot"]},
                "system:serviceaccount:team:bot",
                [],
                False,
            ),
            ({"agents": "allow"}, "system:serviceaccount:team:bot", [], True),
            ({"agents": "allow", "users": ["alice"]}, "system:serviceaccount:team:bot", [], False),
        ],
    )
    def test_those_whom_the_request_admits(
        self, workspace: Any, responders: Object, name: str, groups: list[str], allowed: bool
    ) -> None:
        user = workspace.person(name, "release-managers", *groups)
        result = answer(user, workspace.open(responders=responders))
        if allowed:
            result.object()
        else:
            refused(result, "compozy-responder-permission", f"respond_not_permitted: '{name}' is ")

    def test_being_an_administrator_does_not_admit(self, workspace: Any) -> None:
        refused(answer(workspace.admin, workspace.open(responders={"users": ["alice"]})), "respond_not_permitted")


class TestOnlyTheOperator:
    @pytest.mark.parametrize("person", ["alice", "admin"])
    def test_creates_requests(self, workspace: Any, person: str) -> None:
        user = getattr(workspace, person)
        text = f"only the operator, '{OPERATOR_USER}', may create a HumanRequest: you are 'admin'"
        refused(user.create("humanrequests", request("homemade")), *([text] if person == "admin" else []))

    @pytest.mark.parametrize("plural", ["humanrequests", "planruns", "plans"])
    def test_writes_a_status(self, workspace: Any, plural: str) -> None:
        plan = {"apiVersion": "compozy.dev/v1alpha1", "kind": "Plan", "metadata": {"name": "status"}}
        workspace.erin.create("plans", plan | {"spec": {"steps": []}})
        name = {"humanrequests": workspace.open, "planruns": workspace.start, "plans": lambda: "status"}[plural]()
        patch = {"status": {"observedGeneration": 7}}
        result = workspace.admin.patch(plural, name, patch, subresource="status")
        refused(result, f"only the operator, '{OPERATOR_USER}', may write `status`: you are 'admin'")
        found = workspace.admin.get(plural, name)
        refused(workspace.admin.replace(plural, found | patch, subresource="status"), "may write `status`")
        workspace.operator.patch(plural, name, patch, subresource="status").object()

    @pytest.mark.parametrize("person", ["alice", "bob", "admin"])
    def test_hands_a_response_back(self, workspace: Any, person: str) -> None:
        name = workspace.open()
        answer(workspace.alice, name).object()
        user = getattr(workspace, person)
        refused(user.patch("humanrequests", name, {"response": None}), "may hand a response back", user.name)

    @pytest.mark.parametrize(("field", "value"), METADATA)
    def test_changes_the_metadata_of_a_request(self, workspace: Any, field: str, value: Any) -> None:
        name, patch = workspace.open(), {"metadata": {field: value}}
        text = f"may write `metadata.{field}` of a HumanRequest: you are 'alice'"
        refused(workspace.alice.patch("humanrequests", name, patch), text)
        refused(workspace.alice.patch("humanrequests", name, patch | {"response": {"responder": "alice"}}), text)
        workspace.operator.patch("humanrequests", name, patch).object()
        refused(workspace.alice.patch("humanrequests", name, {"metadata": {field: None}}), text)

    @pytest.mark.parametrize(("field", "value"), METADATA)
    @pytest.mark.parametrize("keeper", ["admin", *CLUSTER_KEEPERS])
    def test_but_for_those_who_clean_up_and_repair(
        self, workspace: Any, keeper: str, field: str, value: Any
    ) -> None:
        name = workspace.open()
        workspace.operator.patch("humanrequests", name, {"metadata": {field: value}}).object()
        # RBAC of the real accounts aside: here they are responders, who could not do this.
        user = workspace.admin if keeper == "admin" else workspace.person(keeper)
        workspace_patch = {"metadata": {field: None}}
        user.patch("humanrequests", name, workspace_patch).object()
        assert field not in workspace.alice.get("humanrequests", name)["metadata"]

    def test_writes_that_change_nothing_pass(self, workspace: Any) -> None:
        """As a storage migration makes them."""
        name = workspace.open()
        workspace.operator.patch("humanrequests", name, {"metadata": {"labels": {"a": "b"}}}).object()
        answer(workspace.alice, name).object()
        for user in (workspace.alice, workspace.admin):
            user.replace("humanrequests", user.get("humanrequests", name)).object()


class TestWhoStartedARun:
    @pytest.mark.parametrize("person", ["erin", "admin", "operator"])
    def test_is_who_created_it(self, workspace: Any, person: str) -> None:
        user = getattr(workspace, person)
        ref = {"planRef": {"name": "release"}}
        user.create("planruns", run("mine", startedBy=user.name, **ref), dryRun="All").object()
        user.create("planruns", run("nobodys", **ref), dryRun="All").object()
        text = f"must be left out or be the authenticated user, '{user.name}': it is 'bob'"
        refused(user.create("planruns", run("bobs", startedBy="bob", **ref), dryRun="All"), text)

    def test_a_run_stays_with_its_parent(self, workspace: Any) -> None:
        name = workspace.start()
        patch = {"metadata": {"ownerReferences": [PARENT]}}
        workspace.operator.patch("planruns", name, patch).object()
        for owners in (None, [], [OWNER], [PARENT | {"uid": "3"}]):
            orphan = {"metadata": {"ownerReferences": owners}}
            refused(
                workspace.erin.patch("planruns", name, orphan),
                "may take a run from its parent: you are 'erin'",
            )
        workspace.erin.patch("planruns", name, {"metadata": {"ownerReferences": [PARENT, OWNER | {"uid": "9"}]}})
        workspace.operator.patch("planruns", name, {"metadata": {"ownerReferences": None}}).object()


@pytest.mark.parametrize(
    "name", [one["metadata"]["name"] for one in all_policies() if "validations" in one["spec"]]
)
def test_the_expressions_pass_the_type_check(workspace: Any, name: str) -> None:
    """The controller manager checks policies against the schemas of what they match."""
    path = f"/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies/{name}"
    deadline = time.monotonic() + 60
    while "typeChecking" not in (status := workspace.admin.call("GET", path).object().get("status", {})):
        assert time.monotonic() < deadline, "the controller manager did not check it"
        time.sleep(0.2)
    assert status["typeChecking"] == {}
