"""The client against a server that speaks TLS and wants to see a certificate, directly and through a proxy."""

from __future__ import annotations

import base64
import json
import os
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    PrivateFormat,
    load_pem_private_key,
)

from compozy.cli.kube.access import Access, ConfigError
from compozy.cli.kube.client import Client
from compozy.cli.kube.errors import UnreachableError
from compozy.cli.kube.resources import NAMESPACES
from controlplane.credentials import KeyPair, issue_client, issue_server, new_authority

pytestmark = pytest.mark.unit

AUTHORITY = new_authority("tests")
STRANGER = new_authority("nobody trusts this")
ALICE = issue_client(AUTHORITY, "alice", ["ops"])
PROXY_USER = "u:p@ss"


def context(pair: KeyPair, folder: Path, clients: KeyPair | None = None) -> ssl.SSLContext:
    """What a server shows, and whose clients it wants."""
    pair.write(folder / "server")
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    made.load_cert_chain(folder / "server.crt", folder / "server.key")
    if clients is not None:
        made.verify_mode = ssl.CERT_REQUIRED
        made.load_verify_locations(cadata=clients.certificate.decode())
    return made


class Speaker(BaseHTTPRequestHandler):
    """Says who asks, by their certificate, and over which connection."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        subject = self.connection.getpeercert()["subject"]  # type: ignore[attr-defined]
        names = {key: value for part in subject for key, value in part}
        body = json.dumps({"user": names["commonName"], "connection": self.client_address[1]}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Tests are quiet."""


@dataclass
class Proxy:
    """A proxy that tunnels for `PROXY_USER` alone, and what it was asked."""

    url: str = ""
    asked: list[tuple[str, str | None]] = field(default_factory=list)


@contextmanager
def serving(handler: type[BaseHTTPRequestHandler], tls: ssl.SSLContext | None) -> Iterator[int]:
    """A server on loopback; its port."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    server.handle_error = lambda *_: None  # type: ignore[method-assign]  # clients that go away are wanted
    if tls is not None:
        server.socket = tls.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.fixture
def access(tmp_path: Path) -> Iterator[Access]:
    """How to reach the server as alice."""
    tls = context(issue_server(AUTHORITY, "api", ["127.0.0.1", "inside"]), tmp_path, AUTHORITY)
    with serving(Speaker, tls) as port:
        yield Access(
            server=f"https://127.0.0.1:{port}",
            ca_data=AUTHORITY.certificate,
            client_cert_data=ALICE.certificate,
            client_key_data=ALICE.key,
        )


@contextmanager
def proxying(tls: ssl.SSLContext | None) -> Iterator[Proxy]:
    """A proxy that is itself reached with or without TLS."""
    proxy = Proxy()
    wanted = "Basic " + base64.b64encode(PROXY_USER.encode()).decode()

    class Tunneler(BaseHTTPRequestHandler):
        def do_CONNECT(self) -> None:
            proxy.asked.append((self.path, self.headers["Host"]))
            if self.headers["Proxy-Authorization"] != wanted:
                self.send_response(407, "Who are you")
                self.end_headers()
                return
            host, _, port = self.path.rpartition(":")
            with socket.create_connection((host, int(port)), timeout=10) as upstream:
                self.send_response(200)
                self.end_headers()
                down = threading.Thread(target=copy, args=(upstream, self.connection), daemon=True)
                down.start()
                copy(self.connection, upstream)
                down.join(10)

        def log_message(self, *_: Any) -> None:
            """Tests are quiet."""

    with serving(Tunneler, tls) as port:
        proxy.url = f"{'http' if tls is None else 'https'}://{{user}}127.0.0.1:{port}"
        yield proxy


def copy(source: socket.socket, target: socket.socket) -> None:
    """What comes from the one goes to the other, until the one has nothing more to say."""
    try:
        while data := source.recv(65536):
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)
    except OSError:
        pass


def asked_twice(access: Access) -> list[Any]:
    client = Client(access, {})
    return [client.get(NAMESPACES, None, "x") for _ in range(2)]


def assert_alice_on_one_connection(answers: list[Any]) -> None:
    assert [answer["user"] for answer in answers] == ["alice", "alice"]
    assert answers[0]["connection"] == answers[1]["connection"]


def test_a_certificate_in_the_kubeconfig_is_shown(access: Access) -> None:
    assert_alice_on_one_connection(asked_twice(access))
    links = (path.readlink() for path in Path("/proc/self/fd").glob("*") if path.is_symlink())
    assert not [link for link in links if "memfd:compozy" in str(link)], "the key is still open"


def test_without_files_in_memory_it_is_one_on_disk(access: Access, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "memfd_create", raising=False)
    assert_alice_on_one_connection(asked_twice(access))


def test_files_of_the_kubeconfig_are_read(access: Access, tmp_path: Path) -> None:
    AUTHORITY.write(tmp_path / "ca")
    ALICE.write(tmp_path / "alice")
    files = replace(
        access,
        ca_data=None,
        ca_file=tmp_path / "ca.crt",
        client_cert_data=None,
        client_cert_file=tmp_path / "alice.crt",
        client_key_data=None,
        client_key_file=tmp_path / "alice.key",
    )
    assert_alice_on_one_connection(asked_twice(files))


def test_a_server_of_another_authority_is_not_trusted(access: Access) -> None:
    with pytest.raises(UnreachableError, match="CERTIFICATE_VERIFY_FAILED"):
        asked_twice(replace(access, ca_data=STRANGER.certificate))


def test_a_server_must_have_the_name_by_which_it_is_known(access: Access) -> None:
    assert_alice_on_one_connection(asked_twice(replace(access, tls_server_name="inside")))
    with pytest.raises(UnreachableError, match="outside"):
        asked_twice(replace(access, tls_server_name="outside"))


def test_whatever_the_server_is_where_that_is_wanted(access: Access) -> None:
    assert_alice_on_one_connection(asked_twice(replace(access, ca_data=None, insecure=True)))


def test_a_key_that_is_none_is_told(access: Access) -> None:
    with pytest.raises(ConfigError, match="cannot use the certificates for https://127"):
        asked_twice(replace(access, client_key_data=b"no key"))


def test_nobody_is_asked_for_the_phrase_of_a_key(access: Access) -> None:
    """OpenSSL would ask on the terminal, in the middle of whatever is printed there."""
    key = load_pem_private_key(ALICE.key, None)
    locked = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, BestAvailableEncryption(b"phrase"))
    with pytest.raises(ConfigError, match="cannot use the certificates"):
        asked_twice(replace(access, client_key_data=locked))


def test_a_tunnel_through_a_proxy(access: Access) -> None:
    with proxying(None) as proxy:
        assert_alice_on_one_connection(asked_twice(replace(access, proxy_url=proxy.url.format(user="u:p%40ss@"))))
    place = access.server.removeprefix("https://")
    assert proxy.asked == [(place, place)]


def test_a_tunnel_through_a_proxy_that_is_reached_by_tls(
    access: Access, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Whom a proxy's certificate must come from is the system's to say: the kubeconfig has no word on it.
    AUTHORITY.write(tmp_path / "system")
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "system.crt"))
    (tmp_path / "proxy").mkdir()
    with proxying(context(issue_server(AUTHORITY, "proxy", ["127.0.0.1"]), tmp_path / "proxy")) as proxy:
        assert_alice_on_one_connection(asked_twice(replace(access, proxy_url=proxy.url.format(user="u:p%40ss@"))))
    assert len(proxy.asked) == 1


def test_a_proxy_that_refuses_is_told_with_its_word(access: Access) -> None:
    with proxying(None) as proxy, pytest.raises(UnreachableError, match="407 Who are you"):
        asked_twice(replace(access, proxy_url=proxy.url.format(user="")))
