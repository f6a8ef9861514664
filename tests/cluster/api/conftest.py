"""The manifests installed once, and a workspace with its people for each test."""

from __future__ import annotations

import itertools
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from support.apiserver import Api, User, install, request, run

PEOPLE = "release-managers"
EDITORS = "authors"

_names = itertools.count()


@dataclass
class Workspace:
    """A namespace in which one group may answer and another may write plans and runs."""

    api: Api
    namespace: str
    admin: User = field(init=False)
    """A cluster administrator, outside RBAC."""
    operator: User = field(init=False)
    alice: User = field(init=False)
    """May answer, and nothing else."""
    bob: User = field(init=False)
    """As alice."""
    erin: User = field(init=False)
    """May write plans and runs."""

    def __post_init__(self) -> None:
        self.admin = self.api.admin(self.namespace)
        self.operator = self.api.operator(self.namespace)
        self.alice, self.bob = self.person("alice"), self.person("bob")
        self.erin = self.person("erin", EDITORS)

    def person(self, name: str, *groups: str) -> User:
        """A member of the groups: if none is given, of those who may answer."""
        return self.api.user(name, self.namespace, groups or (PEOPLE,))

    def open(self, **spec: Any) -> str:
        """Open a request, as the operator does, and return its name."""
        name = f"request-{next(_names)}"
        self.operator.create("humanrequests", request(name, **spec)).object()
        return name

    def start(self, **spec: Any) -> str:
        """Start a run, of a Plan if nothing else is said, and return its name."""
        name = f"run-{next(_names)}"
        spec = spec if "plan" in spec else {"planRef": {"name": "release"}} | spec
        self.erin.create("planruns", run(name, **spec)).object()
        return name

    def settle(self, name: str, state: str) -> None:
        """Bring a pending request into a state, by the way that leads there."""
        decision = {"Answered": "respond", "Declined": "decline"}.get(state)
        if decision:
            response = {"responder": "alice", "decision": decision}
            self.alice.patch("humanrequests", name, {"response": response}).object()
        if state != "Pending":
            self.set_status("humanrequests", name, state=state)

    def set_status(self, plural: str, name: str, **status: Any) -> None:
        """Write fields of a status, as the operator does."""
        self.operator.patch(plural, name, {"status": status}, subresource="status").object()


@pytest.fixture(scope="session")
def api(cluster: Any) -> Api:
    """The API server with everything of ours installed."""
    return install(cluster)


@pytest.fixture(scope="session")
def _people(api: Api) -> Iterator[str]:
    """A namespace with its role bindings, which the tests share: each makes objects of its own."""
    namespace = f"workspace-{uuid.uuid4().hex[:8]}"
    admin = api.admin(namespace)
    made = admin.call("POST", "/api/v1/namespaces", {"metadata": {"name": namespace}})
    made.object()
    for role, group in (("compozy-responder", PEOPLE), ("compozy-edit", EDITORS)):
        arguments = (f"--clusterrole={role}", f"--group={group}")
        bound = admin.kubectl("create", "rolebinding", role, *arguments)
        assert bound.returncode == 0, bound.stderr
    yield namespace
    admin.call("DELETE", f"/api/v1/namespaces/{namespace}")


@pytest.fixture
def workspace(api: Api, _people: str) -> Workspace:
    """The namespace and its people."""
    return Workspace(api, _people)
