"""Which control plane is taken."""

from __future__ import annotations

from pathlib import Path

import pytest

from controlplane.source import Assets, Cache, ExternalContext, Kind, Source, choose, docker_answers

from .conftest import FakeProgram

pytestmark = pytest.mark.unit

CONTEXT = {"COMPOZY_CONTEXT": "staging"}
ASSETS = {"KUBEBUILDER_ASSETS": "/assets"}


@pytest.mark.parametrize(
    ("environ", "kind", "docker", "expected"),
    [
        (CONTEXT | ASSETS, True, True, ExternalContext("staging")),
        (ASSETS, True, True, Assets(Path("/assets"))),
        ({}, True, True, Kind()),
        ({}, True, False, Cache()),
        ({}, False, True, Cache()),
        ({"COMPOZY_CONTEXT": "", "KUBEBUILDER_ASSETS": ""}, False, False, Cache()),
        ({"KUBECONFIG": "/home/somebody/.kube/config"}, False, False, Cache()),
    ],
)
def test_the_first_that_is_there(environ: dict[str, str], kind: bool, docker: bool, expected: Source) -> None:
    assert choose(environ, has_kind=lambda: kind, has_docker=lambda: docker) == expected


@pytest.mark.parametrize(("script", "answers"), [("exit 0", True), ("echo no daemon >&2; exit 1", False)])
def test_docker_counts_only_when_its_engine_answers(fake_program: FakeProgram, script: str, answers: bool) -> None:
    fake_program("docker", script)
    assert docker_answers() is answers


def test_without_docker_nothing_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert docker_answers() is False
