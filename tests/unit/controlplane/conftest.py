"""Programs that only pretend: small shell scripts, alone on PATH with the system's own."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

FakeProgram = Callable[[str, str], Path]

SOURCES = ("COMPOZY_CONTEXT", "KUBEBUILDER_ASSETS", "KUBECONFIG")


@pytest.fixture
def fake_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeProgram:
    """Put a shell script on PATH; the PATH holds no other Go, kind or Docker."""
    directory = tmp_path / "bin"
    directory.mkdir()
    monkeypatch.setenv("PATH", os.pathsep.join((str(directory), "/usr/bin", "/bin")))
    for name in SOURCES:
        monkeypatch.delenv(name, raising=False)

    def write(name: str, script: str) -> Path:
        path = directory / name
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)
        return path

    return write


@pytest.fixture
def cache_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty XDG_CACHE_HOME."""
    home = tmp_path / "cache"
    monkeypatch.setenv("XDG_CACHE_HOME", str(home))
    return home
