"""What `kubectl compozy requests` asks the API server for, and what it makes of the answers."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import unquote

import pytest

from compozy.cli import main

from .conftest import Call, Reply, Scripted, Team

pytestmark = pytest.mark.unit

COLUMNS = ["Name", "State", "Workspace", "UID", "Opened", "Generation", "Item", "Expires", "Resolved", "Prompt"]
END = Reply(403, {"kind": "Status", "code": 403, "message": "the end"})
GONE = Reply(410, {"kind": "Status", "code": 410, "message": "too old"})


class Server:
    """Questions behind the scripted server: lists as tables, single objects, watches as scripted."""

    def __init__(self, scripted: Scripted) -> None:
        self.scripted = scripted
        self.questions: dict[str, dict[str, Any]] = {}
        self.columns = COLUMNS
        self.before_get: dict[str, Any] = {}
        """By name: what happens before it is read."""
        self.streams: list[Reply] = []
        scripted.handler = self.answer

    def put(self, name: str, state: str = "Pending", version: str = "1", **spec: Any) -> dict[str, Any]:
        self.questions[name] = {
            "apiVersion": "compozy.dev/v1alpha1",
            "kind": "HumanRequest",
            "metadata": {
                "name": name,
                "namespace": "team",
                "uid": f"u-{name}",
                "resourceVersion": version,
                "creationTimestamp": "2026-05-01T11:50:00Z",
            },
            "spec": {"run": "rel", "generation": 1, "node": "E0", "prompt": f"{name}?", **spec},
            "status": {"state": state},
        }
        return self.questions[name]

    def answer(self, call: Call) -> Reply:
        name = call.path.rpartition("/humanrequests")[2].strip("/")
        if name:
            self.before_get.get(name, lambda: None)()
            found = self.questions.get(name)
            return Reply(body=found) if found else Reply(404, {"kind": "Status", "code": 404, "message": "gone"})
        if "watch" in call.query:
            return self.streams.pop(0) if self.streams else END
        if any("as=Table" in value for key, value in call.headers if key.lower() == "accept"):
            return Reply(body=self.table())
        return Reply(body={"items": list(self.questions.values()), "metadata": {"resourceVersion": "90"}})

    def table(self) -> dict[str, Any]:
        return {
            "kind": "Table",
            "metadata": {"resourceVersion": "50"},
            "columnDefinitions": [{"name": name} for name in self.columns],
            "rows": [{"cells": self.cells(one), "object": None} for one in self.questions.values()],
        }

    def cells(self, one: dict[str, Any]) -> list[Any]:
        metadata, spec, status = one["metadata"], one["spec"], one["status"]
        told = {
            "Name": metadata["name"],
            "State": status["state"],
            "Workspace": metadata["namespace"],
            "UID": metadata["uid"],
            "Opened": metadata["creationTimestamp"],
            "Generation": spec["generation"],
            "Item": spec.get("item"),
            "Expires": spec.get("expiresAt"),
            "Resolved": status.get("resolvedAt"),
            "Prompt": spec["prompt"],
        }
        return [told[name] for name in self.columns]

    @property
    def lists(self) -> list[tuple[str, bool]]:
        """The lists that were asked for: the selector, and whether as a table without objects."""
        return [
            (unquote(call.query.get("fieldSelector", "")), call.query.get("includeObject") == "None")
            for call in self.scripted.calls
            if call.path.endswith("/humanrequests") and "watch" not in call.query
        ]


@pytest.fixture
def questions(team: Team) -> Server:
    return Server(team.server)


def call(*arguments: str) -> int:
    return main.run(["requests", *arguments])


def printed(capsys: pytest.CaptureFixture[str]) -> Any:
    return json.loads(capsys.readouterr().out)


def names(listed: Any) -> list[str]:
    return [item["metadata"]["name"] for item in listed["items"]]


class TestWhatIsAskedFor:
    def test_one_list_counts_too(self, questions: Server, capsys: pytest.CaptureFixture[str]) -> None:
        """The list is read as a table once; then the objects of the page and no others."""
        for number in range(5):
            questions.put(f"q{number}", expiresAt=f"2026-05-0{5 - number}T00:00:00Z")
        assert call("-o", "json", "--limit", "2") == 0
        listed = printed(capsys)
        assert (names(listed), listed["aggregates"]) == (["q4", "q3"], {"pending": 5})
        assert questions.lists == [("status.state=Pending", True)]
        read = sorted(one.path.rpartition("/")[2] for one in questions.scripted.calls[1:])
        assert read == ["q3", "q4"]

    @pytest.mark.parametrize(
        ("words", "selected"),
        [
            (["--run", "r"], "status.state=Pending,spec.run=r"),
            (["--run", "r", "--state", "resolved"], "status.state!=Pending,spec.run=r"),
            (["--node", "a/b", "--generation", "2"], "status.state=Pending,spec.node=a/b,spec.generation=2"),
            (["--run", "r", "--item", "0"], "status.state=Pending,spec.run=r,spec.item=0"),
            (["--run", "a,spec.run=b"], r"status.state=Pending,spec.run=a\,spec.run\=b"),
        ],
    )
    def test_the_api_server_filters(self, questions: Server, words: list[str], selected: str) -> None:
        """The number of all that are pending is asked for apart, and only where it is printed."""
        assert call(*words) == 0
        assert questions.lists == [(selected, True)]
        assert call(*words, "-o", "json") == 0
        assert questions.lists[1:] == [(selected, True), ("status.state=Pending", True)]

    def test_labels_filter_too(self, questions: Server) -> None:
        assert call("-l", "a=b", "-o", "json") == 0
        assert [one.query.get("labelSelector") for one in questions.scripted.calls] == ["a=b", None]

    @pytest.mark.parametrize(
        "words", [["--generation", "0"], ["--item", "-1"], ["--limit", "0"], ["--cursor", "x"]]
    )
    def test_what_cannot_be_is_refused_before_anything_is_asked(self, questions: Server, words: list[str]) -> None:
        assert call(*words) == 65
        assert questions.scripted.calls == []

    @pytest.mark.parametrize("words", [["--limit", "50"], ["--cursor", "x"]])
    def test_a_watch_has_no_pages(self, questions: Server, words: list[str]) -> None:
        assert call("-w", *words) == 2
        assert questions.scripted.calls == []

    def test_crds_that_are_too_old(self, questions: Server, capsys: pytest.CaptureFixture[str]) -> None:
        questions.columns = ["Name", "State"]
        questions.put("q")
        assert call() == 65
        assert "kubectl apply --server-side -f crds/" in capsys.readouterr().err


class TestWhatHappensInBetween:
    """Between the list and the objects of its page."""

    def test_what_is_gone_or_resolved_is_left_out(
        self, questions: Server, capsys: pytest.CaptureFixture[str]
    ) -> None:
        for name in ("deleted", "resolved", "made-again", "stays"):
            questions.put(name)
        again = {"metadata": {**questions.questions["made-again"]["metadata"], "uid": "another"}}
        questions.before_get = {
            "deleted": lambda: questions.questions.pop("deleted", None),
            "resolved": lambda: questions.put("resolved", "Answered"),
            "made-again": lambda: questions.questions["made-again"].update(again),
        }
        assert call("-o", "json") == 0
        listed = printed(capsys)
        assert (names(listed), listed["aggregates"], listed["next_cursor"]) == (["stays"], {"pending": 4}, "")

    def test_a_page_of_which_nothing_is_left_still_goes_on(
        self, questions: Server, capsys: pytest.CaptureFixture[str]
    ) -> None:
        for name in ("a", "b"):
            questions.put(name)
        questions.before_get = {"a": lambda: questions.questions.pop("a", None)}
        assert call("--limit", "1") == 0
        assert "1 more: add --cursor " in capsys.readouterr().err

    def test_a_refusal_is_told(self, questions: Server, capsys: pytest.CaptureFixture[str]) -> None:
        questions.put("q")
        answer = questions.answer
        questions.scripted.handler = lambda one: END if one.path.endswith("/q") else answer(one)
        assert call("-o", "json") == 77
        assert printed(capsys)["message"] == "the end"


class TestAWatch:
    def lines(self, capsys: pytest.CaptureFixture[str]) -> list[tuple[str, str, bool]]:
        """Name, state and whether deleted, line by line."""
        told = [json.loads(line) for line in capsys.readouterr().out.splitlines()[:-1] if line.startswith('{"api')]
        return [(one["metadata"]["name"], one["status"]["state"], one.get("deleted", False)) for one in told]

    def event(self, kind: str, one: dict[str, Any]) -> dict[str, Any]:
        return {"type": kind, "object": json.loads(json.dumps(one))}

    def test_it_survives_streams_that_end_and_versions_that_are_too_old(
        self, questions: Server, capsys: pytest.CaptureFixture[str]
    ) -> None:
        questions.put("first", expiresAt="2026-06-01T00:00:00Z")
        lost = questions.put("lost", context={"long": "x" * 20_000})

        def too_old(_call: Call) -> Reply:
            """Nobody listens while one is deleted, one opens and one is answered."""
            del questions.questions["lost"]
            questions.put("first", "Answered", "60")
            questions.put("new", version="61")
            questions.streams = [Reply(lines=[self.event("DELETED", questions.questions["new"])])]
            questions.scripted.handler = questions.answer
            return GONE

        answer = questions.answer
        questions.streams = [Reply(lines=[self.event("MODIFIED", {**lost, "metadata": lost["metadata"]})])]

        def until_it_is_too_old(one: Call) -> Reply:
            if "watch" in one.query and not questions.streams:
                return too_old(one)
            return answer(one)

        questions.scripted.handler = until_it_is_too_old
        assert call("-w", "-o", "json") == 77
        assert self.lines(capsys) == [
            ("first", "Pending", False),
            ("lost", "Pending", False),
            ("lost", "Pending", False),
            ("first", "Answered", False),
            ("new", "Pending", False),
            ("lost", "Pending", True),
            ("new", "Pending", True),
        ]
        watched = [one.query["resourceVersion"] for one in questions.scripted.calls if "watch" in one.query]
        assert watched[0] == "50"
        assert watched[2:] == ["90", "61"]

    def test_what_is_not_in_the_list_is_not_told(
        self, questions: Server, capsys: pytest.CaptureFixture[str]
    ) -> None:
        """A watch selects by the filter alone, so it hears of questions of every state."""
        other = questions.put("other", "Answered")
        mine = questions.put("mine", "Pending")
        del questions.questions["other"]
        answered = {**mine, "status": {"state": "Answered"}}
        questions.streams = [
            Reply(
                lines=[
                    self.event("MODIFIED", other),
                    self.event("DELETED", other),
                    self.event("MODIFIED", answered),
                    self.event("MODIFIED", answered),
                    self.event("DELETED", answered),
                ]
            )
        ]
        assert call("-w", "-o", "json", "--run", "rel") == 77
        assert self.lines(capsys) == [("mine", "Pending", False), ("mine", "Answered", False)]
        watches = [one for one in questions.scripted.calls if "watch" in one.query]
        assert watches[0].query["fieldSelector"] == "spec.run=rel"

    def test_a_table_tells_the_state(self, questions: Server, capsys: pytest.CaptureFixture[str]) -> None:
        mine = questions.put("mine")
        questions.streams = [Reply(lines=[self.event("DELETED", mine)])]
        assert call("-w") == 77
        title, *rows = capsys.readouterr().out.splitlines()
        at = title.index("STATE")
        assert [row[at:].split()[0] for row in rows] == ["Pending", "Deleted"]
