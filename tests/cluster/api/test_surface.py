"""What people see and type: kubectl, roles, selection, defaults and clean-up."""

import json
import time
from pathlib import Path
from typing import Any

import pytest
import yaml

from compozy.api.crds import KINDS
from compozy.api.manifests import all_manifests
from support.apiserver import plan, request, run

pytestmark = pytest.mark.cluster

AGENT = {"apiVersion": "compozy.dev/v1alpha1", "kind": "Agent", "metadata": {"name": "reviewer"}}
ENTRY = AGENT | {"kind": "CatalogEntry", "spec": {"kind": "skill"}}


class TestUnknownFields:
    @pytest.mark.parametrize(
        ("manifest", "path"),
        [
            (plan("unknown", steps=[], stages=[]), "spec.stages"),
            (plan("unknown", steps=[], requests={"expiresAfter": "1h"}), "spec.requests.expiresAfter"),
            (run("unknown", planRef={"name": "a", "namespace": "b"}), "spec.planRef.namespace"),
            (run("unknown", plan={"steps": [], "timeoutMinutes": 5}), "spec.plan.timeoutMinutes"),
            (AGENT | {"spec": {"color": "red"}}, "spec.color"),
            (ENTRY | {"data": {}}, "data"),
        ],
        ids=lambda value: value if isinstance(value, str) else value["kind"],
    )
    @pytest.mark.parametrize("how", [[], ["--server-side"]], ids=["apply", "server-side"])
    def test_are_refused_by_kubectl_apply(self, workspace: Any, manifest: Any, path: str, how: list[str]) -> None:
        applied = workspace.admin.kubectl("apply", *how, "-f", "-", stdin=json.dumps(manifest))
        assert applied.returncode == 1
        assert f'unknown field "{path}"' in applied.stderr or f".{path}: field not declared" in applied.stderr

    @pytest.mark.parametrize("how", [["create"], ["apply", "--server-side"]], ids=" ".join)
    def test_are_kept_where_anything_goes(self, workspace: Any, how: list[str]) -> None:
        """Nulls too. (A client-side apply leaves out the nulls before it sends anything.)"""
        spec = {"steps": [{"any": {"thing": [1, None], "null": None}}], "output": {"deep": {"null": None}}}
        name = "-".join(("free-form", how[0]))
        written = workspace.erin.kubectl(*how, "-f", "-", stdin=json.dumps(plan(name, **spec)))
        assert written.returncode == 0, written.stderr
        assert workspace.erin.get("plans", name)["spec"] == spec | {"profile": "delivery"}


class TestKubectl:
    @pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
    def test_knows_short_names_and_the_category(self, workspace: Any, kind: Any) -> None:
        resources = workspace.admin.kubectl("api-resources", "--categories=compozy", "--no-headers").stdout
        rows = {row.split()[0]: row.split() for row in resources.splitlines()}
        assert rows[kind.plural][1:] == [
            ",".join(kind.short_names),
            "compozy.dev/v1alpha1",
            "true",
            kind.name,
        ]

    def test_shows_what_a_person_asks_first(self, workspace: Any) -> None:
        workspace.operator.create("humanrequests", request("shown", run="shown-run")).object()
        table = workspace.alice.kubectl("get", "hreq", "--field-selector=spec.run=shown-run").stdout
        head, row = table.splitlines()
        assert head.split() == ["NAME", "STATE", "RUN", "NODE", "EXPIRES", "AGE", "PROMPT"]
        for shown in ("Pending", "shown-run", "Where should 1.2.0 deploy?", "2099-01-01T00:00:00Z"):
            assert shown in row

    def test_a_person_answers_with_a_plain_patch(self, workspace: Any) -> None:
        name = workspace.open()
        patch = json.dumps({"response": {"responder": "alice", "payload": {"environment": "staging"}}})
        done = workspace.alice.kubectl("patch", "hreq", name, "--type=merge", "--patch", patch)
        assert (done.returncode, done.stdout) == (0, f"humanrequest.compozy.dev/{name} patched\n")
        patch = patch.replace("alice", "bob")
        late = workspace.bob.kubectl("patch", "hreq", name, "--type=merge", "--patch", patch)
        assert late.returncode == 1
        assert late.stderr.endswith("response: Forbidden: request_already_answered\n")

    def test_the_generated_files_apply_as_they_are(self, workspace: Any) -> None:
        """Client-side too, which keeps a copy in an annotation of limited size."""
        admin, directory = workspace.api.admin(""), Path(__file__).parents[3] / "crds"
        # Here the webhook is reached by its address, which goes with no service: it is applied as another.
        webhook, files = directory / "webhook.yaml", sorted(directory.glob("*.yaml"))
        other = [
            one | {"metadata": one["metadata"] | {"name": "another"}}
            for one in yaml.safe_load_all(webhook.read_text())
        ]
        named = [word for path in files if path != webhook for word in ("-f", str(path))]
        lines = 0
        for arguments, stdin in ((named, None), (["-f", "-"], yaml.safe_dump_all(other))):
            applied = admin.kubectl("apply", "--dry-run=server", *arguments, stdin=stdin)
            assert applied.returncode == 0, applied.stderr
            lines += len(applied.stdout.splitlines())
        assert lines == len(all_manifests())


class TestSelection:
    def test_of_pending_requests_of_a_run(self, workspace: Any) -> None:
        names = [workspace.open(run="selected", node=node) for node in ("a", "b", "c")]
        workspace.open(run="other")
        workspace.settle(names[1], "Expired")
        selector = "status.state=Pending,spec.run=selected"
        found = workspace.alice.kubectl("get", "hreq", "-o", "name", f"--field-selector={selector}").stdout
        assert found.split() == [f"humanrequest.compozy.dev/{name}" for name in (names[0], names[2])]
        by_node = workspace.alice.kubectl("get", "hreq", "-o", "name", f"--field-selector={selector},spec.node=c")
        assert by_node.stdout.split() == [f"humanrequest.compozy.dev/{names[2]}"]

    def test_of_reviews(self, workspace: Any) -> None:
        name = workspace.open(run="kinds", kind="Review")
        workspace.open(run="kinds", kind="Ask")
        selector = "--field-selector=spec.run=kinds,spec.kind=Review"
        assert workspace.alice.kubectl("get", "hreq", "-o", "name", selector).stdout.split() == [
            f"humanrequest.compozy.dev/{name}"
        ]

    def test_of_running_runs_of_a_plan(self, workspace: Any) -> None:
        names = [workspace.start(planRef={"name": "popular"}) for _ in range(2)]
        workspace.set_status("planruns", names[0], phase="Running")
        selector = "--field-selector=status.phase=Running,spec.planRef.name=popular"
        found = workspace.alice.kubectl("get", "run", "-o", "name", selector).stdout
        assert found.split() == [f"planrun.compozy.dev/{names[0]}"]


class TestRoles:
    @pytest.mark.parametrize(
        ("person", "verb", "resource", "allowed"),
        [
            ("alice", "get", "humanrequests", True),
            ("alice", "watch", "planruns", True),
            ("alice", "patch", "humanrequests", True),
            ("alice", "update", "humanrequests", True),
            ("alice", "create", "humanrequests", False),
            ("alice", "delete", "humanrequests", False),
            ("alice", "patch", "humanrequests/status", False),
            ("alice", "create", "planruns", False),
            ("alice", "patch", "planruns", False),
            ("erin", "create", "planruns", True),
            ("erin", "patch", "plans", True),
            ("erin", "patch", "planruns/status", False),
            ("erin", "patch", "humanrequests", False),
            ("erin", "create", "agents", False),
            ("operator", "create", "humanrequests", True),
            ("operator", "patch", "humanrequests/status", True),
            ("operator", "create", "controllerrevisions.apps", True),
            ("operator", "create", "events", True),
            ("operator", "list", "namespaces", True),
            ("operator", "watch", "customresourcedefinitions.apiextensions.k8s.io", True),
            ("operator", "patch", "plans", False),
            ("operator", "get", "secrets", False),
            ("operator", "create", "leases.coordination.k8s.io", False),
        ],
    )
    def test_permit_what_the_work_needs(
        self, workspace: Any, person: str, verb: str, resource: str, allowed: bool
    ) -> None:
        resource, _, subresource = resource.partition("/")
        asked = getattr(workspace, person).kubectl("auth", "can-i", verb, resource, f"--subresource={subresource}")
        assert asked.stdout.strip().endswith("yes" if allowed else "no"), asked

    def test_the_operator_elects_its_leader_at_home(self, workspace: Any) -> None:
        home = workspace.api.operator("compozy-system")
        for verb in ("get", "create", "update"):
            assert home.kubectl("auth", "can-i", verb, "leases.coordination.k8s.io").stdout == "yes\n"

    @pytest.mark.parametrize(
        ("role", "rule"),
        [
            ("view", ("list", "humanrequests")),
            ("edit", ("create", "planruns")),
            ("admin", ("patch", "humanrequests")),
            ("admin", ("create", "agents")),
        ],
    )
    def test_are_part_of_those_of_kubernetes(self, workspace: Any, role: str, rule: tuple[str, str]) -> None:
        assert rule in self._rules(workspace, role)

    @pytest.mark.parametrize("role", ["view", "edit"])
    def test_answering_comes_with_neither_view_nor_edit(self, workspace: Any, role: str) -> None:
        assert ("patch", "humanrequests") not in self._rules(workspace, role)

    def _rules(self, workspace: Any, role: str) -> set[tuple[str, str]]:
        deadline = time.monotonic() + 30
        while True:
            path = f"/apis/rbac.authorization.k8s.io/v1/clusterroles/{role}"
            rules = workspace.admin.call("GET", path).object()["rules"] or []
            ours = [rule for rule in rules if rule.get("apiGroups") == ["compozy.dev"]]
            if ours:
                return {
                    (verb, resource) for rule in ours for verb in rule["verbs"] for resource in rule["resources"]
                }
            assert time.monotonic() < deadline, f"nothing of ours was added to {role}"
            time.sleep(0.2)


class TestCleaningUp:
    def test_requests_go_with_their_run(self, workspace: Any) -> None:
        owner = workspace.start()
        uid = workspace.erin.get("planruns", owner)["metadata"]["uid"]
        reference = {"apiVersion": "compozy.dev/v1alpha1", "kind": "PlanRun", "name": owner, "uid": uid}
        manifest = request("owned")
        manifest["metadata"]["ownerReferences"] = [reference | {"controller": True, "blockOwnerDeletion": True}]
        workspace.operator.create("humanrequests", manifest).object()
        workspace.erin.delete("planruns", owner, propagationPolicy="Foreground").object()
        self._wait_until_gone(workspace, "humanrequests/owned", f"planruns/{owner}")

    def test_a_request_is_orphaned_where_that_is_asked_for(self, workspace: Any) -> None:
        owner = workspace.start()
        uid = workspace.erin.get("planruns", owner)["metadata"]["uid"]
        manifest = request("orphan")
        reference = {"apiVersion": "compozy.dev/v1alpha1", "kind": "PlanRun", "name": owner, "uid": uid}
        manifest["metadata"]["ownerReferences"] = [reference]
        workspace.operator.create("humanrequests", manifest).object()
        workspace.erin.delete("planruns", owner, propagationPolicy="Orphan").object()
        self._wait_until_gone(workspace, f"planruns/{owner}")
        assert "ownerReferences" not in workspace.alice.get("humanrequests", "orphan")["metadata"]

    def test_a_namespace_is_deleted_with_open_requests_and_runs(self, workspace: Any) -> None:
        admin = workspace.api.admin("")
        admin.call("POST", "/api/v1/namespaces", {"metadata": {"name": "short-lived"}}).object()
        operator = workspace.api.operator("short-lived")
        operator.create("humanrequests", request("open")).object()
        operator.create("planruns", run("running", planRef={"name": "release"})).object()
        deleted = admin.kubectl("delete", "namespace", "short-lived", "--timeout=50s")
        assert deleted.returncode == 0, deleted.stderr

    def _wait_until_gone(self, workspace: Any, *names: str) -> None:
        waited = workspace.admin.kubectl("wait", "--for=delete", *names, "--timeout=50s")
        assert waited.returncode == 0, waited.stderr


@pytest.mark.parametrize("manifest", [AGENT, AGENT | {"spec": {}}], ids=["no-spec", "empty-spec"])
def test_an_empty_agent_is_a_name_to_refer_to(workspace: Any, manifest: Any) -> None:
    applied = workspace.admin.kubectl("apply", "--dry-run=server", "-f", "-", stdin=yaml.safe_dump(manifest))
    assert applied.returncode == 0, applied.stderr
