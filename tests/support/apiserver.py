"""A real API server with our manifests, seen as different users: through kubectl and through plain HTTP."""

from __future__ import annotations

import base64
import copy
import json
import os
import ssl
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import urllib3
import yaml

from compozy.api.base import API_VERSION, GROUP, VERSION
from compozy.api.identity import OPERATOR_USER
from compozy.api.manifests import all_manifests
from localcluster.webhook import new_url

Object = dict[str, Any]

MERGE = "application/merge-patch+json"
JSON_PATCH = "application/json-patch+json"
STRATEGIC = "application/strategic-merge-patch+json"
APPLY = "application/apply-patch+yaml"

_KUBECTL = Path(sys.executable).parent / "kubectl"


@dataclass(frozen=True)
class Answer:
    """What the API server answered."""

    status: int
    body: Object

    @property
    def ok(self) -> bool:
        return self.status < 300

    @property
    def message(self) -> str:
        """The message of a refusal."""
        return str(self.body.get("message", ""))

    def object(self) -> Object:
        """The object of a success."""
        assert self.ok, f"{self.status}: {self.message}"
        return self.body


@dataclass
class User:
    """An identity, and the namespace that it works in: none for kubectl when it is empty."""

    name: str
    kubeconfig: Path
    namespace: str
    _pool: urllib3.PoolManager = field(init=False, repr=False)
    _server: str = field(init=False, repr=False)
    _headers: urllib3.HTTPHeaderDict = field(init=False, repr=False)

    def __post_init__(self) -> None:
        config = yaml.safe_load(self.kubeconfig.read_text())
        cluster, user = config["clusters"][0]["cluster"], config["users"][0]["user"]
        self._server = cluster["server"]
        self._pool = urllib3.PoolManager(maxsize=64, ssl_context=_ssl_context(cluster, user))
        headers = urllib3.HTTPHeaderDict({"Accept": "application/json"})
        if "token" in user:
            headers.add("Authorization", f"Bearer {user['token']}")
        if "as" in user:
            headers.add("Impersonate-User", user["as"])
        for group in user.get("as-groups", []):
            headers.add("Impersonate-Group", group)
        self._headers = headers

    def call(
        self, method: str, path: str, body: Any = None, content_type: str = "application/json", **query: str
    ) -> Answer:
        """One HTTP request, never repeated."""
        url = f"{self._server}{path}" + (f"?{urlencode(query)}" if query else "")
        headers = self._headers | {"Content-Type": content_type}
        data = None if body is None else json.dumps(body).encode()
        response = self._pool.request(method, url, body=data, headers=headers, retries=False)
        return Answer(response.status, json.loads(response.data))

    def acting_as(self, name: str, groups: Sequence[str] = (), uid: str = "") -> User:
        """The same user who impersonates another."""
        acting = copy.copy(self)
        headers = acting._headers.copy()
        headers.add("Impersonate-User", name)
        for group in groups:
            headers.add("Impersonate-Group", group)
        if uid:
            headers.add("Impersonate-Uid", uid)
        acting._headers = headers
        return acting

    def path(self, plural: str, name: str = "", subresource: str = "") -> str:
        """The path of our resources."""
        parts = [f"/apis/{GROUP}/{VERSION}/namespaces/{self.namespace}/{plural}", name, subresource]
        return "/".join(part for part in parts if part)

    def create(self, plural: str, manifest: Object, **query: str) -> Answer:
        return self.call("POST", self.path(plural), manifest, **query)

    def get(self, plural: str, name: str) -> Object:
        return self.call("GET", self.path(plural, name)).object()

    def patch(
        self,
        plural: str,
        name: str,
        patch: Any,
        content_type: str = MERGE,
        subresource: str = "",
        **query: str,
    ) -> Answer:
        return self.call("PATCH", self.path(plural, name, subresource), patch, content_type, **query)

    def replace(self, plural: str, manifest: Object, subresource: str = "") -> Answer:
        return self.call("PUT", self.path(plural, manifest["metadata"]["name"], subresource), manifest)

    def delete(self, plural: str, name: str, **query: str) -> Answer:
        return self.call("DELETE", self.path(plural, name), **query)

    def kubectl(
        self, *arguments: str, stdin: str | None = None, variables: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        """kubectl as this user in this namespace, with further environment variables."""
        namespace = [f"--namespace={self.namespace}"] if self.namespace else []
        command = [str(_KUBECTL), f"--kubeconfig={self.kubeconfig}", *namespace, *arguments]
        environment = None if variables is None else {**os.environ, **variables}
        return subprocess.run(
            command, input=stdin, env=environment, capture_output=True, text=True, check=False, timeout=60
        )


def _ssl_context(cluster: Object, user: Object) -> ssl.SSLContext:
    authority = base64.b64decode(cluster["certificate-authority-data"]).decode()
    context = ssl.create_default_context(cadata=authority)
    if "client-certificate-data" in user:
        with tempfile.TemporaryDirectory() as directory:
            pair = Path(directory, "pair.pem")
            parts = (user["client-certificate-data"], user["client-key-data"])
            pair.touch(mode=0o600)
            pair.write_bytes(b"\n".join(base64.b64decode(part) for part in parts))
            context.load_cert_chain(pair)
    return context


@dataclass(frozen=True)
class Api:
    """The API server with everything of ours installed."""

    cluster: Any
    """What the `cluster` fixture gives."""

    def user(self, name: str, namespace: str, groups: Sequence[str] = ()) -> User:
        return User(name, self.cluster.user(name, groups), namespace)

    def admin(self, namespace: str) -> User:
        return User("admin", self.cluster.kubeconfig, namespace)

    def operator(self, namespace: str) -> User:
        return self.user(OPERATOR_USER, namespace)


def install(cluster: Any) -> Api:
    """Apply all manifests and wait until they are in force. An operator of `operator_of` serves the webhook."""
    api = Api(cluster)
    admin = api.admin("")
    manifests = yaml.safe_dump_all(all_manifests(webhook_url=new_url()))
    applied = admin.kubectl("apply", "--server-side", "-f", "-", stdin=manifests)
    assert applied.returncode == 0, applied.stderr
    established = admin.kubectl("wait", "--for=condition=Established", "crd", "--all", "--timeout=30s")
    assert established.returncode == 0, established.stderr
    forged = run("forged", planRef={"name": "any"}, startedBy="somebody-else")
    # The API server learns of the policies in the order they were made; this asks for the last.
    admin = api.admin("default")
    _wait_until(lambda: not admin.create("planruns", forged, dryRun="All").ok)
    return api


def _wait_until(condition: Any, seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "the API server did not get there in time"
        time.sleep(0.1)


def request(name: str, **spec: Any) -> Object:
    """A HumanRequest that asks, and may be declined."""
    return _object("HumanRequest", name, ASK | spec)


def run(name: str, **spec: Any) -> Object:
    """A PlanRun."""
    return _object("PlanRun", name, spec)


def plan(name: str, **spec: Any) -> Object:
    """A Plan."""
    return _object("Plan", name, spec)


def _object(kind: str, name: str, spec: Object) -> Object:
    return {"apiVersion": API_VERSION, "kind": kind, "metadata": {"name": name}, "spec": spec}


ASK: Object = {
    "run": "release-7k2p",
    "generation": 1,
    "node": "choose_environment",
    "kind": "Ask",
    "prompt": "Where should 1.2.0 deploy?",
    "context": {"release": "1.2.0", "candidates": ["staging", "production"]},
    "expect": {"type": "object", "required": ["environment"]},
    "decisions": ["respond", "decline"],
    "expiresAt": "2099-01-01T00:00:00Z",
}
