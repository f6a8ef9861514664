"""A proxy between the operator and the API server that kills the operator at its n-th write.

The kill is a real SIGKILL: either before the write reaches the API server, or after it was stored and before
the operator hears of it.
"""

import asyncio
import ssl
import threading
from collections.abc import Callable
from typing import Any, Literal

import aiohttp
from aiohttp import web

Moment = Literal["before", "after"]
WRITES = frozenset({"POST", "PUT", "PATCH", "DELETE"})
HOP_HEADERS = frozenset({"connection", "transfer-encoding", "content-length", "content-encoding", "host"})


class InterruptingProxy:
    """Serves plain HTTP on loopback and forwards to the API server. Use as a context manager."""

    def __init__(self, server: str, authority: str) -> None:
        self._server = server
        self._authority = authority
        self._kill: Callable[[], None] | None = None
        self._target = 0
        self._moment: Moment = "before"
        self._lock = threading.Lock()
        self._ready = threading.Event()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self.writes: list[str] = []
        """What was written since it was armed, as `METHOD path`."""
        self.killed = threading.Event()
        self.url = ""

    def arm(self, target: int, moment: Moment, kill: Callable[[], None]) -> None:
        """Kill at the write with this number, counted from 1."""
        with self._lock:
            self.writes, self._target, self._moment, self._kill = [], target, moment, kill
        self.killed.clear()

    def disarm(self) -> None:
        """Let everything pass."""
        with self._lock:
            self._kill = None

    def __enter__(self) -> "InterruptingProxy":
        self._thread.start()
        assert self._ready.wait(10)
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)

    def _serve(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_until_complete(self._start())
        self._loop.run_forever()
        self._loop.run_until_complete(self._stop())
        self._loop.close()

    async def _start(self) -> None:
        context = ssl.create_default_context(cadata=self._authority)
        connector = aiohttp.TCPConnector(ssl=context, limit=0)
        timeout = aiohttp.ClientTimeout(total=None)
        self._session = aiohttp.ClientSession(connector=connector, timeout=timeout, auto_decompress=False)
        app = web.Application(client_max_size=2**24)
        app.router.add_route("*", "/{path:.*}", self._forward)
        # Else the watches of those that were killed would go on.
        self._runner = web.AppRunner(app, access_log=None, handler_cancellation=True, shutdown_timeout=1)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        self.url = f"http://127.0.0.1:{self._runner.addresses[0][1]}"
        self._ready.set()

    async def _stop(self) -> None:
        await self._runner.cleanup()
        await self._session.close()

    def _counts(self, request: web.Request) -> bool:
        """Whether this is the write to be interrupted. Events tell what happened; they decide nothing.

        Asking who one is looks like a write, but stores nothing.
        """
        if request.method not in WRITES or request.path.endswith(("/events", "/selfsubjectreviews")):
            return False
        with self._lock:
            if self._kill is None or self.killed.is_set():
                return False
            self.writes.append(f"{request.method} {request.path}")
            return len(self.writes) == self._target

    def _die(self) -> None:
        self.killed.set()
        if self._kill is not None:
            self._kill()

    async def _forward(self, request: web.Request) -> web.StreamResponse:
        dies = self._counts(request)
        if dies and self._moment == "before":
            self._die()
            raise web.HTTPServiceUnavailable
        body = await request.read()
        headers = {name: value for name, value in request.headers.items() if name.lower() not in HOP_HEADERS}
        url = f"{self._server}{request.raw_path}"
        async with self._session.request(request.method, url, data=body or None, headers=headers) as answer:
            if dies:
                await answer.read()
                self._die()
                raise web.HTTPServiceUnavailable
            return await self._relay(request, answer)

    async def _relay(self, request: web.Request, answer: Any) -> web.StreamResponse:
        headers = {name: value for name, value in answer.headers.items() if name.lower() not in HOP_HEADERS}
        if "Content-Encoding" in answer.headers:
            headers["Content-Encoding"] = answer.headers["Content-Encoding"]
        response = web.StreamResponse(status=answer.status, headers=headers)
        try:
            await response.prepare(request)
            async for chunk in answer.content.iter_any():
                await response.write(chunk)
            await response.write_eof()
        except (ConnectionError, aiohttp.ClientError):
            pass
        return response
