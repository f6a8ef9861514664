"""`graph`: what it draws, in which form, and what it says where it cannot."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from compozy.cli.complete import complete
from compozy.cli.main import run

from .conftest import Team

pytestmark = pytest.mark.unit

STEPS = {"steps": [{"id": "E0", "tool_name": "ask", "input": {"prompt": "Which?"}}]}


def told(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = run(["graph", *arguments])
    printed = capsys.readouterr()
    return code, printed.out, printed.err


def failure(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    code, out, _ = told(capsys, *arguments, "-o", "json")
    return code, json.loads(out)["code"]


@pytest.fixture
def both(team: Team) -> Team:
    team.put("plans", "rel", spec=STEPS)
    team.put("planruns", "rel", spec={"plan": STEPS}, status={"phase": "Running", "nodes": {}})
    team.put("humanrequests", "q", spec={"run": "rel", "node": "E0"}, status={"state": "Pending"})
    team.put("humanrequests", "other", spec={"run": "else", "node": "E0"}, status={"state": "Pending"})
    return team


def is_run(out: str) -> bool:
    return ":::waiting" in out


class TestWhatANameMeans:
    @pytest.mark.parametrize(("name", "a_run"), [("run/rel", True), ("planrun/rel", True), ("plan/rel", False)])
    def test_said(self, both: Team, capsys: pytest.CaptureFixture[str], name: str, a_run: bool) -> None:
        code, out, err = told(capsys, name)
        assert (code, is_run(out), err) == (0, a_run, "")

    def test_the_run_first_and_that_is_said(self, both: Team, capsys: pytest.CaptureFixture[str]) -> None:
        code, out, err = told(capsys, "rel")
        assert (code, is_run(out)) == (0, True)
        assert err == "This is the run. There is a Plan of that name too: plan/rel\n"

    @pytest.mark.parametrize(("left", "a_run"), [("planruns", True), ("plans", False)])
    def test_the_only_one(self, both: Team, capsys: pytest.CaptureFixture[str], left: str, a_run: bool) -> None:
        del both.objects["plans" if left == "planruns" else "planruns", "rel"]
        code, out, err = told(capsys, "rel")
        assert (code, is_run(out), err) == (0, a_run, "")

    def test_one_that_may_be_read(self, both: Team, capsys: pytest.CaptureFixture[str]) -> None:
        both.forbidden.add("planruns")
        code, out, _ = told(capsys, "rel")
        assert (code, is_run(out)) == (0, False)
        both.forbidden.add("plans")
        assert failure(capsys, "rel") == (77, "not_permitted")

    @pytest.mark.parametrize(
        ("name", "code"),
        [("none", "not_found"), ("run/none", "run_not_found"), ("plan/none", "plan_not_found")],
    )
    def test_none(self, both: Team, capsys: pytest.CaptureFixture[str], name: str, code: str) -> None:
        assert failure(capsys, name) == (69, code)

    def test_nothing_else_is_a_name(self, both: Team, capsys: pytest.CaptureFixture[str]) -> None:
        assert failure(capsys, "agent/x") == (65, "bad_input")
        for arguments in ((), ("rel", "-f", "x")):
            assert told(capsys, *arguments)[0] == 2

    def test_both_kinds_are_completed(self, team: Team) -> None:
        team.put("planruns", "rel-1", spec={})
        team.put("plans", "rel", spec={})
        assert complete(["graph", "re"])[0] == ["rel-1", "rel"]


def test_a_run_is_drawn_by_the_plan_that_it_began_with(team: Team, capsys: pytest.CaptureFixture[str]) -> None:
    frozen = {"graph": {"nodes": [{"id": "old", "kind": "ask"}, {"id": "new", "kind": "ask"}]}}
    team.put("controllerrevisions", "p-1", data={"spec": frozen})
    team.put("controllerrevisions", "page", data={"nodes": {"old": {"status": "Succeeded"}}})
    status = {"phase": "Running", "revision": "p-1", "pages": [{"name": "page", "cells": 1}]}
    team.put("planruns", "rel", spec={"planRef": {"name": "p"}}, status=status)
    code, out, _ = told(capsys, "run/rel", "-o", "json")
    found = {node["id"]: node["status"] for node in json.loads(out)["nodes"]}
    assert (code, found) == (0, {"old": "Succeeded", "new": "Pending"})
    del team.objects["controllerrevisions", "p-1"]
    assert failure(capsys, "run/rel") == (69, "plan_not_found")


def test_a_plan_with_problems_is_drawn_and_that_is_said(team: Team, capsys: pytest.CaptureFixture[str]) -> None:
    team.put("plans", "rel", spec=STEPS, status={"problems": [{"path": "x", "code": "c", "message": "m"}]})
    code, out, err = told(capsys, "rel")
    assert (code, "E0" in out) == (0, True)
    assert "The plan has 1 problem" in err
    assert err.endswith("See: kubectl compozy plan show rel -n team\n")


class TestAFile:
    def test_needs_no_cluster(self, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: Any) -> None:
        monkeypatch.setenv("KUBECONFIG", str(tmp_path / "none"))
        file = tmp_path / "rel.yaml"
        file.write_text(
            "steps: [{id: E0, tool_name: ask, input: {prompt: 'Which?', output_schema: {type: object, "
            "properties: {a: {type: string}}}}}]\n"
        )
        code, out, err = told(capsys, "-f", str(file))
        assert (code, out.startswith("flowchart TD\n"), err) == (0, True, "")

    def test_with_problems_is_drawn(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        file = tmp_path / "rel.yaml"
        file.write_text("steps: [{id: E0, tool_name: ask}]\n")
        code, out, err = told(capsys, "-f", str(file), "-o", "dot")
        assert (code, out.startswith('digraph "rel" {')) == (0, True)
        assert f"kubectl compozy plan validate {file}" in err

    def test_that_is_no_plan_is_not(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        file = tmp_path / "rel.yaml"
        file.write_text("[")
        assert failure(capsys, "-f", str(file)) == (1, "plan_invalid")


class TestGraphviz:
    def test_is_missing(self, both: Team, capsys: pytest.CaptureFixture[str], monkeypatch: Any) -> None:
        monkeypatch.setenv("PATH", "")
        code, out, err = told(capsys, "plan/rel", "-o", "svg")
        assert (code, out) == (69, "")
        assert "install graphviz" in err
        assert "[graphviz_missing]" in err

    @pytest.mark.parametrize(
        ("script", "code"), [("cat >/dev/null; echo '<svg/>'", 0), ("echo broken >&2; exit 3", 69)]
    )
    def test_is_asked_for_a_picture(
        self,
        both: Team,
        capsys: pytest.CaptureFixture[str],
        monkeypatch: Any,
        tmp_path: Path,
        script: str,
        code: int,
    ) -> None:
        program = tmp_path / "dot"
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)
        monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
        exit_code, out, err = told(capsys, "plan/rel", "-o", "svg")
        assert exit_code == code
        assert out.strip() == ("<svg/>" if code == 0 else "")
        assert ("dot could not draw it: broken" in err) is (code != 0)


def test_too_much_for_viewers_of_mermaid_is_said(team: Team, capsys: pytest.CaptureFixture[str]) -> None:
    steps = [{"id": f"E{number}", "tool_name": "s__t"} for number in range(502)]
    team.put("plans", "long", spec={"steps": steps})
    assert "More than 500 edges" in told(capsys, "long")[2]
    assert told(capsys, "long", "-o", "dot")[2] == ""
