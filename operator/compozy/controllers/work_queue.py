"""Keys to be worked on: each by one task at a time, and again when it was asked for meanwhile."""

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable, Hashable
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)

FIRST_RETRY_SECONDS = 0.2
LONGEST_RETRY_SECONDS = 60.0

log = logging.getLogger(__name__)


class WorkQueue(Generic[K]):
    """Runs `work(key)` for every key added. A failing key is tried again, ever more slowly.

    A key that is idle costs nothing.
    """

    def __init__(self, name: str, work: Callable[[K], Awaitable[None]], concurrency: int) -> None:
        self.name = name
        self._work = work
        self._slots = asyncio.Semaphore(concurrency)
        self._running: set[K] = set()
        self._again: set[K] = set()
        self._failures: dict[K, int] = {}
        self._timers: dict[K, asyncio.TimerHandle] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._closed = False
        self._busy_until = float("-inf")
        self._idle = asyncio.Event()
        self._idle.set()

    @property
    def is_idle(self) -> bool:
        """Whether nothing is being worked on."""
        return not self._running

    async def until_quiet(self, seconds: float, at_most: float) -> None:
        """Wait until nothing has been worked on for a while, but never longer than `at_most`."""
        loop = asyncio.get_running_loop()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(at_most):
                await self._idle.wait()
                while (left := self._busy_until + seconds - loop.time()) > 0:
                    await asyncio.sleep(left)
                    await self._idle.wait()

    def add(self, key: K) -> None:
        """Work on a key as soon as a slot is free."""
        if self._closed:
            return
        timer = self._timers.pop(key, None)
        if timer is not None:
            timer.cancel()
        if key in self._running:
            self._again.add(key)
            return
        self._running.add(key)
        self._idle.clear()
        task = asyncio.get_running_loop().create_task(self._run(key), name=f"{self.name}:{key}")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def add_later(self, key: K, seconds: float) -> None:
        """Work on a key after some time at the latest, unless it is added before."""
        loop, timer = asyncio.get_running_loop(), self._timers.get(key)
        if self._closed or (timer is not None and timer.when() <= loop.time() + seconds):
            return
        if timer is not None:
            timer.cancel()
        self._timers[key] = loop.call_later(seconds, self._due, key)

    def _due(self, key: K) -> None:
        self._timers.pop(key, None)
        self.add(key)

    async def _run(self, key: K) -> None:
        async with self._slots:
            try:
                await self._work(key)
                self._failures.pop(key, None)
            except Exception:  # noqa: BLE001 - whatever failed is tried again: the key must not be lost
                self._retry(key)
            finally:
                self._running.discard(key)
        if key in self._again:
            self._again.discard(key)
            self.add(key)
        if not self._running:
            self._busy_until = asyncio.get_running_loop().time()
            self._idle.set()

    def _retry(self, key: K) -> None:
        failures = self._failures[key] = self._failures.get(key, 0) + 1
        delay = min(FIRST_RETRY_SECONDS * 2 ** (failures - 1), LONGEST_RETRY_SECONDS)
        log.exception("%s %s failed; trying again in %.1f s", self.name, key, delay)
        self.add_later(key, delay)

    async def close(self) -> None:
        """Stop: what runs is cancelled; it is safe at any point."""
        self._closed = True
        for timer in self._timers.values():
            timer.cancel()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
