"""What a run keeps in ControllerRevisions is put where it belongs."""

from __future__ import annotations

from typing import Any

import pytest

from compozy.cli.flags import Flags
from compozy.cli.session import Session
from compozy.cli.stored import Stored
from compozy.engine.nodes import merged

from .conftest import Team

pytestmark = pytest.mark.unit

OK = {"status": "Succeeded"}
WAITING = {"status": "Waiting"}


def test_later_pages_win_node_by_node_and_item_by_item() -> None:
    first = {"choose": {"status": "Running", "until": "t", "items": {"0": WAITING, "1": WAITING}}, "a": OK}
    second = {"choose": {"status": "Succeeded", "items": {"1": OK}}, "b": OK}
    third = {"choose": {"status": "Failed"}}
    assert merged([first, second, third]) == {
        "choose": {"status": "Failed", "items": {"0": WAITING, "1": OK}},
        "a": OK,
        "b": OK,
    }
    assert first["choose"] == {"status": "Running", "until": "t", "items": {"0": WAITING, "1": WAITING}}


def test_a_page_of_lanes_alone_leaves_what_is_told_of_their_node() -> None:
    lanes = {"choose": {"items": {"1": OK}}}
    told = {"choose": {"status": "Running", "until": "t", "items": {"0": OK, "1": OK}}}
    assert merged([{"choose": {"status": "Running", "until": "t", "items": {"0": OK}}}, lanes]) == told


def a_run(**status: Any) -> dict[str, Any]:
    return {"metadata": {"name": "rel", "namespace": "team"}, "spec": {"planRef": {"name": "p"}}, "status": status}


@pytest.fixture
def stored(team: Team) -> Stored:
    team.put(
        "controllerrevisions", "page-0", data={"nodes": {"a": OK, "c": {**OK, "items": {"0": OK, "1": WAITING}}}}
    )
    team.put(
        "controllerrevisions", "page-1", data={"nodes": {"a": {**OK, "outputRef": {"name": "long", "bytes": 9}}}}
    )
    team.put("controllerrevisions", "long", data={"output": {"much": [None]}})
    return Stored(Session(Flags()))


PAGES = [{"name": "page-0", "cells": 3}, {"name": "page-1", "cells": 1}]
LONG = {"name": "long", "bytes": 9}


def test_nodes_are_put_together_and_outputs_into_their_places(team: Team, stored: Stored) -> None:
    items = {"1": {**OK, "outputRef": LONG}}
    run = a_run(pages=PAGES, nodes={"c": {"status": "Running", "items": items}})
    found = stored.full_nodes(run)
    assert found == {
        "a": {**OK, "outputRef": LONG, "output": {"much": [None]}},
        "c": {
            "status": "Running",
            "items": {"0": OK, "1": {**OK, "outputRef": LONG, "output": {"much": [None]}}},
        },
    }
    assert "output" not in run["status"]["nodes"]["c"]["items"]["1"]
    read = len(team.server.calls)
    assert read == 3
    assert stored.full_nodes(run) == found
    assert len(team.server.calls) == read


def test_without_outputs_none_is_read(team: Team, stored: Stored) -> None:
    nodes = stored.full_nodes(a_run(nodes={"a": {**OK, "outputRef": LONG}}), outputs=False)
    assert nodes == {"a": {**OK, "outputRef": LONG}}
    assert team.server.calls == []


def test_a_run_that_is_whole_asks_for_nothing(team: Team, stored: Stored) -> None:
    for run in (a_run(nodes={"a": OK}, output=[1]), a_run(), {"metadata": {}, "spec": {}}):
        assert stored.whole(run) == run
    assert team.server.calls == []


def test_the_output_of_a_run_is_put_into_its_place(stored: Stored) -> None:
    whole = stored.whole(a_run(outputRef=LONG, pages=PAGES[:1]))
    assert whole["status"]["output"] == {"much": [None]}
    assert set(whole["status"]["nodes"]) == {"a", "c"}


@pytest.mark.parametrize("forbidden", [set(), {"controllerrevisions"}])
def test_what_is_missing_is_said_in_one_line_once(
    team: Team, stored: Stored, capsys: pytest.CaptureFixture[str], forbidden: set[str]
) -> None:
    team.forbidden |= forbidden
    gone = [{"name": f"gone-{number}", "cells": 1} for number in range(5)]
    run = a_run(pages=gone, nodes={"b": OK}, outputRef={"name": "gone-9", "bytes": 1})
    for _ in range(2):
        assert stored.whole(run)["status"]["nodes"] == {"b": OK}
    assert capsys.readouterr().err == (
        "Left out: these ControllerRevisions cannot be read: gone-0, gone-1, gone-2 and 3 more.\n"
    )


SPEC = {"steps": [{"id": "E0"}]}
OTHER = {"steps": [{"id": "E9"}]}


class TestThePlanOfARun:
    def test_written_in_the_run(self, stored: Stored) -> None:
        assert stored.plan_of({"metadata": {"namespace": "team"}, "spec": {"plan": SPEC}}) == SPEC

    def test_as_it_was_frozen(self, team: Team, stored: Stored) -> None:
        team.put("controllerrevisions", "p-1", data={"spec": SPEC, "plans": {}})
        team.put("plans", "p", spec=OTHER, status={"revision": "p-2"})
        assert stored.plan_of(a_run(revision="p-1")) == SPEC

    @pytest.mark.parametrize(("revision", "found"), [("p-1", SPEC), ("p-2", None), (None, SPEC)])
    def test_else_as_it_is_now_where_it_is_the_same(
        self, team: Team, stored: Stored, capsys: pytest.CaptureFixture[str], revision: str | None, found: Any
    ) -> None:
        team.forbidden.add("controllerrevisions")
        team.put("plans", "p", spec=SPEC, status={"revision": "p-1"})
        assert stored.plan_of(a_run(**({"revision": revision} if revision else {}))) == found
        assert capsys.readouterr().err == ""

    def test_of_a_plan_that_is_gone_nothing_is_known(self, stored: Stored) -> None:
        assert stored.plan_of(a_run()) is None
