"""The client against a server that answers what the test says."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from compozy.cli.kube.access import Access, ConfigError, ExecPlugin, Impersonation
from compozy.cli.kube.client import Client
from compozy.cli.kube.errors import ApiError, UnreachableError
from compozy.cli.kube.resources import HUMAN_REQUESTS, NAMESPACES, PLAN_RUNS

from .conftest import Call, Reply, Scripted

pytestmark = pytest.mark.unit


def client(server: Scripted, **fields: Any) -> Client:
    return Client(replace(Access(server=server.url, token="secret"), **fields), {})


def status(code: int, reason: str, message: str, **details: Any) -> Reply:
    body = {"kind": "Status", "code": code, "reason": reason, "message": message, "details": details}
    return Reply(code, body)


def test_a_list_is_read_page_by_page(server: Scripted) -> None:
    def pages(call: Call) -> Reply:
        if "continue" not in call.query:
            return Reply(body={"metadata": {"continue": "more", "resourceVersion": "7"}, "items": [1, 2]})
        return Reply(body={"metadata": {"resourceVersion": "7"}, "items": [3]})

    server.handler = pages
    listed = client(server).list(HUMAN_REQUESTS, "team", field_selector="a=b", label_selector="c in (d,e)")
    assert (listed.items, listed.resource_version) == ([1, 2, 3], "7")
    assert [call.query.get("continue") for call in server.calls] == [None, "more"]
    for call in server.calls:
        assert call.path == "/apis/compozy.dev/v1alpha1/namespaces/team/humanrequests"
        assert (call.query["fieldSelector"], call.query["labelSelector"]) == ("a=b", "c in (d,e)")
        assert call.query["limit"] == "500"


def test_a_list_that_grew_too_old_is_begun_again(server: Scripted) -> None:
    def pages(call: Call) -> Reply:
        if len(server.calls) == 1:
            return Reply(body={"metadata": {"continue": "more"}, "items": [1]})
        if call.query.get("continue"):
            return status(410, "Expired", "too old")
        return Reply(body={"metadata": {"resourceVersion": "9"}, "items": [1, 2]})

    server.handler = pages
    assert client(server).list(HUMAN_REQUESTS, None).items == [1, 2]


def test_a_refusal_carries_what_the_server_said(server: Scripted) -> None:
    cause = {"reason": "FieldValueForbidden", "message": "no", "field": "response"}
    server.handler = lambda _call: status(422, "Invalid", "is invalid", causes=[cause])
    with pytest.raises(ApiError) as caught:
        client(server).get(HUMAN_REQUESTS, "team", "x")
    assert (caught.value.status, caught.value.reason, caught.value.message) == (422, "Invalid", "is invalid")
    assert [(cause.message, cause.field) for cause in caught.value.causes] == [("no", "response")]


@pytest.mark.parametrize(
    ("code", "reason", "conflict", "not_found", "gone"),
    [
        (409, "Conflict", True, False, False),
        (409, "AlreadyExists", False, False, False),
        (404, "NotFound", False, True, False),
        (410, "Expired", False, False, True),
    ],
)
def test_kinds_of_refusals(
    server: Scripted, code: int, reason: str, conflict: bool, not_found: bool, gone: bool
) -> None:
    server.handler = lambda _call: status(code, reason, "m")
    with pytest.raises(ApiError) as caught:
        client(server).get(HUMAN_REQUESTS, "team", "x")
    assert (caught.value.conflict, caught.value.not_found, caught.value.gone) == (conflict, not_found, gone)


def test_a_redirect_is_not_followed_and_the_token_stays_here(server: Scripted) -> None:
    elsewhere = {"Location": f"{server.url}/stolen"}
    server.handler = lambda _call: Reply(302, b"moved", elsewhere)
    with pytest.raises(UnreachableError, match="answered 302 and no JSON"):
        client(server).get(HUMAN_REQUESTS, "team", "x")
    assert len(server.calls) == 1


def test_a_proxy_of_the_environment_is_not_used(server: Scripted, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    server.handler = lambda _call: Reply(body={"ok": True})
    assert client(server).get(HUMAN_REQUESTS, "team", "x") == {"ok": True}


def test_a_proxy_of_the_kubeconfig_is_used(server: Scripted) -> None:
    server.handler = lambda _call: Reply(body={"ok": True})
    access = Access(server="http://cluster.invalid", proxy_url=server.url)
    assert Client(access, {}).get(NAMESPACES, None, "team") == {"ok": True}
    assert server.header("Host") == ["cluster.invalid"]


def test_a_socks_proxy_is_refused() -> None:
    access = Access(server="http://cluster.invalid", proxy_url="socks5://p")
    with pytest.raises(ConfigError, match="only http and https proxies"):
        Client(access, {}).get(NAMESPACES, None, "team")


def test_an_empty_proxy_is_none(server: Scripted) -> None:
    server.handler = lambda _call: Reply(body={"ok": True})
    assert client(server, proxy_url="").get(NAMESPACES, None, "team") == {"ok": True}


@pytest.mark.parametrize("url", ["http://[::1", "https://", "https://c:port"])
def test_what_is_no_url_is_a_fault_of_the_kubeconfig(url: str) -> None:
    with pytest.raises(ConfigError, match="is not the URL of a server"):
        Client(Access(server=url), {}).get(NAMESPACES, None, "team")


def test_nobody_there_is_one_line() -> None:
    with pytest.raises(UnreachableError) as caught:
        Client(Access(server="http://127.0.0.1:9"), {}).get(NAMESPACES, None, "team")
    assert str(caught.value) == "cannot reach http://127.0.0.1:9: Connection refused"


def test_a_busy_server_is_asked_again(server: Scripted) -> None:
    def busy(_call: Call) -> Reply:
        if len(server.calls) < 3:
            return Reply(429, {"kind": "Status", "message": "busy"}, {"Retry-After": "0"})
        return Reply(body={"ok": True})

    server.handler = busy
    assert client(server).get(HUMAN_REQUESTS, "team", "x") == {"ok": True}


def test_an_endlessly_busy_server_is_left_alone(server: Scripted) -> None:
    server.handler = lambda _call: Reply(429, {"kind": "Status", "message": "busy"}, {"Retry-After": "0"})
    with pytest.raises(ApiError):
        client(server).get(HUMAN_REQUESTS, "team", "x")
    assert len(server.calls) == 4


def test_groups_travel_in_headers_of_their_own(server: Scripted) -> None:
    server.handler = lambda _call: Reply(body={})
    acting = Impersonation("ann", groups=("a", "b"))
    client(server, impersonation=acting).get(HUMAN_REQUESTS, "team", "x")
    assert server.header("Impersonate-Group") == ["a", "b"]
    assert server.header("Authorization") == ["Bearer secret"]


def test_a_refused_credential_is_renewed_once(server: Scripted, tmp_path: Path) -> None:
    program = tmp_path / "plugin.py"
    program.write_text(
        "import pathlib, json\n"
        f"count = pathlib.Path({str(tmp_path / 'count')!r})\n"
        "n = len(count.read_text()) if count.exists() else 0\n"
        "count.write_text('x' * (n + 1))\n"
        "answer = {'kind': 'ExecCredential', 'apiVersion': 'client.authentication.k8s.io/v1'}\n"
        "print(json.dumps(answer | {'status': {'token': f't{n}'}}))\n"
    )
    plugin = ExecPlugin(
        "client.authentication.k8s.io/v1", sys.executable, (str(program),), interactive_mode="Never"
    )
    server.handler = lambda call: (
        Reply(body={"ok": True})
        if ("Authorization", "Bearer t1") in call.headers
        else status(401, "Unauthorized", "who?")
    )
    assert client(server, token=None, exec_plugin=plugin).get(NAMESPACES, None, "x") == {"ok": True}
    with pytest.raises(ApiError):
        client(server).get(NAMESPACES, None, "x")


def test_writes_name_us_and_refuse_unknown_fields(server: Scripted) -> None:
    server.handler = lambda _call: Reply(201, {})
    reached = client(server)
    reached.create(PLAN_RUNS, "team", {"a": 1})
    reached.merge_patch(PLAN_RUNS, "team", "r", {"b": None}, "status")
    reached.json_patch(HUMAN_REQUESTS, "team", "h", [{"op": "add"}])
    reached.apply(PLAN_RUNS, "team", "r", {"c": 1}, force=True)
    reached.replace(PLAN_RUNS, "team", "r", {"d": 1})
    reached.delete(PLAN_RUNS, "team", "r")
    base = "/apis/compozy.dev/v1alpha1/namespaces/team/planruns"
    assert [(call.method, call.path.removeprefix(base)) for call in server.calls] == [
        ("POST", ""),
        ("PATCH", "/r/status"),
        ("PATCH", "/apis/compozy.dev/v1alpha1/namespaces/team/humanrequests/h"),
        ("PATCH", "/r"),
        ("PUT", "/r"),
        ("DELETE", "/r"),
    ]
    for call in server.calls[:-1]:
        assert (call.query["fieldManager"], call.query["fieldValidation"]) == ("compozy-cli", "Strict")
    assert [server.header("Content-Type", index)[0] for index in range(1, 4)] == [
        "application/merge-patch+json",
        "application/json-patch+json",
        "application/apply-patch+yaml",
    ]
    assert server.calls[1].body == {"b": None}
    assert server.calls[3].query["force"] == "true"


def test_whoami(server: Scripted) -> None:
    server.handler = lambda _call: Reply(201, {"status": {"userInfo": {"username": "ann", "groups": ["g"]}}})
    identity = client(server).whoami()
    assert (identity.username, identity.groups, identity.uid) == ("ann", ("g",), "")
    assert server.calls[0].path == "/apis/authentication.k8s.io/v1/selfsubjectreviews"


@pytest.mark.parametrize("name", ["", ".", ".."])
def test_a_name_never_leads_to_another_path(name: str) -> None:
    with pytest.raises(ConfigError):
        HUMAN_REQUESTS.path("team", name)
    with pytest.raises(ConfigError):
        HUMAN_REQUESTS.path(name)


@pytest.mark.parametrize(
    "body",
    [
        {"message": "no", "code": "x"},
        {"message": "no", "details": "x"},
        {"message": "no", "details": {"causes": "x"}},
        {"message": "no", "details": {"causes": ["x", {"field": 1}]}, "reason": 5},
    ],
)
def test_a_refusal_may_be_of_any_shape(server: Scripted, body: dict[str, Any]) -> None:
    server.handler = lambda _call: Reply(403, body)
    with pytest.raises(ApiError) as caught:
        client(server).get(NAMESPACES, None, "x")
    assert (caught.value.status, caught.value.message) == (403, "no")


def test_an_answer_that_is_too_deep_to_read_is_no_api_server(server: Scripted) -> None:
    server.handler = lambda _call: Reply(200, b"[" * 50_000)
    with pytest.raises(UnreachableError, match="no JSON"):
        client(server).get(NAMESPACES, None, "x")


def test_a_name_is_escaped() -> None:
    assert HUMAN_REQUESTS.path("a/b", "c?d").endswith("/namespaces/a%2Fb/humanrequests/c%3Fd")
