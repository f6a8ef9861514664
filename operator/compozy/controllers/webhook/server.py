"""The HTTPS server that the API server calls. It changes nothing, whoever calls it, and it bounds what it takes.

It does not know who calls: API servers do not say who they are unless they are configured to. Whoever reaches
it can learn what the API server learns, whether an answer would be admitted.
"""

import asyncio
import json
import logging
import time

from aiohttp import ClientError, web

from compozy.api.webhook import PATH, TIMEOUT_SECONDS
from compozy.controllers.api_client import ApiError
from compozy.controllers.metrics import Metrics
from compozy.controllers.settings import WebhookSettings
from compozy.controllers.webhook.certificates import Certificates
from compozy.controllers.webhook.reviewer import Reviewer, TooMany
from compozy.controllers.webhook.tls import Tls
from compozy.requests.admission import ReviewInvalid
from compozy.requests.verdict import Refused

MAX_BODY = 8 * 1024 * 1024
"""Two objects, as large as the API server takes any, and what is around them."""
SECONDS = float(TIMEOUT_SECONDS)
"""As long as the API server waits for us: whatever is not begun by then is never begun."""
MOST_AT_ONCE = 64
KEEP_ALIVE_SECONDS = 120.0
"""Longer than the API server keeps a connection that it does not use: so it never calls into one that closes."""

log = logging.getLogger(__name__)


class Webhook:
    """The server and the task that keeps its certificate. Use as an async context manager."""

    def __init__(
        self, settings: WebhookSettings, reviewer: Reviewer, certificates: Certificates, metrics: Metrics
    ) -> None:
        self._settings = settings
        self._reviewer = reviewer
        self._certificates = certificates
        self._metrics = metrics
        self._tls = Tls()
        self._under_way = 0
        self._runner: web.AppRunner | None = None
        self._keeping: asyncio.Task[None] | None = None

    async def __aenter__(self) -> "Webhook":
        app = web.Application(client_max_size=MAX_BODY)
        app.router.add_post(PATH, self._review)
        self._runner = web.AppRunner(
            app,
            access_log=None,
            keepalive_timeout=KEEP_ALIVE_SECONDS,
            shutdown_timeout=SECONDS,
            handler_cancellation=True,  # of whoever hangs up nothing is judged that has yet to begin
        )
        await self._runner.setup()
        host, port = self._settings.host, self._settings.port
        # Replicas on one machine share the port, as those in a cluster share a Service.
        site = web.TCPSite(self._runner, host, port, ssl_context=self._tls.context, reuse_port=True)
        await site.start()
        pause = await self._certificates.refresh(self._tls)
        self._keeping = asyncio.get_running_loop().create_task(self._keep(pause.total_seconds()))
        log.info("the webhook for answers is at %s", self.url)
        return self

    @property
    def url(self) -> str:
        """Where it answers, while it does."""
        if self._runner is None:
            raise RuntimeError("the webhook does not serve; use `async with`")
        host, port = self._runner.addresses[0][:2]
        return f"https://{host}:{port}{PATH}"

    async def __aexit__(self, *exc_info: object) -> None:
        await self.stop()

    async def stop(self) -> None:
        """Answer what was asked, and no more. Idempotent."""
        if self._keeping is not None:
            self._keeping.cancel()
            await asyncio.gather(self._keeping, return_exceptions=True)
        if self._runner is not None:
            await self._runner.cleanup()

    async def _keep(self, pause: float) -> None:
        while True:
            await asyncio.sleep(pause)
            pause = (await self._certificates.refresh(self._tls)).total_seconds()

    async def _review(self, request: web.Request) -> web.Response:
        if request.content_type != "application/json":
            raise web.HTTPUnsupportedMediaType(text="the body must be application/json\n")
        if self._under_way >= MOST_AT_ONCE:
            raise web.HTTPServiceUnavailable(text="too many answers at once\n")
        self._under_way += 1
        deadline = asyncio.get_running_loop().time() + SECONDS
        try:
            body = await _body_of(request, deadline)
            async with asyncio.timeout_at(deadline):
                return await self._reviewed(body)
        except ReviewInvalid as error:
            self._metrics.answers_reviewed.labels("invalid").inc()
            raise web.HTTPBadRequest(text=f"{error}\n") from None
        except TooMany as error:
            raise web.HTTPServiceUnavailable(text=f"{error}\n") from None
        except (ApiError, ClientError, TimeoutError) as error:
            log.warning("an answer could not be judged: %r", error)
            raise web.HTTPServiceUnavailable(text="what the answer depends on cannot be read now\n") from None
        finally:
            self._under_way -= 1

    async def _reviewed(self, body: bytes) -> web.Response:
        began = time.perf_counter()
        verdict, told = await self._reviewer.review(body)
        self._metrics.review_seconds.observe(time.perf_counter() - began)
        outcome = verdict.code if isinstance(verdict, Refused) else "allowed"
        self._metrics.answers_reviewed.labels(outcome).inc()
        return web.Response(body=json.dumps(told).encode(), content_type="application/json")


async def _body_of(request: web.Request, deadline: float) -> bytes:
    try:
        async with asyncio.timeout_at(deadline):
            return await request.read()
    except TimeoutError:
        raise web.HTTPRequestTimeout(text="the body did not come in time\n") from None
