"""A control plane with the operator at work, and a namespace for each test: fixtures of several folders."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from controlplane import ControlPlane, ControlPlaneError, Progress, prepare
from localcluster.background import operator_of
from localcluster.operator import OperatorProcess
from support.apiserver import Api, install
from support.reviews import switched_off
from support.stage import Stage, eventually

_numbers = itertools.count(1)
OWN_SECRET = "own-plain-looking-value"
"""What the operator of the suite has in its environment under the name of a secret."""
AGENTS = ("rita", "release-reviewer")


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
def operated() -> Iterator[Api]:
    """A control plane with everything of ours installed."""
    with ControlPlane.start() as plane:
        yield install(plane)


@pytest.fixture(scope="session")
def operator_log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the operators of the suite write."""
    return tmp_path_factory.mktemp("operator") / "operator.log"


@pytest.fixture(scope="session")
def shared_operator(operated: Api, operator_log: Path) -> Iterator[OperatorProcess]:
    """The one operator of the suite; a test that kills it may have left it so."""
    with operator_of(operated.cluster, operator_log, TESTS_PASSWORD=OWN_SECRET) as process:
        yield process


@pytest.fixture
def operator(shared_operator: OperatorProcess) -> Iterator[OperatorProcess]:
    """The operator, running. A test that kills it gets it started again for the next."""
    if shared_operator.process is None:
        shared_operator.start()
    yield shared_operator
    if shared_operator.process is None:
        shared_operator.start()


@pytest.fixture
def without_webhook(operator: OperatorProcess, operated: Api) -> Iterator[None]:
    """The API server does not know of the webhook: an answer is judged once it is stored."""
    with switched_off(operated):
        yield


@pytest.fixture(scope="session")
def make_namespace(operated: Api) -> Callable[..., Stage]:
    """Make a namespace with its people and agents."""

    def make(**annotations: str) -> Stage:
        name = f"stage-{next(_numbers)}"
        admin = operated.admin(name)
        metadata = {"name": name, "annotations": annotations}
        admin.call("POST", "/api/v1/namespaces", {"metadata": metadata}).object()
        for role, group in (("compozy-responder", "responders"), ("compozy-edit", "authors")):
            bound = admin.kubectl("create", "rolebinding", role, f"--clusterrole={role}", f"--group={group}")
            assert bound.returncode == 0, bound.stderr
        for agent in AGENTS:
            manifest = {"apiVersion": "compozy.dev/v1alpha1", "kind": "Agent", "metadata": {"name": agent}}
            admin.create("agents", manifest).object()
        stage = Stage(operated, name)
        eventually(lambda: stage.person.call("GET", stage.person.path("humanrequests")).ok, "RBAC is in force")
        return stage

    return make


@pytest.fixture
def stage(operator: OperatorProcess, make_namespace: Callable[..., Stage]) -> Stage:
    """A namespace with the operator at work in it."""
    return make_namespace()
