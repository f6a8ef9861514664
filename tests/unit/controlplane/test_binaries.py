"""The cache of server programs, with a Go that writes a line instead of a program."""

from __future__ import annotations

import dataclasses
import fcntl
import io
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from controlplane import binaries
from controlplane.errors import ControlPlaneError
from controlplane.processes import ProcessRecord
from controlplane.progress import Progress, Silent

from .conftest import FakeProgram

pytestmark = pytest.mark.unit

TOOLS = Path(binaries.__file__).parents[1]

# Answers `go env GOVERSION`; `go build … -o FILE PACKAGE` notes that it ran and then does BUILD.
GO = """
if [ "$1" = env ]; then echo go1.99.0; exit; fi
while [ "$1" != -o ]; do shift; done
out=$2; echo "$3" >> "$CALLS"
"""


@pytest.fixture
def go(fake_program: FakeProgram, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A Go that builds; the file in which it lists the packages that it was asked to build."""
    calls = tmp_path / "calls"
    monkeypatch.setenv("CALLS", str(calls))
    fake_program("go", f'{GO} echo "program $3" > "$out"; chmod +x "$out"')
    return calls


def test_builds_each_program_once(go: Path, cache_home: Path) -> None:
    first = binaries.ensure_built(Silent())
    again = binaries.ensure_built(Silent())

    assert again == first
    assert go.read_text().split() == [program.package for program in binaries.PROGRAMS]
    for name, path in first.items():
        assert path.parent.parent == cache_home / "compozy" / "controlplane"
        assert path.name == name
        assert os.access(path, os.X_OK)


def test_builds_only_what_is_missing(go: Path, cache_home: Path) -> None:
    binaries.ensure_built(Silent())["etcd"].unlink()
    go.write_text("")

    binaries.ensure_built(Silent())

    assert go.read_text().split() == ["go.etcd.io/etcd/server/v3"]


def test_a_failed_build_leaves_no_program(fake_program: FakeProgram, go: Path, cache_home: Path) -> None:
    fake_program("go", f'{GO} echo half > "$out"; echo "write $out: no space left on device"; exit 1')

    with pytest.raises(ControlPlaneError, match="building etcd failed: no space left on device") as failure:
        binaries.ensure_built(Silent())

    log = failure.value.log
    assert log is not None
    assert "no space left" in log.read_text()
    assert {path.name for path in log.parent.iterdir()} == {"lock", log.name}


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL], ids=lambda n: n.name)
def test_an_interrupted_build_leaves_no_program_and_no_process(
    fake_program: FakeProgram, go: Path, cache_home: Path, tmp_path: Path, number: signal.Signals
) -> None:
    pid_file = tmp_path / "pid"
    fake_program(
        "go", f'{GO} echo half > "$out"; echo $$ > {pid_file}.new; mv {pid_file}.new {pid_file}; exec sleep 600'
    )
    command = [sys.executable, "-m", "controlplane", "build"]
    builder = subprocess.Popen(command, env={**os.environ, "PYTHONPATH": str(TOOLS)}, stderr=subprocess.PIPE)
    while not pid_file.exists():
        assert builder.poll() is None
        time.sleep(0.02)
    compiler = ProcessRecord.of(int(pid_file.read_text()))
    assert compiler is not None

    builder.send_signal(number)
    said = builder.communicate()[1].decode()

    assert builder.returncode == (-number if number == signal.SIGKILL else 130)
    assert number == signal.SIGKILL or said.splitlines()[-1].startswith("controlplane: interrupted")
    while compiler.is_running():  # after SIGKILL it is the kernel that ends it, in its own time
        time.sleep(0.02)
    assert not (binaries.cache_directory(os.environ) / "etcd").exists()

    fake_program("go", f'{GO} echo whole > "$out"')
    assert binaries.ensure_built(Silent())["etcd"].read_text() == "whole\n"


def test_the_second_builder_waits_and_says_so(go: Path, cache_home: Path) -> None:
    cache = binaries.cache_directory(os.environ)
    cache.mkdir(parents=True)
    said = io.StringIO()
    second = threading.Thread(target=binaries.ensure_built, args=(Progress(said),))
    with (cache / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        second.start()
        while "waiting for another build" not in said.getvalue():
            time.sleep(0.01)
        assert not go.exists()
    second.join()
    assert (cache / "etcd").exists()


def copied_modules(directory: Path) -> Path:
    return Path(shutil.copytree(binaries.MODULES, directory / "modules"))


@pytest.mark.parametrize("name", ["etcd/go.mod", "etcd/go.sum", "kubernetes/go.mod", "kubernetes/go.sum"])
def test_the_cache_key_follows_the_pinned_modules(tmp_path: Path, name: str) -> None:
    modules = copied_modules(tmp_path)
    before = binaries.cache_key(modules)
    assert before == binaries.cache_key()
    with (modules / name).open("a") as file:
        file.write("\n")
    assert binaries.cache_key(modules) != before


def test_the_cache_key_follows_the_flags(monkeypatch: pytest.MonkeyPatch) -> None:
    before = binaries.cache_key()
    etcd, *rest = binaries.PROGRAMS
    monkeypatch.setattr(binaries, "PROGRAMS", (dataclasses.replace(etcd, ldflags="-s"), *rest))
    assert binaries.cache_key() != before


def test_the_version_that_is_stamped_is_the_version_that_is_pinned() -> None:
    go_mod = (binaries.MODULES / "kubernetes" / "go.mod").read_text()
    assert f"require k8s.io/kubernetes {binaries.KUBERNETES_VERSION}\n" in go_mod


def test_the_cache_is_below_home_unless_told_otherwise(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert binaries.cache_directory({}).is_relative_to(tmp_path / ".cache")
    assert binaries.cache_directory({"XDG_CACHE_HOME": "/elsewhere"}).is_relative_to("/elsewhere")


def programs_in(directory: Path, *names: str) -> Path:
    directory.mkdir()
    for name in names:
        (directory / name).touch(mode=0o755)
    return directory


def test_assets_are_taken_as_they_are(tmp_path: Path) -> None:
    assets = programs_in(tmp_path / "assets", "etcd", "kube-apiserver", "kube-controller-manager")
    assert binaries.binaries_in(assets, Silent()).controller_manager == assets / "kube-controller-manager"


def test_assets_without_controller_manager_get_ours(tmp_path: Path, go: Path, cache_home: Path) -> None:
    assets = programs_in(tmp_path / "assets", "etcd", "kube-apiserver")

    found = binaries.binaries_in(assets, Silent())

    assert found.apiserver == assets / "kube-apiserver"
    assert found.controller_manager.is_relative_to(cache_home)
    assert go.read_text().split() == ["k8s.io/kubernetes/cmd/kube-controller-manager"]


def test_assets_without_apiserver_are_refused(tmp_path: Path) -> None:
    assets = programs_in(tmp_path / "assets", "etcd")
    with pytest.raises(ControlPlaneError, match="has no kube-apiserver; point it at"):
        binaries.binaries_in(assets, Silent())
