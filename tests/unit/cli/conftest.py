"""A small API server of our own for tests of the client: it answers what a test tells it to."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest


@dataclass
class Call:
    """One request as it arrived."""

    method: str
    path: str
    query: dict[str, str]
    headers: list[tuple[str, str]]
    body: Any


@dataclass
class Reply:
    """What to answer: an object, or lines of a stream."""

    status: int = 200
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)
    lines: list[Any] | None = None


@dataclass
class Scripted:
    """Answers each request with what `handler` returns, and remembers it."""

    url: str
    calls: list[Call] = field(default_factory=list)
    handler: Callable[[Call], Reply] = lambda _call: Reply(404, {"kind": "Status", "message": "nothing here"})

    def header(self, name: str, index: int = -1) -> list[str]:
        """The values of a header of a request."""
        return [value for key, value in self.calls[index].headers if key.lower() == name.lower()]


@pytest.fixture
def server() -> Iterator[Scripted]:
    """The server. Set its `handler`."""
    scripted = Scripted("")

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def answer(self) -> None:
            parts = urlsplit(self.path)
            length = int(self.headers.get("Content-Length") or 0)
            raw = self.rfile.read(length)
            query = {key: values[0] for key, values in parse_qs(parts.query).items()}
            call = Call(
                self.command, parts.path, query, list(self.headers.items()), json.loads(raw) if raw else None
            )
            scripted.calls.append(call)
            reply = scripted.handler(call)
            self.send_response(reply.status)
            for name, value in reply.headers.items():
                self.send_header(name, value)
            if reply.lines is None:
                data = reply.body if isinstance(reply.body, bytes) else json.dumps(reply.body).encode()
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)
                return
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            for line in reply.lines:
                data = json.dumps(line).encode() + b"\n"
                self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
                self.wfile.flush()
            self.wfile.write(b"0\r\n\r\n")

        do_GET = do_POST = do_PATCH = do_PUT = do_DELETE = answer  # noqa: N815 - the library's names

        def log_message(self, *_: Any) -> None:
            """Tests are quiet."""

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    http.daemon_threads = True
    http.handle_error = lambda *_: None  # type: ignore[method-assign]  # clients may go away at any time
    scripted.url = f"http://127.0.0.1:{http.server_port}"
    threading.Thread(target=http.serve_forever, args=(0.01,), daemon=True).start()
    yield scripted
    http.shutdown()
    http.server_close()


@dataclass
class Team:
    """A namespace of the scripted server, for commands: objects by plural and name, and what was patched."""

    server: Scripted
    objects: dict[tuple[str, str], dict[str, Any]] = field(default_factory=dict)
    forbidden: set[str] = field(default_factory=set)
    """Plurals that may not be read."""
    patches: list[tuple[str, Any]] = field(default_factory=list)
    on_patch: Callable[[dict[str, Any]], None] = lambda _object: None
    """What the operator makes of a changed object, at once."""

    def put(self, plural: str, name: str, **parts: Any) -> dict[str, Any]:
        """Adds an object."""
        metadata = {
            "name": name,
            "namespace": "team",
            "uid": name,
            "resourceVersion": "1",
            "creationTimestamp": "2026-05-01T11:50:00Z",
        }
        self.objects[plural, name] = {"kind": plural, "metadata": metadata, **parts}
        return self.objects[plural, name]

    def answer(self, call: Call) -> Reply:
        """What the API server would say."""
        *_, plural, name = ("", *call.path.rstrip("/").split("/"))
        if (last := name) and plural in ("team", "namespaces"):
            plural, name = last, ""
        if plural in self.forbidden:
            return _refused(403, f"{plural} is forbidden")
        if not name:
            found = [item for (of, _), item in self.objects.items() if of == plural and _selected(item, call)]
            listed = {"metadata": {"resourceVersion": "1"}, "items": found}
            return Reply(body=_table(found) if _wants_table(call) else listed)
        if (plural, name) not in self.objects:
            return _refused(404, f"no {name}")
        item = self.objects[plural, name]
        if call.method == "PATCH":
            self.patches.append((name, call.body))
            item["spec"] = {**item["spec"], **call.body["spec"]}
            self.on_patch(item)
        return Reply(body=item)


def _wants_table(call: Call) -> bool:
    return any("as=Table" in value for name, value in call.headers if name.lower() == "accept")


def _table(items: list[dict[str, Any]]) -> dict[str, Any]:
    """The one column that tests use."""
    return {
        "columnDefinitions": [{"name": "Name"}],
        "rows": [{"cells": [item["metadata"]["name"]]} for item in items],
    }


def _refused(code: int, message: str) -> Reply:
    return Reply(code, {"kind": "Status", "code": code, "message": message})


def _selected(item: dict[str, Any], call: Call) -> bool:
    """The one selector that tests use: the run of a question."""
    wanted = [part for part in call.query.get("fieldSelector", "").split(",") if part.startswith("spec.run=")]
    return all(part == f"spec.run={item['spec'].get('run')}" for part in wanted)


@pytest.fixture
def team(server: Scripted, tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> Team:
    """An empty namespace, which commands find by KUBECONFIG. The operator never does anything by itself."""
    config = tmp_path / "kubeconfig"
    config.write_text(
        "current-context: one\n"
        f"clusters: [{{name: c, cluster: {{server: '{server.url}'}}}}]\n"
        "contexts: [{name: one, context: {cluster: c, namespace: team}}]\n"
    )
    monkeypatch.setenv("KUBECONFIG", str(config))
    monkeypatch.setattr("compozy.cli.changing.WAIT_SECONDS", 0)
    made = Team(server)
    server.handler = made.answer
    return made
