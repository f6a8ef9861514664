"""The supervisor, with servers that end at once."""

from __future__ import annotations

from pathlib import Path

import pytest

from controlplane import ControlPlane, ControlPlaneError, servers
from controlplane.binaries import Binaries
from controlplane.progress import Silent
from controlplane.state import Layout

from .conftest import FakeProgram

pytestmark = pytest.mark.unit


@pytest.fixture
def assets(fake_program: FakeProgram, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Servers that run and never answer, as KUBEBUILDER_ASSETS."""
    for name in ("etcd", "kube-apiserver", "kube-controller-manager"):
        directory = fake_program(name, "exec sleep 600").parent
    monkeypatch.setenv("KUBEBUILDER_ASSETS", str(directory))
    return directory


def test_a_port_that_is_lost_is_tried_again_with_others(
    assets: Path, fake_program: FakeProgram, tmp_path: Path
) -> None:
    ports = tmp_path / "ports"
    fake_program(
        "kube-apiserver",
        f'for a in "$@"; do case $a in --secure-port=*) echo "$a" >> {ports};; esac; done\n'
        "echo 'listen tcp 127.0.0.1:6443: bind: address already in use'; exit 1",
    )

    with pytest.raises(
        ControlPlaneError, match="took the ports of the control plane 5 times in a row; run it again"
    ):
        ControlPlane.start(tmp_path / "c", Silent())

    assert len(set(ports.read_text().split())) > 1


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("echo 'write wal: no space left on device'; exit 2", "etcd ended with 2: no space left on device; free"),
        ("echo 'unknown flag: --x' >&2; exit 2", "etcd ended with 2: unknown flag: --x; start it again"),
    ],
)
def test_a_server_that_ends_is_named_and_nothing_is_left(
    assets: Path, fake_program: FakeProgram, tmp_path: Path, script: str, message: str
) -> None:
    fake_program("etcd", script)

    with pytest.raises(ControlPlaneError) as failure:
        ControlPlane.start(tmp_path / "c", Silent())

    assert str(failure.value).startswith(message)
    assert failure.value.log == tmp_path / "c" / "etcd.log"
    assert {path.suffix for path in (tmp_path / "c").iterdir()} == {".log"}


def test_all_that_listens_listens_on_loopback(tmp_path: Path) -> None:
    commands = servers.commands(
        Binaries(Path("e"), Path("a"), Path("m")), Layout(tmp_path), servers.Ports(1, 2, 3)
    )

    flags = [flag for command in commands.values() for flag in command]
    listening = [flag for flag in flags if flag.startswith(("--listen-", "--bind-address"))]
    assert listening == [
        "--listen-client-urls=https://127.0.0.1:1",
        "--listen-peer-urls=https://127.0.0.1:2",
        "--bind-address=127.0.0.1",
    ]
    assert "--secure-port=0" in commands["kube-controller-manager"]


def test_free_ports_are_different() -> None:
    ports = servers.Ports.free()
    assert len({ports.etcd, ports.etcd_peer, ports.apiserver}) == 3


@pytest.mark.parametrize(
    ("log", "lost"),
    [
        ("failed to listen on 127.0.0.1:6443: listen tcp 127.0.0.1:6443: bind: address already in use", True),
        ('{"level":"fatal","error":"listen tcp 127.0.0.1:2379: bind: address already in use"}', True),
        ("connection refused", False),
    ],
)
def test_a_lost_port_is_recognised(log: str, lost: bool) -> None:
    assert servers.lost_a_port(log) is lost
