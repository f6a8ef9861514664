"""Holding a run, letting it go on, and trying it again."""

from __future__ import annotations

import json
from typing import Any

import pytest

from compozy.cli.main import run

from .conftest import Team

pytestmark = pytest.mark.unit


def a_run(team: Team, phase: str | None = "Running", generation: int | None = 1, **spec: Any) -> dict[str, Any]:
    status = {"phase": phase, "generation": generation}
    told = {key: value for key, value in status.items() if value is not None}
    return team.put("planruns", "rel", spec={"planRef": {"name": "p"}, **spec}, status=told)


def told(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = run(arguments)
    printed = capsys.readouterr()
    return code, printed.out.strip(), printed.err.strip()


def told_json(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, Any]:
    code, out, _ = told(capsys, *arguments, "-o", "json")
    return code, json.loads(out)


@pytest.mark.parametrize("name", ["rel", "planrun/rel"])
@pytest.mark.parametrize(("command", "paused"), [("pause", True), ("resume", False)])
class TestHolding:
    def test_changes_the_spec_once(
        self, team: Team, capsys: pytest.CaptureFixture[str], command: str, paused: bool, name: str
    ) -> None:
        a_run(team, paused=not paused)
        assert told(capsys, command, name) == (0, f"planrun/rel {command}d", "")
        assert told(capsys, command, name) == (0, f"planrun/rel {command}d", "")
        assert team.patches == [("rel", {"spec": {"paused": paused}})]

    def test_for_programs(
        self, team: Team, capsys: pytest.CaptureFixture[str], command: str, paused: bool, name: str
    ) -> None:
        a_run(team, phase=None)
        expected = {"ok": True, "run": "rel", "paused": paused, "phase": "Pending"}
        assert told_json(capsys, command, name) == (0, expected)

    @pytest.mark.parametrize(
        ("phase", "instead"), [("Succeeded", "another run"), ("Failed", "retry"), ("Canceled", "another run")]
    )
    def test_is_refused_once_the_run_has_ended(
        self,
        team: Team,
        capsys: pytest.CaptureFixture[str],
        command: str,
        paused: bool,
        name: str,
        phase: str,
        instead: str,
    ) -> None:
        a_run(team, phase=phase, paused=paused)
        code, answer = told_json(capsys, command, name)
        assert (code, answer["code"], team.patches) == (65, "run_ended", [])
        assert instead in answer["message"]

    def test_there_must_be_a_run(
        self, team: Team, capsys: pytest.CaptureFixture[str], command: str, paused: bool, name: str
    ) -> None:
        code, answer = told_json(capsys, command, name)
        assert (code, answer["code"]) == (69, "run_not_found")


class TestRetry:
    def test_names_the_attempt_that_has_failed(self, team: Team, capsys: pytest.CaptureFixture[str]) -> None:
        a_run(team, "Failed", 3, retries=2)
        assert told(capsys, "retry", "rel") == (
            0,
            "planrun/rel retry requested",
            "The operator has not taken it up yet.",
        )
        assert team.patches == [("rel", {"spec": {"retries": 3}})]

    def test_again_changes_nothing(self, team: Team, capsys: pytest.CaptureFixture[str]) -> None:
        a_run(team, "Failed", 1, retries=1)
        expected = {"ok": True, "run": "rel", "phase": "Failed", "generation": 1}
        assert told_json(capsys, "retry", "rel") == (0, expected)
        assert team.patches == []

    def test_tells_of_the_new_attempt(self, team: Team, capsys: pytest.CaptureFixture[str]) -> None:
        a_run(team, "Failed", 1)
        team.on_patch = lambda item: item["status"].update(phase="Running", generation=2)
        assert told(capsys, "retry", "rel") == (0, "planrun/rel retried: attempt 2", "")
        expected = {"ok": True, "run": "rel", "phase": "Running", "generation": 2}
        assert told_json(capsys, "retry", "rel") == (0, expected)
        assert len(team.patches) == 1

    @pytest.mark.parametrize(
        ("phase", "generation", "code", "instead"),
        [
            (None, None, "run_not_ended", "Wait for its end"),
            ("Running", 1, "run_not_ended", "Wait for its end"),
            ("Running", 2, "run_not_ended", "Wait for its end"),
            ("Succeeded", 1, "run_succeeded", "start another run"),
            ("Canceled", 1, "run_canceled", "start another run"),
        ],
    )
    def test_what_has_not_failed_is_not_tried_again(
        self,
        team: Team,
        capsys: pytest.CaptureFixture[str],
        phase: str | None,
        generation: int | None,
        code: str,
        instead: str,
    ) -> None:
        a_run(team, phase, generation)
        exit_code, answer = told_json(capsys, "retry", "rel")
        assert (exit_code, answer["code"], team.patches) == (65, code, [])
        assert instead in answer["message"]

    def test_there_must_be_a_run(self, team: Team, capsys: pytest.CaptureFixture[str]) -> None:
        code, answer = told_json(capsys, "retry", "nobody")
        assert (code, answer["code"]) == (69, "run_not_found")
