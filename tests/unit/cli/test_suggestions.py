"""Completions of fields, values, decisions and places: what a question or a plan lets one write."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from compozy.cli.complete import GOES_ON, NO_FILES, complete

pytestmark = pytest.mark.unit

EXPECT = {
    "type": "object",
    "required": ["environment", "assignment"],
    "properties": {
        "environment": {"type": "string", "enum": ["staging", "production"], "description": "Where"},
        "channel": {"oneOf": [{"const": "s", "title": "Stable"}, {"const": "b", "title": "Beta"}]},
        "really": {"type": "boolean"},
        "count": {"type": "integer"},
        "assignment": {
            "type": "object",
            "required": ["reviewer"],
            "properties": {
                "reviewer": {"type": "string", "x-compozy-kind": "agent"},
                "skill": {"type": "string", "x-compozy-kind": "skill"},
                "plan": {"type": "string", "x-compozy-kind": "loop"},
                "where": {"type": "string", "x-compozy-kind": "workspace"},
            },
        },
    },
}
PLACE = {"run": "rel-1", "node": "choose", "generation": 2, "kind": "Ask", "prompt": "Where\nto?"}


@pytest.fixture
def _cluster(team: Any) -> None:
    team.put(
        "humanrequests", "q1", spec={**PLACE, "decisions": ["respond", "decline", "unavailable"], "expect": EXPECT}
    )
    review = {"editSchema": {"properties": {"tag": {"type": "string"}}}, "respondSchema": {"url": "string"}}
    decisions = ["approve", "edit", "reject", "respond"]
    team.put(
        "humanrequests",
        "q2",
        spec={**PLACE, "node": "ship", "item": 3, "kind": "Review", "decisions": decisions, **review},
    )
    for name in ("rita", "rob", "sue"):
        team.put("agents", name)
    team.put(
        "catalogentries", "s-1", spec={"kind": "skill", "name": "sql tuning", "description": "Makes it\tfast"}
    )
    team.put("catalogentries", "w-1", spec={"kind": "worktree"})
    inputs = {
        "release": {"type": "string", "required": True, "description": "What to ship"},
        "channel": {"type": "string", "enum": ["stable", "beta"]},
        "by": {"type": "agent"},
    }
    graph = {
        "nodes": [{"id": "a", "class": "action", "kind": "transform", "params": {"map": {"x": {"value": 1}}}}]
    }
    team.put("plans", "ship", spec={"inputs": inputs, "graph": graph})


def values(*words: str) -> list[str]:
    return [line.split("\t")[0] for line in complete(words)[0]]


@pytest.mark.usefixtures("_cluster")
@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["respond", "q1", "--set", "env"], ["environment="]),
        (
            ["respond", "q1", "--set", "as"],
            [f"assignment.{name}=" for name in ("reviewer", "skill", "plan", "where")],
        ),
        (["respond", "q1", "--set", "environment="], ["environment=staging", "environment=production"]),
        (["respond", "q1", "--set", "environment=p"], ["environment=production"]),
        (["respond", "q1", "--set", "channel="], ["channel=s", "channel=b"]),
        (["respond", "q1", "--set", "really="], ["really=true", "really=false"]),
        (["respond", "q1", "--set", "count="], []),
        (["respond", "q1", "--set", "nothing="], []),
        (
            ["respond", "q1", "--set", "assignment.reviewer=r"],
            ["assignment.reviewer=rita", "assignment.reviewer=rob"],
        ),
        (["respond", "q1", "--set", "assignment.skill="], ["assignment.skill=sql tuning"]),
        (["respond", "q1", "--set", "assignment.plan="], ["assignment.plan=ship"]),
        (["respond", "q1", "--set", "count=1", "--set", "c"], ["channel="]),
        (
            ["respond", "--run", "rel-1", "--node", "choose", "--generation", "2", "--set", "really=t"],
            ["really=true"],
        ),
        (["respond", "q2", "--decision", "edit", "--set", ""], ["tag="]),
        (["respond", "q2", "--decision", "respond", "--set", ""], ["url="]),
        (["respond", "q1", "--decision", ""], ["respond", "decline"]),
        (["respond", "q2", "--decision", "re"], ["reject", "respond"]),
        (["respond", "--run", ""], ["rel-1"]),
        (["respond", "--run", "rel-1", "--node", ""], ["choose", "ship"]),
        (["request", "--run", "other", "--node", ""], []),
        (["respond", "--run", "rel-1", "--node", "ship", "--generation", ""], ["2"]),
        (["respond", "--run", "rel-1", "--node", "ship", "--generation", "2", "--item", ""], ["3"]),
        (["respond", "nothing", "--set", ""], []),
        (["cancel", "--request", "q"], ["q1", "q2"]),
        (["run", "ship", "--input", ""], ["release=", "channel=", "by="]),
        (["run", "ship", "--input", "channel="], ["channel=stable", "channel=beta"]),
        (["run", "ship", "--input", "by=s"], ["by=sue"]),
        (["run", "ship", "--input", "release=1", "--input", "re"], []),
        (["run", "nothing", "--input", ""], []),
    ],
)
def test_words(words: list[str], expected: list[str]) -> None:
    assert values(*words) == expected


@pytest.mark.usefixtures("_cluster")
def test_a_name_goes_on_and_a_value_ends_a_word() -> None:
    assert complete(["respond", "q1", "--set", "env"]) == (["environment=\tWhere"], GOES_ON)
    assert complete(["respond", "q1", "--set", "channel=s"]) == (["channel=s\tStable"], NO_FILES)
    assert complete(["respond", "q1", "--set", "count=1"]) == ([], NO_FILES)


@pytest.mark.usefixtures("_cluster")
def test_what_people_wrote_is_one_line_and_one_column() -> None:
    lines, _ = complete(["respond", "q1", "--set", "assignment.skill="])
    assert lines == ["assignment.skill=sql tuning\tMakes it\\tfast"]


def test_inputs_of_a_file_need_no_cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "none"))
    plan = tmp_path / "plan.yaml"
    plan.write_text(
        "identifier: x\nname: X\ndescription: x\n"
        "input_schema: { type: object, properties: { channel: { enum: [a, b] }, by: { type: string } } }\n"
        "steps: [{ id: E0, tool_name: exit, input: { status: success } }]\n"
    )
    assert values("run", "-f", str(plan), "--input", "") == ["channel=", "by="]
    assert values("run", "-f", str(plan), "--input", "channel=") == ["channel=a", "channel=b"]


@pytest.mark.usefixtures("_cluster")
def test_what_may_not_be_read_is_not_completed(team: Any) -> None:
    team.forbidden = {"agents"}
    assert values("respond", "q1", "--set", "assignment.reviewer=") == []
    assert values("respond", "q1", "--set", "environment=s") == ["environment=staging"]
