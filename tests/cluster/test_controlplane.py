"""The control plane itself: identities, independence, and that nothing of it is left behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import controlplane
from controlplane import ControlPlane
from controlplane.external import kubectl
from controlplane.progress import Silent

pytestmark = pytest.mark.cluster

TOOLS = Path(controlplane.__file__).parents[1]
SERVERS = {"etcd", "kube-apiserver", "kube-controller-manager"}


def call(kubeconfig: Path, *arguments: str) -> Any:
    return json.loads(kubectl("--kubeconfig", str(kubeconfig), *arguments, "--output=json"))


def whoami(kubeconfig: Path) -> dict[str, Any]:
    """What a SelfSubjectReview answers."""
    identity: dict[str, Any] = call(kubeconfig, "auth", "whoami")["status"]["userInfo"]
    return identity


def processes_of(directory: Path) -> set[str]:
    """The programs that run with this directory on their command line."""
    found = set()
    for entry in Path("/proc").iterdir():
        try:
            words = (entry / "cmdline").read_bytes().split(b"\0") if entry.name.isdigit() else []
        except (FileNotFoundError, ProcessLookupError):
            continue  # it ended in between; a zombie has no command line
        if any(bytes(directory) in word for word in words):
            found.add(Path(words[0].decode()).name)
    return found


def wait_until_gone(directory: Path) -> None:
    while processes_of(directory):
        time.sleep(0.05)


def command(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run ``python -m controlplane``."""
    return subprocess.run(
        [sys.executable, "-m", "controlplane", *arguments],
        env={**os.environ, "PYTHONPATH": str(TOOLS)},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def own_servers(cluster: ControlPlane) -> ControlPlane:
    """The shared control plane, where its servers are processes of ours."""
    if not cluster.owns_servers:
        pytest.skip("kind or another context runs the servers")
    return cluster


@pytest.fixture
def background(own_servers: ControlPlane, tmp_path: Path) -> Iterator[Path]:
    """A directory whose control plane is up."""
    up = command("up", "--dir", str(tmp_path / "c"))
    assert up.returncode == 0, up.stderr
    yield tmp_path / "c"
    assert command("down", "--dir", str(tmp_path / "c")).returncode == 0


@pytest.mark.parametrize(("name", "groups"), [("alice", ["release-managers", "developers"]), ("bob", [])])
def test_a_named_user_is_authenticated_as_such(cluster: ControlPlane, name: str, groups: list[str]) -> None:
    identity = whoami(cluster.user(name, groups))
    assert identity["username"] == name
    assert set(identity["groups"]) == {*groups, "system:authenticated"}


def test_the_same_user_is_the_same_file(cluster: ControlPlane) -> None:
    assert cluster.user("carol", ["a"]) == cluster.user("carol", ["a"])
    assert cluster.user("carol", ["a"]) != cluster.user("carol", ["b"])


def test_a_user_has_no_rights_of_its_own(cluster: ControlPlane) -> None:
    review = ("auth", "can-i", "--list", "--no-headers", "--namespace=default")
    mallory = kubectl("--kubeconfig", str(cluster.user("mallory")), *review)
    assert "secrets" not in mallory
    assert "*.*" in kubectl("--kubeconfig", str(cluster.kubeconfig), *review)


def test_a_service_account_is_authenticated_by_its_token(cluster: ControlPlane) -> None:
    identity = whoami(cluster.service_account("default", "default"))
    assert identity["username"] == "system:serviceaccount:default:default"
    assert "system:serviceaccounts:default" in identity["groups"]


def test_owned_objects_are_collected(cluster: ControlPlane) -> None:
    """The controller manager runs: an object goes with its owner."""
    admin = ("--kubeconfig", str(cluster.kubeconfig), "--namespace=default")
    kubectl(*admin, "create", "configmap", "owner")
    owner = call(cluster.kubeconfig, "--namespace=default", "get", "configmap", "owner")["metadata"]
    reference = {"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": owner["uid"]}
    kubectl(*admin, "create", "configmap", "owned")
    patch = json.dumps({"metadata": {"ownerReferences": [reference]}})
    kubectl(*admin, "patch", "configmap", "owned", f"--patch={patch}")

    kubectl(*admin, "delete", "configmap", "owner")

    kubectl(*admin, "wait", "--for=delete", "configmap/owned", "--timeout=25s")


def test_two_are_independent(own_servers: ControlPlane, tmp_path: Path) -> None:
    kubectl("--kubeconfig", str(own_servers.kubeconfig), "create", "namespace", "only-here")
    with ControlPlane.start(tmp_path / "second", Silent()) as second:
        assert second.server != own_servers.server
        assert set(second.pids.values()).isdisjoint(own_servers.pids.values())
        assert "only-here" not in kubectl("--kubeconfig", str(second.kubeconfig), "get", "namespaces")
        stranger = second.user("alice")
    assert own_servers.is_healthy()
    assert not stranger.exists()
    assert processes_of(tmp_path / "second") == set()


def test_a_temporary_one_leaves_no_file(own_servers: ControlPlane) -> None:
    with ControlPlane.start(progress=Silent()) as temporary:
        assert temporary.kubeconfig.exists()
    assert not temporary.directory.exists()


def test_a_directory_holds_one(own_servers: ControlPlane) -> None:
    with pytest.raises(controlplane.ControlPlaneError, match="already runs in"):
        ControlPlane.start(own_servers.directory, Silent())
    assert own_servers.is_healthy()


def test_a_named_context_is_used_as_it_is(
    own_servers: ControlPlane, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KUBECONFIG", str(own_servers.kubeconfig))
    monkeypatch.setenv("COMPOZY_CONTEXT", "compozy")
    with ControlPlane.start(tmp_path / "external", Silent()) as external:
        assert external.server == own_servers.server
        assert external.is_healthy()
        assert external.pids == {}
        assert whoami(external.user("alice", ["developers"]))["username"] == "alice"
    assert own_servers.is_healthy()


def test_up_is_idempotent(background: Path) -> None:
    before = (background / "state.json").read_text()

    again = command("up", "--dir", str(background))

    assert again.returncode == 0
    assert "is already up" in again.stderr
    assert (background / "state.json").read_text() == before
    assert processes_of(background) >= SERVERS
    assert command("status", "--dir", str(background)).returncode == 0


def test_down_leaves_no_process(background: Path) -> None:
    assert processes_of(background) >= SERVERS

    for _ in range(2):
        assert command("down", "--dir", str(background)).returncode == 0
        assert processes_of(background) == set()

    assert command("status", "--dir", str(background)).returncode == 1
    assert {path.suffix for path in background.iterdir()} == {".log", ""}


def test_up_replaces_one_that_was_killed(background: Path) -> None:
    killed = ControlPlane.attach(background)
    assert killed is not None
    os.kill(killed.pids["supervisor"], signal.SIGKILL)
    wait_until_gone(background)  # the servers go with their supervisor

    up = command("up", "--dir", str(background))

    assert up.returncode == 0
    assert "does not answer: starting it again" in up.stderr
    replaced = ControlPlane.attach(background)
    assert replaced is not None
    assert replaced.is_healthy()


def test_a_server_that_dies_takes_the_others_with_it(background: Path) -> None:
    cluster = ControlPlane.attach(background)
    assert cluster is not None
    os.kill(cluster.pids["etcd"], signal.SIGKILL)
    wait_until_gone(background)

    status = command("status", "--dir", str(background))

    assert status.returncode == 1
    assert "etcd ended with -9" in status.stdout


@pytest.mark.parametrize("when", ["ready", "starting"])
def test_killing_the_parent_leaves_no_process(own_servers: ControlPlane, tmp_path: Path, when: str) -> None:
    directory = tmp_path / "c"
    script = (
        "import sys, time; from pathlib import Path; from controlplane import ControlPlane\n"
        "ControlPlane.start(Path(sys.argv[1])); print('ready', flush=True); time.sleep(600)"
    )
    parent = subprocess.Popen(
        [sys.executable, "-c", script, str(directory)],
        env={**os.environ, "PYTHONPATH": str(TOOLS)},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    with parent:
        if when == "ready":
            assert parent.stdout is not None
            assert parent.stdout.readline() == b"ready\n"
            assert processes_of(directory) >= SERVERS
        else:
            while "kube-apiserver" not in processes_of(directory):
                assert parent.poll() is None
        parent.kill()
    wait_until_gone(directory)
    assert not (directory / "state.json").exists()
    assert not (directory / "pki").exists()
