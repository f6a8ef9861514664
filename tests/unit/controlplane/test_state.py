from __future__ import annotations

from pathlib import Path

import pytest

from controlplane.cluster import ControlPlane
from controlplane.errors import ControlPlaneError
from controlplane.processes import ProcessRecord
from controlplane.state import Layout, State

pytestmark = pytest.mark.unit

STATE = State("binaries", "https://127.0.0.1:6443", processes={"etcd": ProcessRecord(7, "boot/12")})


def test_what_was_written_is_read(tmp_path: Path) -> None:
    STATE.write(tmp_path / "state.json")
    assert State.read(tmp_path / "state.json") == STATE
    assert [path.name for path in tmp_path.iterdir()] == ["state.json"]


def test_no_file_is_no_control_plane(tmp_path: Path) -> None:
    assert State.read(tmp_path / "state.json") is None
    assert ControlPlane.attach(tmp_path) is None


@pytest.mark.parametrize(
    "content", ["{", "[]", "{}", '{"processes": {"etcd": 7}}', '{"processes": {}, "surprise": 1}']
)
def test_a_damaged_file_is_named(tmp_path: Path, content: str) -> None:
    (tmp_path / "state.json").write_text(content)
    with pytest.raises(ControlPlaneError, match=r"state\.json is not a state file.*remove"):
        ControlPlane.attach(tmp_path)


def test_clearing_keeps_the_logs(tmp_path: Path) -> None:
    layout = Layout(tmp_path / "cluster")
    layout.create()
    for path in (layout.kubeconfig, layout.state, layout.log("etcd"), layout.pki / "ca.key"):
        path.touch()

    layout.clear()

    assert [path.name for path in layout.directory.iterdir()] == ["etcd.log"]
