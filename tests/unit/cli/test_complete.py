"""Completions for kubectl."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from compozy.cli.complete import FILES, NO_FILES, complete
from compozy.cli.kube.client import Client

pytestmark = pytest.mark.unit


@pytest.fixture(autouse=True)
def _names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = tmp_path / "config"
    config.write_text(
        "current-context: one\n"
        "clusters: [{name: c, cluster: {server: 'https://c'}}]\n"
        "contexts: [{name: one, context: {cluster: c}}]\n"
    )
    monkeypatch.setenv("KUBECONFIG", str(config))

    def fake_names(_self: Client, resource: Any, namespace: str | None, field_selector: str = "") -> list[str]:
        if resource.plural == "planruns" and field_selector:
            return [field_selector]
        return [f"{resource.plural}-{namespace}-1", f"{resource.plural}-{namespace}-2", "else"]

    monkeypatch.setattr(Client, "names", fake_names)


def values(*words: str) -> list[str]:
    return [line.split("\t")[0] for line in complete(words)[0]]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["req"], ["requests", "request"]),
        (["-n", "x", "req"], ["requests", "request"]),
        (["plan", "va"], ["validate"]),
        (["requests", "--sta"], ["--state"]),
        (["requests", "--state", "p"], ["pending"]),
        (["requests", "-o", ""], ["json", "yaml", "name", "wide"]),
        (["respond", "human"], ["humanrequests-default-1", "humanrequests-default-2"]),
        (["-n=x", "respond", "human"], ["humanrequests-x-1", "humanrequests-x-2"]),
        (["describe", "-n", "y", "e"], ["else"]),
        (["run", "plans"], ["plans-default-1", "plans-default-2"]),
        (["respond", "--context", "none", "x"], []),
        (["nonsense", "x"], []),
    ],
)
def test_words(words: list[str], expected: list[str]) -> None:
    assert values(*words) == expected


@pytest.mark.parametrize("command", ["cancel", "pause", "resume"])
def test_only_runs_that_go_on_are_offered(command: str) -> None:
    assert values(command, "") == ["status.phase!=Succeeded,status.phase!=Failed,status.phase!=Canceled"]


def test_only_runs_that_failed_are_tried_again() -> None:
    assert values("retry", "") == ["status.phase=Failed"]


def test_the_form_that_kubectl_reads() -> None:
    assert complete(["canc"]) == (["cancel\tCancel a run or a question."], NO_FILES)
    assert complete(["run", "-f", "x"]) == ([], FILES)
    assert complete(["runs", "--kubeconfig", ""]) == ([], FILES)
    assert complete([])[1] == NO_FILES
