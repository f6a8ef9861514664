"""kind and named contexts, with programs that only pretend."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from controlplane import ControlPlane, ControlPlaneError, background, external
from controlplane.progress import Silent

from .conftest import FakeProgram

pytestmark = pytest.mark.unit

KUBECONFIG = """
clusters: [{name: c, cluster: {server: "https://example.test:6443", certificate-authority-data: Y2E=}}]
users: [{name: u, user: {token: t}}]
contexts: [{name: staging, context: {cluster: c, user: u}}]
current-context: staging
"""


@pytest.fixture
def kind(fake_program: FakeProgram, tmp_path: Path) -> Path:
    """A kind that makes clusters at once; the file in which it lists its commands."""
    calls = tmp_path / "kind-calls"
    (tmp_path / "made").write_text(KUBECONFIG)
    fake_program("docker", "exit 0")
    fake_program(
        "kind",
        f'echo "$@" >> {calls}\n'
        f'for a in "$@"; do case $a in --kubeconfig=*) cp {tmp_path}/made "${{a#--kubeconfig=}}";; esac; done',
    )
    return calls


def test_kind_makes_a_cluster_and_deletes_it(kind: Path, tmp_path: Path) -> None:
    name = external.kind_cluster_name(tmp_path / "c")
    with ControlPlane.start(tmp_path / "c", Silent()) as cluster:
        assert cluster.server == "https://example.test:6443"
        assert cluster.ca_file.read_bytes() == b"ca"
        assert cluster.pids == {}
        assert cluster.state.source == "kind"
        user = yaml.safe_load(cluster.user("alice", ["dev"]).read_text())["users"][0]["user"]
        assert user == {"token": "t", "as": "alice", "as-groups": ["dev"]}

    created, deleted = kind.read_text().splitlines()
    assert created.startswith(f"create cluster --name={name} --config={external.KIND_CONFIG} ")
    assert deleted == f"delete cluster --name={name}"
    cluster.stop()
    assert len(kind.read_text().splitlines()) == 2


def test_the_kind_configuration_is_there() -> None:
    config = yaml.safe_load(external.KIND_CONFIG.read_text())
    assert (config["kind"], config["apiVersion"]) == ("Cluster", "kind.x-k8s.io/v1alpha4")
    assert [node["role"] for node in config["nodes"]] == ["control-plane"]


def test_kind_that_fails_leaves_no_cluster(kind: Path, fake_program: FakeProgram, tmp_path: Path) -> None:
    fake_program("kind", f'echo "$@" >> {kind}; [ "$1" = delete ]')

    with pytest.raises(ControlPlaneError, match="kind ended with 1") as failure:
        ControlPlane.start(tmp_path / "c", Silent())

    assert failure.value.log == tmp_path / "c" / "kind.log"
    assert [line.split()[0] for line in kind.read_text().splitlines()] == ["create", "delete"]


def test_down_finds_the_kind_cluster_of_its_directory(kind: Path, tmp_path: Path) -> None:
    background.up(tmp_path / "c", Silent())
    background.down(tmp_path / "c", Silent())
    background.down(tmp_path / "c", Silent())
    assert [line.split()[0] for line in kind.read_text().splitlines()] == ["create", "delete"]


@pytest.fixture
def staging(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, ...]]:
    """A kubectl that knows the context ``staging``; what it was asked."""
    calls: list[tuple[str, ...]] = []

    def kubectl(*arguments: str) -> str:
        calls.append(arguments)
        if "get-contexts" in arguments:
            return "staging\n"
        if "view" in arguments and "--context=staging" not in arguments:
            raise ControlPlaneError("kubectl config view failed: cannot locate context", hint="check it")
        return KUBECONFIG if "view" in arguments else "ok"

    monkeypatch.setattr(external, "kubectl", kubectl)
    monkeypatch.setenv("COMPOZY_CONTEXT", "staging")
    return calls


def test_a_named_context_is_used_and_never_stopped(staging: list[tuple[str, ...]], tmp_path: Path) -> None:
    with ControlPlane.start(tmp_path / "c", Silent()) as cluster:
        assert cluster.server == "https://example.test:6443"
        assert cluster.state.source == "context"
        assert not cluster.owns_servers
        assert cluster.kubeconfig.stat().st_mode & 0o777 == 0o600
    assert not any("delete" in arguments for arguments in staging)


def test_a_context_that_is_not_there_is_named_with_those_that_are(
    staging: list[tuple[str, ...]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COMPOZY_CONTEXT", "production")
    with pytest.raises(ControlPlaneError, match=r"COMPOZY_CONTEXT names 'production'.*set it to one of staging"):
        ControlPlane.start(tmp_path / "c", Silent())


@pytest.mark.usefixtures("staging")
@pytest.mark.parametrize("asked", [None, "production"])
def test_up_never_takes_one_cluster_for_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, asked: str | None
) -> None:
    background.up(tmp_path / "c", Silent())
    if asked is None:
        monkeypatch.delenv("COMPOZY_CONTEXT")
    else:
        monkeypatch.setenv("COMPOZY_CONTEXT", asked)

    with pytest.raises(ControlPlaneError, match="holds context staging, but COMPOZY_CONTEXT is"):
        background.up(tmp_path / "c", Silent())
