"""Judges answers beside the event loop: a person writes what is judged, and it may take a second to look at.

Nearly all are quickly judged, though: these are judged at once, since to change the thread takes longer.

The operator and its webhook each have a few threads and both ask here, so that both come to the same verdict.
Of one person one answer at a time is judged: whoever sends many that take long waits for themselves.
"""

import asyncio
import contextlib
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar
from weakref import WeakValueDictionary

from compozy.controllers.api_client import ApiClient
from compozy.controllers.cache import Cache
from compozy.controllers.catalog import Catalog
from compozy.requests.respond import is_quickly_judged, judge
from compozy.requests.verdict import Identity, Refused, Verdict

THREADS = 2
"""More would not judge faster, but keep the event loop waiting longer for its turn."""

T = TypeVar("T")


class Judges:
    """Threads that judge. Use as a context manager."""

    def __init__(self, api: ApiClient, cache: Cache) -> None:
        self._api = api
        self._cache = cache
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="judge")
        self._refreshing = asyncio.Lock()
        self._turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        """By user: who holds it is judged."""

    async def verdict(
        self,
        request: Mapping[str, Any],
        response: Mapping[str, Any],
        identity: Identity,
        started_by: Sequence[str | None],
    ) -> Verdict:
        """Return whether `response` answers `request`: see `compozy.requests.respond.judge`.

        Before an entity is said to be missing, the API server is asked.
        """
        catalog = Catalog(self._cache, request["metadata"]["namespace"])

        def judged() -> Verdict:
            return judge(request, response, identity, started_by, catalog.has)

        if is_quickly_judged(request, response):
            return judged()
        verdict = await self._in_turn(identity.user, judged)
        if isinstance(verdict, Refused) and verdict.code == "input_validation":
            async with self._refreshing:  # one at a time: whoever can reach the webhook can bring this about
                await catalog.refresh(self._api)
            verdict = await self._in_turn(identity.user, judged)
        return verdict

    async def _in_turn(self, user: str, task: Callable[[], T]) -> T:
        """Have something done once nothing of the same user is being done. Who stops waiting leaves the queue."""
        loop, turn = asyncio.get_running_loop(), self._turns.setdefault(user, asyncio.Lock())
        await turn.acquire()
        future = self._threads.submit(task)

        def over(_: Future[T]) -> None:
            with contextlib.suppress(RuntimeError):  # the operator ends, and with it the loop
                loop.call_soon_threadsafe(turn.release)

        # A thread cannot be stopped: the turn lasts until it is done, though nobody may wait for it any more.
        future.add_done_callback(over)
        return await asyncio.wrap_future(future)

    async def work(self, task: Callable[[], T]) -> T:
        """Have something done on one of the threads."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, task)

    def __enter__(self) -> "Judges":
        return self

    def __exit__(self, *exc_info: object) -> None:
        # Whoever waited for a verdict is gone.
        self._threads.shutdown(wait=False, cancel_futures=True)
