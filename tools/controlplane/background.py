"""``up``, ``down`` and ``status``: a control plane that outlives the command that starts it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from controlplane.cluster import ControlPlane
from controlplane.errors import ControlPlaneError, disk_errors_explained
from controlplane.locking import exclusively
from controlplane.progress import Progress
from controlplane.state import Layout


def up(directory: Path, progress: Progress) -> ControlPlane:
    """Start a control plane in the background, or find the one that is up. Raises `ControlPlaneError`."""
    with _alone(directory, progress):
        existing = ControlPlane.attach(directory)
        if existing is not None:
            _refuse_another_context(existing)
            if existing.is_healthy():
                progress.note(f"the control plane in {directory} is already up")
                return existing
            progress.note(f"the control plane in {directory} does not answer: starting it again")
            existing.stop()
        cluster = ControlPlane.start(directory, progress)
        cluster.detach()
        return cluster


def down(directory: Path, progress: Progress) -> None:
    """Stop the control plane of a directory, if there is one; returns when none of its processes runs."""
    if not directory.exists():
        progress.note(f"nothing is up in {directory}")
        return
    with _alone(directory, progress):
        cluster = ControlPlane.attach(directory)
        if cluster is None:
            progress.note(f"nothing is up in {directory}")
            return
        with progress.step("stopping the control plane"):
            cluster.stop()


@contextmanager
def _alone(directory: Path, progress: Progress) -> Iterator[None]:
    with disk_errors_explained(directory):
        directory.mkdir(parents=True, exist_ok=True)
        with exclusively(Layout(directory).lock, progress, f"waiting for another command on {directory}"):
            yield


def _refuse_another_context(existing: ControlPlane) -> None:
    """Never let a directory that holds one cluster pass for the one that was asked for by name."""
    asked = os.environ.get("COMPOZY_CONTEXT", "")
    held = existing.state.name if existing.state.source == "context" else ""
    if asked != held:
        raise ControlPlaneError(
            f"{existing.directory} holds {f'context {held}' if held else 'a control plane of its own'}, "
            f"but COMPOZY_CONTEXT is {asked or 'not set'}",
            hint=f"run `python -m controlplane down --dir {existing.directory}` first",
        )
