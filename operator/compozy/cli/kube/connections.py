"""Connections to one API server, over `http.client`: kept between requests, through a proxy where one is named.

A proxy is used only where the kubeconfig names one (`proxy-url`), never one from the environment, and no redirect
is followed: a credential goes to the server that the kubeconfig names and nowhere else.
"""

import select
import socket
import ssl
from collections.abc import Iterator, Sequence
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection, IncompleteRead
from typing import Any
from urllib.parse import SplitResult, unquote, urlsplit

from compozy.cli.kube.access import Access, ConfigError, check_header
from compozy.cli.kube.credentials import basic
from compozy.cli.kube.tls import ssl_context

CONNECT_SECONDS = 10.0

FAILURES = (HTTPException, OSError)
"""What a conversation ends with when the network or the other side does."""

_PORTS = {"http": 80, "https": 443}


class Response:
    """The answer to a request. It holds a connection until it is read to its end, or closed."""

    def __init__(self, raw: HTTPResponse, connection: "_Connection", idle: list["_Connection"]) -> None:
        self._raw = raw
        self._connection = connection
        self._idle = idle
        self.status = raw.status

    def header(self, name: str, default: str = "") -> str:
        """The value of a header."""
        return self._raw.getheader(name, default)

    def read(self) -> bytes:
        """All of the answer. Raises one of FAILURES when it breaks off."""
        try:
            data = self._raw.read()
        except FAILURES:
            self.close()
            raise
        self._release()
        return data

    def stream(self, size: int) -> Iterator[bytes]:
        """The answer as it arrives, at most `size` bytes at once. Raises one of FAILURES when it breaks off."""
        while chunk := self._raw.read1(size):
            yield chunk
        if self._raw.length:
            raise IncompleteRead(b"", self._raw.length)
        self._release()

    def close(self) -> None:
        """Gives up what has not been read, and the connection with it."""
        if not self._raw.isclosed():
            self._raw.close()
            self._connection.close()

    def _release(self) -> None:
        self._raw.close()
        if not self._raw.will_close:
            self._idle.append(self._connection)


class Connections:
    """The connections to the server of an `Access`."""

    def __init__(self, access: Access, exec_certificate: tuple[bytes, bytes] | None) -> None:
        """`exec_certificate` is what a credential plugin gave. Raises ConfigError for what cannot be used."""
        server = access.server if "://" in access.server else f"http://{access.server}"
        self._server = _split(server, "server")
        self._proxy = _split(access.proxy_url, "proxy-url") if access.proxy_url else None
        secure = self._server.scheme == "https"
        self._tls = ssl_context(access, exec_certificate) if secure else None
        self._base = self._server.path.rstrip("/")
        self._headers: list[tuple[str, str]] = []
        if self._proxy is not None and not secure:
            # Without a tunnel the proxy reads the request itself, and must be told where it goes.
            self._base = f"http://{self._server.netloc}{self._base}"
            self._headers = _proxy_headers(self._proxy)
        self._tls_name = access.tls_server_name or self._server.hostname or ""
        self._idle: list[_Connection] = []

    def request(
        self,
        method: str,
        target: str,
        body: bytes | None,
        headers: Sequence[tuple[str, str]],
        seconds: float | None,
    ) -> Response:
        """Sends a request and returns its answer as soon as it begins. `seconds` limits each wait for the server.

        `target` is the path and the query, below the path of the server. Raises one of FAILURES.
        """
        connection = self._connection()
        try:
            if connection.sock is None:
                connection.connect()
            connection.sock.settimeout(seconds)
            connection.putrequest(method, self._base + target)
            for name, value in (*headers, *self._headers):
                check_header(value, f"the header {name}")
                connection.putheader(name, value.encode())
            if body is not None:
                connection.putheader("Content-Length", str(len(body)))
            connection.endheaders(body)
            return Response(connection.getresponse(), connection, self._idle)
        except BaseException:
            connection.close()
            raise

    def _connection(self) -> "_Connection":
        """One that is at rest, or a new one. What the server has closed meanwhile has something to read."""
        while self._idle:
            connection = self._idle.pop()
            if connection.sock is not None and not select.select([connection.sock], [], [], 0)[0]:
                return connection
            connection.close()
        return _Connection(self._server, self._tls, self._tls_name, self._proxy)


class _Connection(HTTPConnection):
    """A connection whose way is ours: TLS by another name than the host's, a tunnel through a proxy."""

    def __init__(
        self, server: SplitResult, tls: ssl.SSLContext | None, tls_name: str, proxy: SplitResult | None
    ) -> None:
        super().__init__(server.hostname or "", _port(server), timeout=CONNECT_SECONDS)
        self.default_port = _PORTS[server.scheme]
        self._tls = tls
        self._tls_name = tls_name
        self._proxy = proxy

    def connect(self) -> None:
        """Opens the connection. Raises OSError or HTTPException."""
        if self._proxy is None:
            sock = socket.create_connection((self.host, self.port), CONNECT_SECONDS)
        else:
            host = f"[{self.host}]" if ":" in self.host else self.host
            sock = _to_proxy(self._proxy, f"{host}:{self.port}" if self._tls else None)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            self.sock = sock if self._tls is None else _secured(sock, self._tls, self._tls_name)
        except BaseException:
            sock.close()
            raise


def _secured(sock: socket.socket, tls: ssl.SSLContext, name: str) -> Any:
    """TLS over a connection, which may be TLS itself: to a proxy."""
    if not isinstance(sock, ssl.SSLSocket):
        return tls.wrap_socket(sock, server_hostname=name)
    from urllib3.util.ssltransport import SSLTransport

    return SSLTransport(sock, tls, server_hostname=name)


def _to_proxy(proxy: SplitResult, host: str | None) -> socket.socket:
    """A connection to a proxy or, through its tunnel, to `host`."""
    kind = HTTPSConnection if proxy.scheme == "https" else HTTPConnection
    way = kind(proxy.hostname or "", _port(proxy), timeout=CONNECT_SECONDS)
    way.connect()
    sock: socket.socket = way.sock
    if host is None:
        return sock
    way.putrequest("CONNECT", host, skip_host=True, skip_accept_encoding=True)
    way.putheader("Host", host)
    for name, value in _proxy_headers(proxy):
        way.putheader(name, value)
    way.endheaders()
    answer = HTTPResponse(sock, method="CONNECT")
    answer.begin()
    if answer.status != 200:
        sock.close()
        raise OSError(f"the proxy {proxy.hostname} answered {answer.status} {answer.reason}")
    return sock


def _proxy_headers(proxy: SplitResult) -> list[tuple[str, str]]:
    """What a proxy is told where the kubeconfig has a user for it: `http://user:password@proxy`."""
    if proxy.username is None:
        return []
    return [("Proxy-Authorization", basic(unquote(proxy.username), unquote(proxy.password or "")))]


def _split(url: str, what: str) -> SplitResult:
    """The parts of a URL of the kubeconfig. Raises ConfigError where it is none that we can use."""
    try:
        parts = urlsplit(url)
        usable = parts.scheme not in _PORTS or bool(parts.hostname and _port(parts))
    except ValueError:
        usable = False
    if not usable:
        raise ConfigError(f"{what} {url!r} is not the URL of a server")
    if parts.scheme not in _PORTS:
        raise ConfigError(f"{what} {url!r}: only http and https proxies and servers are supported")
    return parts


def _port(parts: SplitResult) -> int:
    return parts.port or _PORTS[parts.scheme]
