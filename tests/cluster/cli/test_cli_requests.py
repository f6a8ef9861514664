"""Listing and showing questions on a real API server."""

from __future__ import annotations

import json
import subprocess
from typing import Any

import pytest
import yaml

from .conftest import BIN, Desk

pytestmark = pytest.mark.cluster


def names(listed: Any) -> list[str]:
    return [item["metadata"]["name"] for item in listed["items"]]


def open_three(desk: Desk) -> None:
    desk.open("never", run="one", node="a", expiresAt=None)
    desk.open("late", run="one", node="b", item=3, expiresAt="2099-05-01T00:00:00Z")
    desk.open("soon", run="two", node="c", expiresAt="2099-04-01T00:00:00.5Z")


def test_a_list_is_ordered_bounded_and_counts_the_whole_namespace(desk: Desk) -> None:
    open_three(desk)
    assert names(desk.json("requests")) == ["soon", "late", "never"]
    listed = desk.json("requests", "--run", "one", "--limit", "1")
    assert (names(listed), listed["aggregates"]) == (["late"], {"pending": 3})
    following = desk.json("requests", "--run", "one", "--limit", "1", "--cursor", listed["next_cursor"])
    assert (names(following), following["next_cursor"]) == (["never"], "")
    assert desk.json("requests", "--run", "none")["aggregates"] == {"pending": 3}


def test_what_is_resolved_leaves_one_list_for_the_other(desk: Desk) -> None:
    open_three(desk)
    for name, second in (("late", 1), ("soon", 2)):
        status = {"state": "Expired", "resolvedAt": f"2026-05-01T00:00:0{second}Z"}
        desk.operator.patch("humanrequests", name, {"status": status}, subresource="status").object()
    assert names(desk.json("requests")) == ["never"]
    resolved = desk.json("requests", "--state", "resolved")
    assert (names(resolved), resolved["aggregates"]) == (["soon", "late"], {"pending": 1})


def test_a_fan_out_is_counted_as_it_is_listed(desk: Desk) -> None:
    for item in range(20):
        desk.open(f"item-{item}", run="fan", node="ask", item=item)
    listed = desk.json("requests", "--run", "fan")
    assert len(listed["items"]) == listed["aggregates"]["pending"] == 20


def test_tables(desk: Desk) -> None:
    open_three(desk)
    done = desk.call("requests", "--limit", "2")
    title, *rows = done.stdout.splitlines()
    assert title.split() == ["NAME", "RUN", "NODE", "ITEM", "PROMPT", "EXPIRES", "AGE"]
    assert [row.split()[0] for row in rows] == ["soon", "late"]
    assert rows[1][title.index("ITEM")] == "3"
    assert rows[0][title.index("ITEM") :].startswith("<none>")
    assert done.stderr.startswith("1 more: add --cursor ")
    # The suite shares the cluster: other tests leave questions that expire sooner.
    desk.open("elsewhere", run=desk.namespace, node="d")
    everywhere = desk.call("requests", "-A", "--run", desk.namespace, user=desk.admin).stdout.splitlines()
    assert everywhere[0].startswith("NAMESPACE")
    assert any(row.split()[:2] == [desk.namespace, "elsewhere"] for row in everywhere)
    desk.admin.delete("humanrequests", "elsewhere").object()
    wide = desk.call("requests", "-o", "wide").stdout
    assert "respond,decline" in wide
    assert desk.call("requests", "-o", "name").stdout.split() == [
        f"humanrequest/{name}" for name in ("soon", "late", "never")
    ]


def test_an_empty_list_says_so_on_stderr(desk: Desk) -> None:
    done = desk.call("requests")
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr == f"No pending requests in namespace {desk.namespace}.\n"


def test_one_question_by_name_and_by_its_place(desk: Desk) -> None:
    open_three(desk)
    by_name = desk.json("request", "humanrequest/late")
    by_place = desk.json("request", "--run", "one", "--node", "b", "--generation", "1", "--item", "3")
    assert by_name == by_place == desk.alice.get("humanrequests", "late")
    as_yaml = desk.call("request", "late", "-o", "yaml").stdout
    assert yaml.safe_load(as_yaml) == by_name
    text = desk.call("request", "late").stdout
    assert "Where should 1.2.0 deploy?" in text
    assert "channel — Release channel [stable | beta | nightly]" in text


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["gone"], "there is no request 'gone'"),
        (["--run", "one", "--node", "b", "--generation", "1"], "it asks for items 3"),
        (["--run", "one", "--node", "b", "--generation", "2"], "it has asked in generation 1"),
        (["--run", "one", "--node", "a", "--generation", "1", "--item", "0"], "it asks once, without --item"),
        (["--run", "one", "--node", "z", "--generation", "1"], "there is no request of one/z"),
    ],
)
def test_what_is_not_there(desk: Desk, words: list[str], told: str) -> None:
    open_three(desk)
    error = desk.json("request", *words, code=69)
    assert error["code"] == "request_not_found"
    assert told in error["message"]


def test_a_watch_shows_what_opens_what_is_resolved_and_what_is_deleted(desk: Desk) -> None:
    first = desk.open()
    command = [str(BIN / "kubectl-compozy"), "requests", "-w", "-o", "json", "-n", desk.namespace]
    with subprocess.Popen(command, env=desk.environment(desk.alice), stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            seen = [json.loads(process.stdout.readline())]
            second = desk.open()
            seen.append(json.loads(process.stdout.readline()))
            status = {"state": "Canceled", "resolvedAt": "2026-05-01T00:00:00Z"}
            desk.operator.patch("humanrequests", first, {"status": status}, subresource="status").object()
            seen.append(json.loads(process.stdout.readline()))
            desk.admin.delete("humanrequests", first).object()
            desk.admin.delete("humanrequests", second).object()
            seen.append(json.loads(process.stdout.readline()))
        finally:
            process.kill()
    assert [(one["metadata"]["name"], one["status"]["state"], one.get("deleted")) for one in seen] == [
        (first, "Pending", None),
        (second, "Pending", None),
        (first, "Canceled", None),
        (second, "Pending", True),
    ]


def test_a_watch_of_one_place(desk: Desk) -> None:
    """Filters hold for what opens later too."""
    place = ["--run", "r", "--node", "n", "--generation", "2", "--item", "0"]
    command = [str(BIN / "kubectl-compozy"), "requests", "-w", *place, "-n", desk.namespace]
    wanted = desk.open(run="r", node="n", generation=2, item=0)
    with subprocess.Popen(command, env=desk.environment(desk.alice), stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            assert process.stdout.readline().split()[:4] == ["NAME", "RUN", "NODE", "ITEM"]
            assert process.stdout.readline().split()[0] == wanted
            for other in ({"item": 1}, {"generation": 1}, {"node": "m"}, {"run": "s"}):
                desk.open(**{"run": "r", "node": "n", "generation": 2, "item": 0, **other})
            later = desk.open(run="r", node="n", generation=2, item=0)
            assert process.stdout.readline().split()[0] == later
        finally:
            process.kill()


def test_a_long_context_is_in_the_detail_alone(desk: Desk) -> None:
    log = {"log": "é" * 10_000}
    name = desk.open(context=log)
    size = len(json.dumps(log, ensure_ascii=False, separators=(",", ":")).encode())
    (shown,) = desk.json("requests")["items"]
    assert shown["spec"]["context"] == {"truncated": True, "byte_size": size}
    assert yaml.safe_load(desk.call("requests", "-o", "yaml").stdout)["items"] == [shown]
    assert desk.json("request", name)["spec"]["context"] == log
    assert yaml.safe_load(desk.call("request", name, "-o", "yaml").stdout)["spec"]["context"] == log
    assert desk.call("request", name).stdout.count("é") == 10_000


def test_exit_codes_pass_through_kubectl(desk: Desk) -> None:
    done = desk.call("request", "gone", program=("kubectl", "compozy"))
    assert (done.returncode, done.stdout) == (69, "")
    assert done.stderr.splitlines()[0].startswith("error: there is no request 'gone'")


def test_kubectl_completes_names(desk: Desk) -> None:
    name = desk.open()
    words = ["kubectl", "__complete", "compozy", "-n", desk.namespace, "respond", "quest"]
    done = subprocess.run(
        words, env=desk.environment(desk.alice), capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.splitlines() == [name, ":4"]


def test_somebody_without_rights_is_told_so(desk: Desk) -> None:
    stranger = desk.api.user("mallory", desk.namespace, ["nobody"])
    for words in (["requests"], ["request", "x"], ["runs"], ["respond", "x", "--decline"]):
        done = desk.call(*words, user=stranger)
        assert done.returncode == 77, done.stderr
        assert len(done.stderr.splitlines()) == 1


def test_more_than_a_page_of_the_api_server_is_read(desk: Desk) -> None:
    """More than one page of the API server, so that what is shown does not end at the first."""
    for item in range(510):
        desk.open(f"many-{item:03}", run="many", node="ask", item=item)
    assert desk.json("requests", "--limit", "200")["aggregates"] == {"pending": 510}
