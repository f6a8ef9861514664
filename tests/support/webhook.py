"""The operator's webhook in this process, called over HTTPS as the API server calls it."""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import ssl
import threading
from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlsplit

import urllib3

from compozy.cli.errors import CliError
from compozy.cli.failures import of_refused_response
from compozy.cli.kube.client import Identity
from compozy.cli.kube.errors import ApiError
from compozy.cli.kube.resources import Resource
from compozy.controllers.api_client import ApiError as OperatorApiError
from compozy.controllers.cache import Cache, Key
from compozy.controllers.judges import Judges
from compozy.controllers.metrics import Metrics
from compozy.controllers.settings import WebhookSettings
from compozy.controllers.webhook.issuing import make_issue
from compozy.controllers.webhook.reviewer import Reviewer
from compozy.controllers.webhook.server import Webhook
from compozy.controllers.webhook.tls import Tls
from support.answer_strategies import AGENT

Object = dict[str, Any]

LOOPBACK = "127.0.0.1"


class FixedCertificate:
    """One certificate for as long as the process lives."""

    def __init__(self) -> None:
        self.issue = make_issue([LOOPBACK], datetime.now(UTC), timedelta(days=1))

    async def refresh(self, tls: Tls) -> timedelta:
        tls.use(self.issue.certificate, self.issue.key)
        return timedelta(days=1)


class NoNews:
    """An API server that knows no more than the cache."""

    async def items(self, path: str) -> AsyncIterator[Object]:
        for item in ():
            yield item

    async def get(self, path: str) -> Object:
        if path.endswith("/unreadable"):
            raise OperatorApiError(500, "InternalError", "not now")
        raise OperatorApiError(404, "NotFound", path)


class RunningWebhook:
    """A webhook that serves, and a client that keeps its connection. Make one with `running`."""

    def __init__(self, url: str, authority: str, judges: Judges, loop: asyncio.AbstractEventLoop) -> None:
        self.url = url
        self.judges = judges
        self._loop = loop
        self._context = ssl.create_default_context(cadata=authority)
        self._pool = urllib3.PoolManager(maxsize=32, ssl_context=self._context, retries=False)

    def send(self, method: str, url: str, body: bytes | None = None, **headers: str) -> urllib3.BaseHTTPResponse:
        """One request, as it is."""
        return self._pool.request(method, url, body=body, headers=headers)

    def connect(self) -> ssl.SSLSocket:
        """A connection of one's own."""
        parts = urlsplit(self.url)
        assert parts.hostname and parts.port
        plain = socket.create_connection((parts.hostname, parts.port), timeout=30)
        return self._context.wrap_socket(plain, server_hostname=parts.hostname)

    def post(self, body: bytes, content_type: str = "application/json") -> urllib3.BaseHTTPResponse:
        """One POST where reviews are answered."""
        return self.send("POST", self.url, body, **{"Content-Type": content_type})

    def review(
        self, question: dict[str, Any], response: dict[str, Any], user: str, *groups: str
    ) -> dict[str, Any]:
        """Ask about an answer; the `response` of the reply."""
        return self.reply(review_of(question, response, user, *groups))

    def reply(self, review: dict[str, Any]) -> dict[str, Any]:
        """The `response` of the reply to a review."""
        told = self.post(json.dumps(review).encode())
        assert told.status == 200, told.data
        return dict(json.loads(told.data)["response"])

    def wait_for(self, work: Any) -> Any:
        """What a coroutine comes to in the loop of the webhook."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(60)


def review_of(question: Object, response: Object, user: str, *groups: str) -> Object:
    """The AdmissionReview of a write that answers a question."""
    return review_of_write(question, {**question, "response": response}, user, *groups)


def review_of_approval(question: Object, user: str, *groups: str) -> Object:
    """The AdmissionReview of a write that adds an approval of one's own."""
    approvals = [*(question.get("approvals") or ()), {"responder": user}]
    return review_of_write(question, {**question, "approvals": approvals}, user, *groups)


def review_of_write(old: Object, new: Object, user: str, *groups: str) -> Object:
    """The AdmissionReview of any write."""
    return {
        "apiVersion": "admission.k8s.io/v1",
        "kind": "AdmissionReview",
        "request": {
            "uid": "705ab4f5-6393-11e8-b7cc-42010a800002",
            "operation": "UPDATE",
            "userInfo": {"username": user, "groups": list(groups)},
            "object": new,
            "oldObject": old,
        },
    }


class KnownAgents:
    """The API server as far as the plugin reads it: there is one agent, and the runs of a cache."""

    def __init__(self, cache: Cache) -> None:
        self._cache = cache

    def get(self, resource: Resource, namespace: str, name: str) -> Object:
        run = self._cache.get("PlanRun", Key(namespace, name)) if resource.plural == "planruns" else None
        if run is not None:
            return run
        if (resource.plural, name) == ("agents", AGENT):
            return {}
        raise ApiError(404, "NotFound", f"there is no {name}")


def plugin_session(namespace: str, user: str, *groups: str, cache: Cache | None = None) -> Any:
    """As much of a session of the plugin as it takes to check an answer."""
    client = KnownAgents(cache or Cache())
    return SimpleNamespace(identity=Identity(user, groups), client=client, namespace=namespace)


def told_to_the_plugin(reply: Object) -> CliError | None:
    """What the plugin makes of a reply, once the API server has passed it on; None where it allows the write."""
    if reply["allowed"]:
        return None
    status = reply["status"]
    message = f'admission webhook "answers.compozy.dev" denied the request: {status["message"]}'
    return of_refused_response(ApiError.from_status(status["code"], {**status, "message": message}))


@contextlib.contextmanager
def running(cache: Cache) -> Iterator[RunningWebhook]:
    """A webhook that serves what a cache knows, in a thread, while the block lasts."""
    certificate, loop, ready, found = FixedCertificate(), asyncio.new_event_loop(), threading.Event(), []

    async def serve(over: asyncio.Event) -> None:
        judges = Judges(NoNews(), cache)  # type: ignore[arg-type]
        reviewer = Reviewer(NoNews(), cache, judges)  # type: ignore[arg-type]
        settings = WebhookSettings(LOOPBACK, 0)
        with judges:
            async with Webhook(settings, reviewer, certificate, Metrics(lambda: 0)) as webhook:
                found.append(RunningWebhook(webhook.url, certificate.issue.authority.decode(), judges, loop))
                ready.set()
                await over.wait()

    over = asyncio.Event()
    thread = threading.Thread(target=loop.run_until_complete, args=(serve(over),), daemon=True)
    thread.start()
    assert ready.wait(30), "the webhook did not start"
    try:
        yield found[0]
    finally:
        loop.call_soon_threadsafe(over.set)
        thread.join(30)
