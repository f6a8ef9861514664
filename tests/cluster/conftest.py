"""One control plane for all tests that need a real API server."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from controlplane import ControlPlane


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    """A control plane that all tests share."""
    with ControlPlane.start(tmp_path_factory.mktemp("cluster")) as started:
        yield started
