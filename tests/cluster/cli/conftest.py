"""The plugin against a real API server, without the operator: a test plays its part where one is needed."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pexpect
import pytest

from support.apiserver import Api, User, install, request

BIN = Path(sys.executable).parent
SECONDS = 60.0
RBAC = "rbac.authorization.k8s.io"

_numbers = itertools.count(1)

CHANNEL = {
    "type": "object",
    "required": ["channel", "confirm"],
    "properties": {
        "channel": {"enum": ["stable", "beta", "nightly"], "description": "Release channel"},
        "confirm": {"type": "boolean", "description": "Really cut it?"},
    },
}

Reaction = Callable[[dict[str, Any]], Mapping[str, Any] | None]
"""From an answered request to the status that the operator writes; None: the answer is handed back."""


def accept(question: dict[str, Any]) -> Mapping[str, Any]:
    """Accepts any answer."""
    declined = question["response"]["decision"] in ("decline", "unavailable")
    return {"state": "Declined" if declined else "Answered", "resolvedAt": "2026-05-01T12:00:00.000001Z"}


@dataclass
class Desk:
    """A namespace with people at shells."""

    api: Api
    namespace: str
    admin: User = field(init=False)
    operator: User = field(init=False)
    alice: User = field(init=False)
    """May answer, and write plans and runs."""
    bob: User = field(init=False)
    """As alice."""
    eve: User = field(init=False)
    """May look."""

    def __post_init__(self) -> None:
        self.admin, self.operator = self.api.admin(self.namespace), self.api.operator(self.namespace)
        self.alice = self.api.user("alice", self.namespace, ["desk"])
        self.bob = self.api.user("bob", self.namespace, ["desk"])
        self.eve = self.api.user("eve", self.namespace, ["lookers"])

    def open(self, name: str | None = None, **spec: Any) -> str:
        """Open a question, as the operator does."""
        name = name or f"question-{next(_numbers)}"
        self.operator.create("humanrequests", request(name, **{"expect": CHANNEL, **spec})).object()
        return name

    def environment(self, user: User, **extra: str) -> dict[str, str]:
        return {
            **os.environ,
            "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}",
            "KUBECONFIG": str(user.kubeconfig),
            **extra,
        }

    def call(
        self,
        *arguments: str,
        user: User | None = None,
        stdin: str = "",
        program: tuple[str, ...] = ("kubectl-compozy",),
        **extra: str,
    ) -> subprocess.CompletedProcess[str]:
        """The plugin without a terminal."""
        return subprocess.run(
            [str(BIN / program[0]), *program[1:], *arguments, "-n", self.namespace],
            env=self.environment(user or self.alice, **extra),
            input=stdin,
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )

    def json(self, *arguments: str, user: User | None = None, code: int = 0) -> Any:
        """What the plugin prints with `-o json`."""
        done = self.call(*arguments, "-o", "json", user=user)
        assert done.returncode == code, (done.stdout, done.stderr)
        return json.loads(done.stdout)

    def terminal(self, *arguments: str, user: User | None = None) -> pexpect.spawn[str]:
        """The plugin at a terminal of 100 columns."""
        return pexpect.spawn(
            str(BIN / "kubectl-compozy"),
            [*arguments, "-n", self.namespace],
            env=self.environment(user or self.alice),
            encoding="utf-8",
            timeout=SECONDS,
            dimensions=(50, 100),
        )

    @contextlib.contextmanager
    def operator_at_work(self, react: Reaction = accept) -> Iterator[None]:
        """Reacts to answers as the operator would, until the block ends."""
        done = threading.Event()

        def work() -> None:
            while not done.wait(0.02):
                listed = self.operator.call("GET", self.operator.path("humanrequests")).object()
                for item in listed["items"]:
                    if "response" in item and item["status"]["state"] == "Pending":
                        self._react(item, react(item))

        thread = threading.Thread(target=work, daemon=True)
        thread.start()
        try:
            yield
        finally:
            done.set()
            thread.join()

    def _react(self, item: dict[str, Any], status: Mapping[str, Any] | None) -> None:
        name = item["metadata"]["name"]
        if status is not None:
            self.operator.patch("humanrequests", name, {"status": dict(status)}, subresource="status")
            return
        rejection = {
            "code": "request_validation_failed",
            "fields": {"channel": "is not open today"},
            "by": item["response"]["responder"],
            "at": "2026-05-01T12:00:00Z",
        }
        status = {"lastRejection": rejection}
        self.operator.patch("humanrequests", name, {"status": status}, subresource="status").object()
        self.operator.patch("humanrequests", name, {"response": None}).object()


@pytest.fixture(scope="session")
def _installed(cluster: Any) -> Api:
    return install(cluster)


@pytest.fixture
def desk(_installed: Api) -> Desk:
    """A namespace of its own, with its people."""
    return new_desk(_installed)


@pytest.fixture(scope="module")
def shared_desk(_installed: Api) -> Desk:
    """One for all tests of a file."""
    return new_desk(_installed)


def new_desk(api: Api) -> Desk:
    """Make a namespace with its people."""
    made = Desk(api, f"desk-{next(_numbers)}-{os.getpid()}")
    made.admin.call("POST", "/api/v1/namespaces", {"metadata": {"name": made.namespace}}).object()
    for role, group in (("responder", "desk"), ("edit", "desk"), ("view", "desk"), ("view", "lookers")):
        binding = {
            "metadata": {"name": f"{role}-{group}"},
            "roleRef": {"apiGroup": RBAC, "kind": "ClusterRole", "name": f"compozy-{role}"},
            "subjects": [{"apiGroup": RBAC, "kind": "Group", "name": group}],
        }
        path = f"/apis/{RBAC}/v1/namespaces/{made.namespace}/rolebindings"
        made.admin.call("POST", path, binding).object()
    deadline = time.monotonic() + SECONDS
    while not all(user.call("GET", user.path("agents")).ok for user in (made.alice, made.eve)):
        assert time.monotonic() < deadline, "RBAC is not in force"
        time.sleep(0.05)
    return made
