"""How long a person waits for the webhook: one review by itself, and a whole patch with and without it."""

import asyncio
import base64
import contextlib
import json
import ssl
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import aiohttp

from bench.connection import Connection, Object, connect
from bench.driver import clear, driving
from bench.errors import BenchFailed
from bench.sides import OURS, REQUESTS
from bench.usage import until_quiet
from compozy.api.webhook import CONFIGURATION
from controlplane import ControlPlane

REVIEWS = 500
PATCHES = 150
WARM_UP = 30
ANSWER_BYTES = 16 * 1024
SWITCH_SECONDS = 30.0
_CONFIGURATIONS = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"
_ANSWER = {"a": 1, "text": "x" * ANSWER_BYTES}


@dataclass(slots=True)
class Reviews:
    """Seconds of each call."""

    review: list[float] = field(default_factory=list)
    """One AdmissionReview over loopback HTTPS, on a connection that is open."""
    patch_with: list[float] = field(default_factory=list)
    patch_without: list[float] = field(default_factory=list)


async def reviews(cluster: ControlPlane, directory: Path) -> Reviews:
    """Measure the webhook of an operator at work. Raises BenchFailed."""
    measured = Reviews()
    async with connect(cluster.kubeconfig) as connection:
        with OURS.operator(cluster, directory / "webhook.log") as operator:
            async with driving(OURS, connection) as driver:
                await driver.park(["reviewed"])
                await until_quiet(operator)
                asked = await connection.call("GET", f"{REQUESTS}/{driver.request_of['reviewed']}")
                measured.review = await _reviewed(connection, asked)
                await _until(connection, asked, refused=True)
                measured.patch_with = await _patched(connection, asked)
                async with _switched_off(connection, asked):
                    measured.patch_without = await _patched(connection, asked)
        await clear(OURS, connection)
    return measured


async def _reviewed(connection: Connection, asked: Object) -> list[float]:
    client = (await _configuration(connection))["webhooks"][0]["clientConfig"]
    context = ssl.create_default_context(cadata=base64.b64decode(client["caBundle"]).decode())
    body = json.dumps(_review(asked)).encode()
    headers = {"Content-Type": "application/json"}
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(ssl=context), headers=headers) as session:

        async def review() -> None:
            async with session.post(client["url"], data=body) as response:
                told = json.loads(await response.read())
            if not told["response"]["allowed"]:
                raise BenchFailed(f"the webhook refuses: {told}")

        return await _timed(review, REVIEWS)


def _review(asked: Object) -> Object:
    response = {"decision": "respond", "responder": "admin", "payload": _ANSWER}
    return {
        "apiVersion": "admission.k8s.io/v1",
        "kind": "AdmissionReview",
        "request": {
            "uid": asked["metadata"]["uid"],
            "operation": "UPDATE",
            "userInfo": {"username": "admin", "groups": ["system:masters"]},
            "object": {**asked, "response": response},
            "oldObject": asked,
        },
    }


async def _patched(connection: Connection, asked: Object) -> list[float]:
    """Answers that the API server admits and does not store, so that one question is enough for all of them."""
    return await _timed(lambda: _patch(connection, asked, _ANSWER), PATCHES)


async def _patch(connection: Connection, asked: Object, payload: Object) -> None:
    response = {"decision": "respond", "responder": "admin", "payload": payload}
    await connection.call("PATCH", f"{REQUESTS}/{asked['metadata']['name']}?dryRun=All", {"response": response})


async def _timed(call: Callable[[], Awaitable[None]], samples: int) -> list[float]:
    taken = []
    for number in range(WARM_UP + samples):
        began = time.perf_counter()
        await call()
        if number >= WARM_UP:
            taken.append(time.perf_counter() - began)
    return taken


async def _configuration(connection: Connection) -> Object:
    return await connection.call("GET", f"{_CONFIGURATIONS}/{CONFIGURATION}")


@asynccontextmanager
async def _switched_off(connection: Connection, asked: Object) -> AsyncIterator[None]:
    before = await _configuration(connection)
    await connection.call("DELETE", f"{_CONFIGURATIONS}/{CONFIGURATION}")
    try:
        await _until(connection, asked, refused=False)
        yield
    finally:
        await connection.call("POST", _CONFIGURATIONS, {**before, "metadata": {"name": CONFIGURATION}})


async def _until(connection: Connection, asked: Object, *, refused: bool) -> None:
    """Wait until the API server asks the webhook, or does not."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(SWITCH_SECONDS):
            while await _is_refused(connection, asked) is not refused:
                await asyncio.sleep(0.05)
            return
    raise BenchFailed(f"the API server {'does not ask' if refused else 'still asks'} the webhook")


async def _is_refused(connection: Connection, asked: Object) -> bool:
    try:
        await _patch(connection, asked, {"a": "no number"})
    except BenchFailed:
        return True
    return False
