"""Which control plane to take: the first that is there, and never somebody's cluster by accident."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

_DOCKER_SECONDS = 15.0


@dataclass(frozen=True)
class ExternalContext:
    """A cluster that exists, by the name of its kubeconfig context (``COMPOZY_CONTEXT``)."""

    name: str


@dataclass(frozen=True)
class Assets:
    """Server programs in a directory (``KUBEBUILDER_ASSETS``)."""

    directory: Path


@dataclass(frozen=True)
class Kind:
    """A cluster made by ``kind``: there is one on PATH and a Docker engine answers."""


@dataclass(frozen=True)
class Cache:
    """Server programs of the per-user cache, built when they are not there."""


Source = ExternalContext | Assets | Kind | Cache


def docker_answers() -> bool:
    """Whether a Docker engine answers (``docker info``)."""
    if shutil.which("docker") is None:
        return False
    try:
        asked = subprocess.run(
            ["docker", "info"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_DOCKER_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return asked.returncode == 0


def choose(
    environ: Mapping[str, str],
    *,
    has_kind: Callable[[], bool] = lambda: shutil.which("kind") is not None,
    has_docker: Callable[[], bool] = docker_answers,
) -> Source:
    """The first source that is there, in the documented order; the current context is never looked at."""
    if context := environ.get("COMPOZY_CONTEXT"):
        return ExternalContext(context)
    if assets := environ.get("KUBEBUILDER_ASSETS"):
        return Assets(Path(assets))
    if has_kind() and has_docker():
        return Kind()
    return Cache()
