"""The shared flags: kubectl's, anywhere after `compozy`."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from compozy.cli import main
from compozy.cli.flags import normalised
from compozy.cli.kube.client import Client, ObjectList

pytestmark = pytest.mark.unit


@pytest.fixture
def seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """What each list was asked with, and a kubeconfig with two contexts; there is no server."""
    config = {
        "current-context": "one",
        "clusters": [{"name": name, "cluster": {"server": f"https://{name}"}} for name in ("c1", "c2")],
        "contexts": [
            {"name": "one", "context": {"cluster": "c1", "user": "u", "namespace": "team"}},
            {"name": "two", "context": {"cluster": "c2", "user": "u"}},
        ],
        "users": [{"name": "u", "user": {"token": "t"}}, {"name": "v", "user": {"token": "w"}}],
    }
    file = tmp_path / "config"
    file.write_text(yaml.safe_dump(config))
    monkeypatch.setenv("KUBECONFIG", str(file))
    calls: list[dict[str, Any]] = []

    def note(self: Client, _resource: Any, namespace: str | None, **options: Any) -> None:
        acting = self.access.impersonation
        calls.append(
            {
                "server": self.access.server,
                "token": self.access.token,
                "namespace": namespace,
                "as": (acting.user, acting.groups, acting.uid),
                "labels": options.get("label_selector"),
                "seconds": self._seconds,
            }
        )

    def fake_list(self: Client, *arguments: Any, **options: Any) -> ObjectList:
        note(self, *arguments, **options)
        return ObjectList([], "1")

    def fake_scan(self: Client, *arguments: Any, **options: Any) -> Iterator[Any]:
        note(self, *arguments, **options)
        return iter(())

    monkeypatch.setattr(Client, "list", fake_list)
    monkeypatch.setattr(Client, "scan", fake_scan)
    return calls


def call(*arguments: str) -> int:
    return main.run(arguments)


FLAGS = [
    ("-n", "x"),
    ("--context=two",),
    ("--as", "ann"),
    ("--as-group=g1",),
    ("--as-group", "g2"),
    ("-l", "a=b"),
    ("--user=v",),
    ("--request-timeout", "90s"),
]


@pytest.mark.parametrize("split", range(len(FLAGS) + 1))
def test_flags_may_stand_before_and_after_the_command(seen: list[dict[str, Any]], split: int) -> None:
    before, after = (list(itertools.chain(*part)) for part in (FLAGS[:split], FLAGS[split:]))
    assert call(*before, "requests", *after) == 0
    assert seen == [
        {
            "server": "https://c2",
            "token": "w",
            "namespace": "x",
            "as": ("ann", ("g1", "g2"), None),
            "labels": "a=b",
            "seconds": 90.0,
        }
    ]


@pytest.mark.parametrize(
    "words", [["-n", "x", "plan", "list"], ["plan", "-n", "x", "list"], ["plan", "list", "-nx"]]
)
def test_a_group_within_takes_them_too(seen: list[dict[str, Any]], words: list[str]) -> None:
    assert call(*words) == 0
    assert seen[0]["namespace"] == "x"


def test_the_one_nearest_to_the_end_wins(seen: list[dict[str, Any]]) -> None:
    assert call("-n", "first", "plan", "-n", "second", "list", "-n", "third") == 0
    assert call("-n", "first", "plan", "-n", "second", "list") == 0
    assert [one["namespace"] for one in seen] == ["third", "second"]


@pytest.mark.parametrize(
    ("arguments", "namespace"),
    [
        (["requests"], "team"),
        (["requests", "--context", "two"], "default"),
        (["requests", "-A"], None),
        (["-A", "requests", "-n", "x"], None),
        (["requests", "-n=x"], "x"),
        (["requests", "--namespace=x"], "x"),
    ],
)
def test_the_namespace(seen: list[dict[str, Any]], arguments: list[str], namespace: str | None) -> None:
    assert call(*arguments) == 0
    assert seen[0]["namespace"] == namespace


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["-A", "request", "x"], "`kubectl compozy request` has no flag -A/--all-namespaces"),
        (["request", "-A", "x"], "No such option"),
        (["-w", "plan", "list"], "`kubectl compozy plan list` has no flag -w/--watch"),
        (["-n", "x", "plan", "validate", "f"], "`kubectl compozy plan validate` has no flag -n/--namespace"),
        (["-o", "xml", "requests"], "-o xml: `kubectl compozy requests` prints json, yaml, name, wide"),
        (["requests", "-o", "xml"], "'xml' is not one of"),
        (["requests", "--colour"], "No such option '--colour'"),
        (["reqests"], "did you mean `kubectl compozy requests`"),
        (["respond"], "name one question: NAME, or --run R --node N --generation G"),
        (["respond", "x", "--run", "r"], "name one question"),
        (["respond", "--run", "r", "--node", "n"], "name one question"),
        (["respond", "x", "--decline", "--decision", "respond"], "contradict each other"),
        (["run"], "say what to run: PLAN, or -f FILE"),
        (["run", "p", "-f", "x"], "say what to run: PLAN, or -f FILE"),
        (["run", "-f", "-", "--inputs", "-"], "stdin can be the plan or the inputs"),
        (["cancel"], "say what to cancel: RUN, or --request NAME"),
    ],
)
def test_a_wrong_command_line_says_what_to_type(
    seen: list[dict[str, Any]], capsys: pytest.CaptureFixture[str], arguments: list[str], told: str
) -> None:
    assert call(*arguments) == 2
    captured = capsys.readouterr()
    assert told in captured.err
    assert "Usage: kubectl compozy" in captured.err
    assert (captured.out, seen) == ("", [])


def test_flags_may_stand_on_both_sides_of_words_of_a_command(seen: list[dict[str, Any]]) -> None:
    assert call("respond", "--run", "r", "-n", "x", "--node", "n", "--context", "two", "--generation", "1") == 69
    assert (seen[0]["namespace"], seen[0]["server"]) == ("x", "https://c2")


@pytest.mark.parametrize(
    ("timeout", "seconds"), [("5s", 5.0), ("1m30s", 90.0), ("7", 7.0), ("0", None), ("100ms", 0.1)]
)
def test_timeouts(seen: list[dict[str, Any]], timeout: str, seconds: float | None) -> None:
    assert call("runs", "--request-timeout", timeout) == 0
    assert seen[0]["seconds"] == seconds


@pytest.mark.parametrize("timeout", ["soon", "-x", "5 parsecs"])
def test_a_timeout_that_is_none(timeout: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert call("runs", f"--request-timeout={timeout}", "-o", "json") == 65
    assert '"code": "bad_input"' in capsys.readouterr().out


def test_errors_go_where_the_output_goes(seen: list[dict[str, Any]], capsys: pytest.CaptureFixture[str]) -> None:
    assert call("requests", "--context", "none") == 65
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.splitlines() == [
        "error: the kubeconfig has no context 'none' (it has: one, two) [bad_input]"
    ]
    assert call("requests", "--context", "none", "-o", "json") == 65
    captured = capsys.readouterr()
    assert '"ok": false' in captured.out
    assert captured.err == ""


def test_events_claim_stderr(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, seen: Any
) -> None:
    monkeypatch.setenv("COMPOZY_EVENTS", "jsonl")
    assert call("requests", "--context", "none") == 65
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith('{"event":"note","message":"error: the kubeconfig has no context')


@pytest.mark.parametrize(
    ("given", "read"),
    [
        (["-n=x"], ["-n", "x"]),
        (["-f=a=b"], ["-f", "a=b"]),
        (["--set", "a=b"], ["--set", "a=b"]),
        (["--", "-n=x"], ["--", "-n=x"]),
        (["-", "x=y"], ["-", "x=y"]),
        (["-n="], ["-n", ""]),
    ],
)
def test_short_flags_with_an_equals_sign(given: list[str], read: list[str]) -> None:
    assert normalised(given) == read


def test_help_without_arguments(capsys: pytest.CaptureFixture[str]) -> None:
    assert call() == 0
    assert "Usage: kubectl compozy" in capsys.readouterr().out
