"""Kubernetes Events: what happened to a run and to its questions, for `kubectl describe` and `kubectl events`.

They are told after the fact and give way to everything that decides. An Event has a name that follows from
what it tells, so telling twice makes one.
"""

import asyncio
import logging
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from compozy.controllers.api_client import ApiClient, ApiError
from compozy.controllers.paths import events
from compozy.controllers.secrecy import Secrecy
from compozy.controllers.work_queue import WorkQueue
from compozy.engine.times import timestamp

QUIET_SECONDS = 0.3
"""How long nothing urgent must have been done before Events are told."""
TURN_SECONDS = 0.1
"""How long Events are told before it is asked again whether something urgent is being done."""
LONGEST_WAIT_SECONDS = 20.0
"""Under steady load Events are told all the same, after this long."""
MAX_MESSAGE = 1024
"""Longest message that an Event takes, in characters."""
MAX_QUEUED = 10_000
"""Events that wait to be told; above that the newest are dropped and counted in the log."""

log = logging.getLogger(__name__)


class Recorder:
    """Tells Events, one at a time, while nothing more urgent is being done."""

    def __init__(self, api: ApiClient, secrecy: Secrecy) -> None:
        self._api = api
        self._secrecy = secrecy
        self._queue: asyncio.Queue[dict[str, Any]] = asyncio.Queue(MAX_QUEUED)
        self._dropped = 0

    def tell(
        self, item: Mapping[str, Any], reason: str, message: str, warning: bool = False, once: str = ""
    ) -> None:
        """Tell an Event about an object.

        Args:
            item: the object that it is about.
            reason: CamelCase, one for each kind of happening.
            message: what happened, for people.
            warning: whether somebody should look.
            once: what tells this happening from others with the same reason.
        """
        metadata, now = item["metadata"], timestamp(datetime.now(UTC))
        name = f"{metadata['name']}.{metadata['uid'][:8]}.{reason.lower()}{once}"
        body = {
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {"name": name[:253], "namespace": metadata["namespace"]},
            "involvedObject": {
                "apiVersion": item["apiVersion"],
                "kind": item["kind"],
                "name": metadata["name"],
                "namespace": metadata["namespace"],
                "uid": metadata["uid"],
            },
            "reason": reason,
            "message": self._secrecy.text(message)[:MAX_MESSAGE],
            "type": "Warning" if warning else "Normal",
            "firstTimestamp": now[:19] + "Z",
            "lastTimestamp": now[:19] + "Z",
            "eventTime": now,
            "count": 1,
            "action": reason,
            "reportingComponent": "compozy.dev/operator",
            "reportingInstance": "compozy-operator",
            "source": {"component": "compozy-operator"},
        }
        try:
            self._queue.put_nowait(body)
        except asyncio.QueueFull:
            self._dropped += 1

    async def run(self, urgent: WorkQueue[Any]) -> None:
        """Tell until cancelled, whenever the urgent queue has nothing to do."""
        loop = asyncio.get_running_loop()
        started = float("-inf")
        while True:
            body = await self._queue.get()
            if loop.time() - started > TURN_SECONDS:
                await urgent.until_quiet(QUIET_SECONDS, LONGEST_WAIT_SECONDS)
                started = loop.time()
            try:
                await self._api.ensure(events(body["metadata"]["namespace"]), body)
            except (ApiError, OSError) as error:
                log.warning("Event %s was not told: %s", body["metadata"]["name"], error)
            if self._dropped:
                log.warning("%d Events were dropped: too many at once", self._dropped)
                self._dropped = 0
