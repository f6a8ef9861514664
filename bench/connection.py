"""HTTP to the API server: requests that must succeed, and watches."""

import base64
import json
import ssl
import tempfile
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import yaml

from bench.errors import BenchFailed

Object = dict[str, Any]

CONNECTIONS = 20
"""How many requests the driver has under way at once."""
WATCHES = 2


class Connection:
    """The API server behind a kubeconfig with a client certificate or a token. Make one with `connect`."""

    def __init__(self, session: aiohttp.ClientSession, server: str) -> None:
        self._session = session
        self._server = server

    async def call(self, method: str, path: str, body: Object | None = None) -> Object:
        """One request about objects; a PATCH is a merge patch. Raises BenchFailed where it is refused."""
        kind = "merge-patch+json" if method == "PATCH" else "json"
        data = None if body is None else json.dumps(body).encode()
        headers = {"Content-Type": f"application/{kind}"}
        return dict(json.loads(await self._raw(method, path, data, headers)))

    async def text(self, path: str) -> str:
        """What the API server answers that is not an object. Raises BenchFailed where it refuses."""
        return (await self._raw("GET", path, None, {})).decode()

    async def _raw(self, method: str, path: str, data: bytes | None, headers: dict[str, str]) -> bytes:
        async with self._session.request(method, self._server + path, data=data, headers=headers) as response:
            raw = await response.read()
        if response.status >= 300:
            raise BenchFailed(f"{method} {path}: {response.status} {raw[:500].decode('utf-8', 'replace')}")
        return raw

    async def watch(self, path: str, version: str, take: Callable[[str, Object], None]) -> None:
        """Give every change after a version to `take`, until cancelled. Raises BenchFailed when it cannot.

        The API server closes a watch that is slow to read, so as not to wait for it; what follows on the last
        version that was seen is then asked for again.
        """
        while True:
            async for event in self._events(f"{path}?watch=1&resourceVersion={version}"):
                if event["type"] == "ERROR":
                    raise BenchFailed(f"the watch of {path}: {event['object'].get('message')}")
                version = event["object"]["metadata"]["resourceVersion"]
                take(event["type"], event["object"])

    async def _events(self, path: str) -> AsyncIterator[Object]:
        rest = b""
        timeout = aiohttp.ClientTimeout(total=None)
        async with self._session.get(self._server + path, timeout=timeout) as response:
            if response.status >= 300:
                raise BenchFailed(f"the watch of {path}: {response.status}")
            async for chunk in response.content.iter_any():
                *lines, rest = (rest + chunk).split(b"\n")
                for line in lines:
                    yield json.loads(line)


@asynccontextmanager
async def connect(kubeconfig: Path) -> AsyncIterator[Connection]:
    """A connection while the block lasts."""
    config = yaml.safe_load(kubeconfig.read_text())
    cluster, user = config["clusters"][0]["cluster"], config["users"][0]["user"]
    connector = aiohttp.TCPConnector(ssl=_ssl_context(cluster, user), limit=CONNECTIONS + WATCHES)
    headers = {"Authorization": f"Bearer {user['token']}"} if "token" in user else {}
    async with aiohttp.ClientSession(connector=connector, headers=headers) as session:
        yield Connection(session, cluster["server"])


def _ssl_context(cluster: Object, user: Object) -> ssl.SSLContext:
    authority = base64.b64decode(cluster["certificate-authority-data"]).decode()
    context = ssl.create_default_context(cadata=authority)
    if "token" in user:
        return context
    with tempfile.TemporaryDirectory() as directory:
        pair = Path(directory, "pair.pem")
        pair.touch(mode=0o600)
        parts = (user["client-certificate-data"], user["client-key-data"])
        pair.write_bytes(b"\n".join(base64.b64decode(part) for part in parts))
        context.load_cert_chain(pair)
    return context
