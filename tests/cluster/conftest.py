"""One control plane for all tests that need a real API server."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from controlplane import ControlPlane, ControlPlaneError, Progress, prepare


def pytest_collection_finish(session: pytest.Session) -> None:
    """Build the servers, if need be, before the first test: it takes minutes, and tests have a time limit."""
    options = session.config.option
    if options.collectonly or not any(item.get_closest_marker("cluster") for item in session.items):
        return
    capture = session.config.pluginmanager.getplugin("capturemanager")
    assert capture is not None
    try:
        with capture.global_and_fixture_disabled():
            prepare(Progress())
    except ControlPlaneError as error:
        pytest.exit(str(error), returncode=pytest.ExitCode.INTERNAL_ERROR)


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    """A control plane that all tests share."""
    with ControlPlane.start(tmp_path_factory.mktemp("cluster")) as started:
        yield started
