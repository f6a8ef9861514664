"""`/healthz` and `/metrics`. Nothing here changes anything, and nothing needs credentials."""

import logging

from aiohttp import web
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

from compozy.controllers.metrics import Metrics
from compozy.controllers.settings import Settings
from compozy.controllers.watchdog import Watchdog

log = logging.getLogger(__name__)


class Web:
    """The operator's small web server. Use as an async context manager."""

    def __init__(self, settings: Settings, metrics: Metrics, watchdog: Watchdog) -> None:
        self._settings = settings
        self._metrics = metrics
        self._watchdog = watchdog
        self._runner: web.AppRunner | None = None

    async def __aenter__(self) -> "Web":
        app = web.Application()
        app.router.add_get("/healthz", self._healthz)
        app.router.add_get("/metrics", self._serve_metrics)
        self._runner = web.AppRunner(app, access_log=None)
        await self._runner.setup()
        site = web.TCPSite(self._runner, self._settings.listen_host, self._settings.listen_port)
        await site.start()
        host, port = self._runner.addresses[0][:2]
        log.info("healthz and metrics at http://%s:%s", host, port)
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        if self._runner is not None:
            await self._runner.cleanup()

    async def _healthz(self, _: web.Request) -> web.Response:
        if self._watchdog.is_alive:
            return web.Response(text="ok\n")
        return web.Response(status=500, text="a watch has gone silent: it does not bring back what was written\n")

    async def _serve_metrics(self, _: web.Request) -> web.Response:
        body = generate_latest(self._metrics.registry)
        return web.Response(body=body, headers={"Content-Type": CONTENT_TYPE_LATEST})
