"""What follows a turn when there is nothing more urgent: acknowledging answers, showing that a run waits,
telling how it ended, and deleting it after its time.

All of it is derived from what is stored, so it may be late, or be done by another operator.
"""

import logging
from datetime import UTC, datetime, timedelta

from compozy.controllers.answers import Answers
from compozy.controllers.cache import Cache, Item, Key, key_of
from compozy.controllers.metrics import Metrics
from compozy.controllers.recorder import LONGEST_WAIT_SECONDS, Recorder
from compozy.controllers.runs import is_final
from compozy.controllers.settings import Settings
from compozy.controllers.store import Gone, LostRace, Store
from compozy.controllers.work_queue import WorkQueue
from compozy.engine.state import RunState
from compozy.engine.times import parse_timestamp
from compozy.requests.state import state_of

LONGEST_ACKNOWLEDGEMENT_SECONDS = 1.0
"""How long an acknowledgement may wait for runs that are to go on."""

log = logging.getLogger(__name__)


class Aftercare:
    """Queues of what can wait, each behind the runs that are to go on."""

    def __init__(
        self,
        store: Store,
        cache: Cache,
        answers: Answers,
        recorder: Recorder,
        metrics: Metrics,
        settings: Settings,
        turns: WorkQueue[Key],
    ) -> None:
        self._store = store
        self._cache = cache
        self._answers = answers
        self._recorder = recorder
        self._metrics = metrics
        self._delay = settings.display_delay
        self._turns = turns
        self._to_show: set[Key] = set()
        self._acknowledgements: WorkQueue[Key] = WorkQueue(
            "acknowledgement", self._acknowledge, settings.concurrency
        )
        self._displays: WorkQueue[Key] = WorkQueue("display", self._display, 2)
        self._deletions: WorkQueue[Key] = WorkQueue("deletion", self._delete, 2)

    def acknowledge(self, request: Item) -> None:
        """Have it recorded that an answer was taken."""
        self._acknowledgements.add(key_of(request))

    def show_waiting(self, run: Item) -> None:
        """Have a run show, a moment later, that it waits for people."""
        self._displays.add_later(key_of(run), self._delay)

    def ended(self, run: Item, state: RunState) -> None:
        """A run has ended: tell it, and have it deleted after its time."""
        self._metrics.runs_finished.labels(state.phase).inc()
        self._recorder.tell(
            run,
            f"Run{state.phase}",
            state.message or state.phase,
            warning=state.phase == "Failed",
            once=f".{state.generation}",
        )
        self.delete_in_time(run, state.completed_at)

    def delete_in_time(self, run: Item, completed_at: str | None) -> None:
        """Have a run that has ended deleted when its `ttlSecondsAfterFinished` is over."""
        seconds = run["spec"].get("ttlSecondsAfterFinished")
        if seconds is None or completed_at is None:
            return
        left = parse_timestamp(completed_at) + timedelta(seconds=seconds) - datetime.now(UTC)
        self._deletions.add_later(key_of(run), max(left.total_seconds(), 0.0))

    async def close(self) -> None:
        """Stop working."""
        for queue in (self._acknowledgements, self._displays, self._deletions):
            await queue.close()

    async def _acknowledge(self, key: Key) -> None:
        await self._turns.until_quiet(0.0, LONGEST_ACKNOWLEDGEMENT_SECONDS)
        request = self._cache.get("HumanRequest", key)
        if request is None or not request.get("response") or state_of(request) != "Pending":
            return
        try:
            await self._answers.acknowledge(request, datetime.now(UTC))
        except LostRace:
            self._acknowledgements.add(key)
        except Gone:
            log.debug("request %s is gone", key)

    async def _display(self, key: Key) -> None:
        await self._turns.until_quiet(0.0, LONGEST_WAIT_SECONDS)
        self._to_show.add(key)
        self._turns.add(key)

    def is_to_be_shown(self, key: Key) -> bool:
        """Whether it is time that a run shows that it waits. It is told once."""
        shown = key in self._to_show
        self._to_show.discard(key)
        return shown

    async def _delete(self, key: Key) -> None:
        run = self._cache.get("PlanRun", key)
        if run is not None and is_final(run):
            await self._store.delete(run)
