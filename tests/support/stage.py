"""A namespace with the operator at work in it, and the people who use it."""

import itertools
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from support.apiserver import Api, User, run
from support.plans import spec

BIN = Path(sys.executable).parent
SECONDS = 90.0

_numbers = itertools.count(1)


def eventually(what: Callable[[], Any], why: str, seconds: float = SECONDS) -> Any:
    """The first true value; fails when there is none in time."""
    deadline = time.monotonic() + seconds
    while True:
        found = what()
        if found:
            return found
        assert time.monotonic() < deadline, f"not in {seconds:.0f} s: {why}"
        time.sleep(0.03)


@dataclass
class Stage:
    """One namespace. `admin` looks, `author` starts runs, `person` answers."""

    api: Api
    namespace: str
    admin: User = field(init=False)
    author: User = field(init=False)
    person: User = field(init=False)

    def __post_init__(self) -> None:
        self.admin = self.api.admin(self.namespace)
        self.author = self.api.user("erin", self.namespace, ["authors"])
        self.person = self.api.user("alice", self.namespace, ["responders"])

    def start(self, plan: str | None, inputs: Mapping[str, Any] | None = None, **more: Any) -> str:
        """Start a run of an inline plan, or of what `more` says; returns its name."""
        name = f"run-{next(_numbers)}"
        fields: dict[str, Any] = {"inputs": dict(inputs or {}), **more}
        if plan is not None:
            fields["plan"] = spec(plan)
        self.author.create("planruns", run(name, **fields)).object()
        return name

    def run(self, name: str) -> dict[str, Any]:
        """A run as it is now."""
        return self.admin.get("planruns", name)

    def status(self, name: str) -> dict[str, Any]:
        """The status of a run as it is now."""
        return self.run(name).get("status") or {}

    def finished(self, name: str, seconds: float = SECONDS) -> dict[str, Any]:
        """The status of a run that has ended."""

        def ended() -> dict[str, Any] | None:
            status = self.status(name)
            return status if status.get("phase") in ("Succeeded", "Failed", "Canceled") else None

        return eventually(ended, f"run {name} has ended", seconds)

    def requests(self, run_name: str) -> list[dict[str, Any]]:
        """The questions of a run."""
        path = self.admin.path("humanrequests")
        return self.admin.call("GET", path, fieldSelector=f"spec.run={run_name}").object()["items"]

    def question(self, run_name: str, node: str | None = None) -> dict[str, Any]:
        """The open question of a run, or of one of its nodes."""

        def open_one() -> dict[str, Any] | None:
            for item in self.requests(run_name):
                pending = item["status"]["state"] == "Pending" and "response" not in item
                if pending and node in (None, item["spec"]["node"]):
                    return item
            return None

        return eventually(open_one, f"run {run_name} asks")

    def answer(self, request: Mapping[str, Any], payload: Any, who: User | None = None, **more: Any) -> Any:
        """Answer by a plain merge patch."""
        who = who or self.person
        response = {"decision": "respond", "payload": payload, "responder": who.name, **more}
        return who.patch("humanrequests", request["metadata"]["name"], {"response": response})

    def decline(self, request: Mapping[str, Any]) -> Any:
        """Decline by a plain merge patch."""
        response = {"decision": "decline", "responder": self.person.name}
        return self.person.patch("humanrequests", request["metadata"]["name"], {"response": response})

    def state(self, request: Mapping[str, Any]) -> str:
        """The state of a request as it is now."""
        name = request["metadata"]["name"]
        return str(self.admin.get("humanrequests", name)["status"]["state"])

    def question_is_over(self, request: Mapping[str, Any]) -> bool:
        """Whether a question is resolved."""
        return self.state(request) != "Pending"

    def resolved(self, request: Mapping[str, Any]) -> str:
        """The state of a request once it is final."""

        def final() -> str | None:
            state = self.state(request)
            return state if state != "Pending" else None

        return eventually(final, f"{request['metadata']['name']} is resolved")

    def environment(self, user: User, extra: Mapping[str, str] | None = None) -> dict[str, str]:
        """The environment of a person at a shell, with this namespace in their kubeconfig's place."""
        path = f"{BIN}{os.pathsep}{os.environ['PATH']}"
        return {**os.environ, "PATH": path, "KUBECONFIG": str(user.kubeconfig), **(extra or {})}

    def plugin(
        self, *arguments: str, user: User | None = None, stdin: str | None = None
    ) -> subprocess.CompletedProcess[str]:
        """`kubectl compozy …` as a person would call it, without a terminal."""
        return subprocess.run(
            [str(BIN / "kubectl"), "compozy", *arguments, "-n", self.namespace],
            env=self.environment(user or self.person),
            input=stdin,
            stdin=subprocess.DEVNULL if stdin is None else None,
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )

    def plugin_json(self, *arguments: str, user: User | None = None) -> Any:
        """What the plugin prints as JSON."""
        result = self.plugin(*arguments, "-o", "json", user=user)
        assert result.stdout, f"{arguments} ended with {result.returncode}: {result.stderr}"
        return json.loads(result.stdout)
