"""What is told of a run while it is followed."""

from __future__ import annotations

import json
import os
from typing import Any

import pytest

from compozy.cli.feed import Picture
from compozy.cli.flags import Flags
from compozy.cli.progress import Progress
from compozy.cli.session import Session

from .conftest import Team

pytestmark = pytest.mark.unit

OK = {"status": "Succeeded"}


def picture(**status: Any) -> Picture:
    return Picture({"metadata": {"name": "rel", "namespace": "team"}, "spec": {}, "status": status})


def test_nodes_and_their_items_are_told_once_wherever_they_are_kept(
    team: Team, capsys: pytest.CaptureFixture[str]
) -> None:
    team.put("controllerrevisions", "page", data={"nodes": {"choose": {"status": "Running", "items": {"0": OK}}}})
    progress = Progress(Session(Flags(), {**os.environ, "COMPOZY_EVENTS": "jsonl"}))
    pages = [{"name": "page", "cells": 2}]
    progress.update(picture(pages=pages))
    items = {"1": {"status": "Failed", "reason": "ask_declined"}}
    for _ in range(2):
        progress.update(picture(pages=pages, nodes={"choose": {"items": items}, "a": OK}))
    told = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    assert told == [
        {"event": "node_changed", "node": "choose", "status": "Running"},
        {"event": "node_changed", "node": "choose", "status": "Succeeded", "item": 0},
        {"event": "node_changed", "node": "choose", "status": "Failed", "item": 1, "reason": "ask_declined"},
        {"event": "node_changed", "node": "a", "status": "Succeeded"},
    ]
    assert len(team.server.calls) == 1


def test_a_failure_that_the_plan_foresaw_is_no_success(
    team: Team, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    handled = {**OK, "reason": "tool_unavailable", "message": "there is no tool"}
    Progress(Session(Flags(), os.environ)).update(picture(nodes={"a": handled, "b": OK}))
    assert capsys.readouterr().err == "! a failed but handled (tool_unavailable)\n✓ b succeeded\n"


def test_nobody_who_reads_nothing_costs_nothing(team: Team, capsys: pytest.CaptureFixture[str]) -> None:
    Progress(Session(Flags(), os.environ)).update(picture(pages=[{"name": "page", "cells": 1}], nodes={"a": OK}))
    assert (capsys.readouterr().err, team.server.calls) == ("", [])
