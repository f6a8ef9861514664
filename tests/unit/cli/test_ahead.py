"""What is found out beside other work."""

from __future__ import annotations

import sys
from pathlib import Path
from threading import Event

import pytest

from compozy.cli.ahead import Ahead
from compozy.cli.flags import Flags
from compozy.cli.kube.access import Access, ExecPlugin
from compozy.cli.kube.client import Client
from compozy.cli.kube.errors import UnreachableError
from compozy.cli.kube.resources import NAMESPACES
from compozy.cli.session import Session

from .conftest import Call, Reply, Scripted

pytestmark = pytest.mark.unit

ALICE = {"status": {"userInfo": {"username": "alice", "groups": ["ops"], "uid": "u-1"}}}
PLUGIN = """
import json, pathlib, sys
ran = pathlib.Path(sys.argv[1])
ran.write_text(ran.read_text() + "x" if ran.exists() else "x")
version = "client.authentication.k8s.io/v1"
status = {"token": "t" + str(len(ran.read_text()))}
print(json.dumps({"kind": "ExecCredential", "apiVersion": version, "status": status}))
"""


def session(access: Access) -> Session:
    made = Session(Flags(), {})
    made.__dict__["client"] = Client(access, {}, 5)
    return made


def with_plugin(server: Scripted, folder: Path) -> Session:
    """A session whose credential comes from a program that counts how often it ran."""
    program = folder / "plugin.py"
    program.write_text(PLUGIN)
    arguments = (str(program), str(folder / "ran"))
    plugin = ExecPlugin("client.authentication.k8s.io/v1", sys.executable, arguments, interactive_mode="Never")
    return session(Access(server=server.url, exec_plugin=plugin))


def test_who_we_are_is_asked_while_something_else_is_read(server: Scripted) -> None:
    asked = Event()

    def answer(call: Call) -> Reply:
        if call.method == "POST":
            asked.set()
            return Reply(201, ALICE)
        return Reply(200 if asked.wait(10) else 500, {"met": True})

    server.handler = answer
    made = session(Access(server=server.url))
    made.identify()
    assert made.client.get(NAMESPACES, None, "team") == {"met": True}
    assert (made.identity.username, made.identity.uid) == ("alice", "u-1")
    assert [call.method for call in server.calls].count("POST") == 1


def test_a_failure_is_told_to_who_asks() -> None:
    made = session(Access(server="http://127.0.0.1:1"))
    made.identify()
    with pytest.raises(UnreachableError, match="cannot reach"):
        _ = made.identity


def test_both_have_one_run_of_the_credential_plugin(server: Scripted, tmp_path: Path) -> None:
    server.handler = lambda call: Reply(201, ALICE) if call.method == "POST" else Reply(body={})
    made = with_plugin(server, tmp_path)
    made.identify()
    made.client.get(NAMESPACES, None, "team")
    assert made.identity.groups == ("ops",)
    assert [server.header("authorization", at) for at in (0, 1)] == [["Bearer t1"], ["Bearer t1"]]


def test_both_have_one_new_credential_where_the_first_is_refused(server: Scripted, tmp_path: Path) -> None:
    refused: list[Call] = []
    both = Event()

    def answer(call: Call) -> Reply:
        if ("Authorization", "Bearer t1") in call.headers:
            refused.append(call)
            if len(refused) == 2:
                both.set()
            both.wait(10)
            return Reply(401, {"kind": "Status", "code": 401, "message": "no"})
        return Reply(201, ALICE) if call.method == "POST" else Reply(body={"ok": True})

    server.handler = answer
    made = with_plugin(server, tmp_path)
    made.identify()
    assert made.client.get(NAMESPACES, None, "team") == {"ok": True}
    assert made.identity.username == "alice"
    assert (tmp_path / "ran").read_text() == "xx"


def test_what_was_found_stays() -> None:
    found = Ahead(iter(["once"]).__next__)
    assert [found.result(), found.result()] == ["once", "once"]
