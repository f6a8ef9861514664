"""The driver: starts runs, answers their questions, and sees on watches what becomes of them."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from bench.connection import CONNECTIONS, Connection, Object
from bench.errors import BenchFailed
from bench.sides import ANSWER, REQUESTS, Side

PHASE_SECONDS = 90.0
"""Longer than any phase may take."""
GAP_SECONDS = 0.1
"""Between a run that has finished and the next single answer."""
_RESPONSE = {"decision": "respond", "responder": "admin", "payload": ANSWER}
_BAD_ENDS = frozenset({"Failed", "Canceled"})


@dataclass(frozen=True, slots=True)
class Latency:
    """Seconds from one answer to its run having finished."""

    from_sending: float
    from_acknowledgement: float


class Driver:
    """Drives one side. Make one with `driving`."""

    def __init__(self, side: Side, connection: Connection) -> None:
        self._side = side
        self._connection = connection
        self._changed = asyncio.Event()
        self.request_of: dict[str, str] = {}
        """By run: the name of its question."""
        self._parked: dict[str, float] = {}
        self._finished: dict[str, float] = {}

    def take_request(self, kind: str, item: Object) -> None:
        """A change of a question."""
        if kind == "ADDED":
            run = item["spec"]["run"]
            self._parked.setdefault(run, time.perf_counter())
            self.request_of[run] = item["metadata"]["name"]
            self._changed.set()

    def take_run(self, kind: str, item: Object) -> None:
        """A change of a run."""
        phase, name = (item.get("status") or {}).get("phase"), item["metadata"]["name"]
        if kind == "MODIFIED" and phase in _BAD_ENDS:
            raise BenchFailed(f"run {name} of {self._side.name} is {phase}: {item['status']}")
        if kind == "MODIFIED" and phase == self._side.finished:
            self._finished.setdefault(name, time.perf_counter())
            self._changed.set()

    async def park(self, names: Sequence[str]) -> float:
        """Start runs; returns the seconds until all of them have asked."""
        began = time.perf_counter()
        await by_connections(self._start, names)
        return await self._all_in(self._parked, names) - began

    async def answer_all(self, names: Sequence[str]) -> float:
        """Answer runs; returns the seconds until all of them have finished."""
        began = time.perf_counter()
        await by_connections(self._answer, names)
        return await self._all_in(self._finished, names) - began

    async def answer_one(self, name: str) -> Latency:
        """Answer one run and wait until it has finished, and a moment longer."""
        sent = time.perf_counter()
        await self._answer(name)
        acknowledged = time.perf_counter()
        finished = await self._all_in(self._finished, [name])
        await asyncio.sleep(GAP_SECONDS)
        return Latency(finished - sent, finished - acknowledged)

    async def _start(self, name: str) -> None:
        await self._connection.call("POST", self._side.runs, self._side.run_named(name))

    async def _answer(self, name: str) -> None:
        await self._connection.call("PATCH", f"{REQUESTS}/{self.request_of[name]}", {"response": _RESPONSE})

    async def _all_in(self, moments: Mapping[str, float], names: Sequence[str]) -> float:
        """When the last of these was seen."""
        try:
            async with asyncio.timeout(PHASE_SECONDS):
                while not all(name in moments for name in names):
                    self._changed.clear()
                    await self._changed.wait()
        except TimeoutError:
            missing = sum(name not in moments for name in names)
            raise BenchFailed(
                f"{missing} of {len(names)} runs of {self._side.name} did not get there in {PHASE_SECONDS:.0f} s"
            ) from None
        return max(moments[name] for name in names)


async def by_connections(work: Callable[[str], Awaitable[None]], names: Sequence[str]) -> None:
    """Do the work for every name, as many at a time as there are connections."""
    left = iter(names)

    async def one_connection() -> None:
        for name in left:
            await work(name)

    async with asyncio.TaskGroup() as group:
        for _ in range(CONNECTIONS):
            group.create_task(one_connection())


@asynccontextmanager
async def driving(side: Side, connection: Connection) -> AsyncIterator[Driver]:
    """A driver whose watches last as long as the block."""
    driver = Driver(side, connection)
    watched: list[tuple[str, Callable[[str, Object], None]]] = [
        (REQUESTS, driver.take_request),
        (side.runs, driver.take_run),
    ]
    async with asyncio.TaskGroup() as group:
        tasks: list[asyncio.Task[Any]] = []
        for path, take in watched:
            version = (await connection.call("GET", path))["metadata"]["resourceVersion"]
            tasks.append(group.create_task(connection.watch(path, version, take)))
        try:
            yield driver
        finally:
            for task in tasks:
                task.cancel()


async def clear(side: Side, connection: Connection) -> None:
    """Delete every run, question and Event of the last life."""
    for path in (side.runs, REQUESTS, "/api/v1/namespaces/default/events"):
        await connection.call("DELETE", path)
