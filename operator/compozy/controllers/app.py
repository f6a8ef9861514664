"""The parts of the operator, joined."""

import asyncio
import logging
from collections.abc import Coroutine
from contextlib import AsyncExitStack
from typing import Any

from compozy.controllers.answers import Answers
from compozy.controllers.api_client import ApiClient, ApiError
from compozy.controllers.cache import Cache, Key
from compozy.controllers.children import Children
from compozy.controllers.judges import Judges
from compozy.controllers.metrics import Metrics
from compozy.controllers.paths import all_of
from compozy.controllers.plans import Plans
from compozy.controllers.proposals import Proposals
from compozy.controllers.reconciler import Reconciler
from compozy.controllers.recorder import Recorder
from compozy.controllers.records import Records
from compozy.controllers.runs import Gatherer
from compozy.controllers.secrecy import Secrecy
from compozy.controllers.settings import Settings, WebhookSettings
from compozy.controllers.store import Store
from compozy.controllers.watchdog import Watchdog
from compozy.controllers.web import Web
from compozy.controllers.webhook.certificates import Certificates, FromDirectory, SelfMade
from compozy.controllers.webhook.reviewer import Reviewer
from compozy.controllers.webhook.server import Webhook
from compozy.controllers.work_queue import WorkQueue
from compozy.requests.state import is_open

SWEEP_SECONDS = 600.0
KINDS = ("Plan", "Agent", "CatalogEntry", "HumanRequest", "PlanRun")
PLAN_CONCURRENCY = 4

log = logging.getLogger(__name__)


class App:
    """Everything that an operator process holds. Use as an async context manager."""

    def __init__(self, api: ApiClient, settings: Settings, user: str, secrecy: Secrecy) -> None:
        """`user` is the operator as the API server knows it."""
        self._api = api
        self._stack = AsyncExitStack()
        self.settings = settings
        self.cache = Cache(operator=user)
        self.metrics = Metrics(lambda: sum(map(is_open, self.cache.all("HumanRequest"))))
        self.watchdog = Watchdog()
        store = Store(api, self.cache, self.watchdog, secrecy)
        self.plans = Plans(api, store, self.cache)
        records = Records(api)
        self.gatherer = Gatherer(self.cache, self.plans, records, settings)
        self.recorder = Recorder(api, secrecy)
        self.proposals = Proposals(api, self.cache, settings.namespace)
        self._judges = Judges(api, self.cache)
        self.answers = Answers(self._judges, store, self.cache, self.recorder, self.metrics, self.proposals)
        children = Children(store, self.cache, records, self.plans, user)
        self.reconciler = Reconciler(
            store,
            self.cache,
            self.gatherer,
            self.answers,
            records,
            self.recorder,
            self.metrics,
            settings,
            children,
            self.proposals,
            secrecy,
        )
        self.plan_turns: WorkQueue[Key] = WorkQueue("plan", self.plans.reconcile, PLAN_CONCURRENCY)
        self.web = Web(settings, self.metrics, self.watchdog)
        self.webhook = None if settings.webhook is None else self._webhook_for(api, settings.webhook)
        self._tasks: list[asyncio.Task[None]] = []

    async def __aenter__(self) -> "App":
        await self._fill()
        self._stack.enter_context(self._judges)
        if self.webhook is not None:
            await self._stack.enter_async_context(self.webhook)
        await self._stack.enter_async_context(self.web)
        self._start(self.recorder.run(urgent=self.reconciler.turns))
        self._start(self._sweep())
        return self

    def _webhook_for(self, api: ApiClient, settings: WebhookSettings) -> Webhook:
        # Threads of its own: what anybody may ask the webhook must not hold up what the operator judges.
        judges = self._stack.enter_context(Judges(api, self.cache))
        certificates: Certificates = SelfMade(api, self.settings.namespace, settings.lifetime)
        if settings.certificates is not None:
            certificates = FromDirectory(settings.certificates)
        return Webhook(settings, Reviewer(api, self.cache, judges), certificates, self.metrics)

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        self._tasks.append(asyncio.get_running_loop().create_task(work))

    async def _fill(self) -> None:
        """Know every object before the first turn: a run must not be looked at without its questions."""
        for kind in KINDS:
            async for item in self._api.items(all_of(kind)):
                self.cache.put(item)
        async for item in self._api.items("/api/v1/namespaces"):
            self.cache.put(item)
        await self.plans.load()

    async def _sweep(self) -> None:
        while True:
            await asyncio.sleep(SWEEP_SECONDS)
            try:
                await self.plans.sweep()
                await self.proposals.sweep()
            except (ApiError, OSError) as error:
                log.warning("unused revisions and proposals were not swept: %s", error)

    async def __aexit__(self, *exc_info: object) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self.reconciler.close()
        await self.plan_turns.close()
        await self._stack.aclose()
