"""One turn of a run: gather what is known, let the engine decide, write what it decided.

Whatever is interrupted between two writes is decided again, the same way:

- A question that is to be closed is closed before the run is written: if it was answered meanwhile, the answer
  counts and everything is decided anew.
- The run's status and the next questions are written at the same time; answers are acknowledged after. Each can
  be derived again from what the others left: a request's response is the answer, a node's result in the status
  says that it was taken, and a question has one name only.
- That a run waits is not written here at all: it follows from its requests. `aftercare` shows it a moment later.
"""

import asyncio
import logging
from collections.abc import Awaitable
from datetime import UTC, datetime
from typing import Any, Literal

from compozy.controllers.aftercare import Aftercare
from compozy.controllers.answers import Answers
from compozy.controllers.api_client import ApiError
from compozy.controllers.cache import Cache, Item, Key, key_of
from compozy.controllers.calls import advance_with_calls
from compozy.controllers.metrics import Metrics
from compozy.controllers.plans import PlanMissing, RevisionMissing
from compozy.controllers.recorder import Recorder
from compozy.controllers.run_status import ended_from_outside, ended_status, status_of, waiting_for_plan
from compozy.controllers.runs import Gatherer, RunView, generation_of, is_final
from compozy.controllers.settings import Settings
from compozy.controllers.store import Gone, LostRace, Store
from compozy.controllers.work_queue import WorkQueue
from compozy.engine.advance import Advance
from compozy.engine.effects import CancelRequest, OpenRequest
from compozy.engine.events import RunCanceled
from compozy.engine.state import RunState
from compozy.language.problems import InputsInvalid, PlanInvalid
from compozy.requests.closing import is_open, state_of, was_taken
from compozy.requests.opening import name_of, request_object

log = logging.getLogger(__name__)


class Reconciler:
    """Works on runs by key."""

    def __init__(
        self,
        store: Store,
        cache: Cache,
        gatherer: Gatherer,
        answers: Answers,
        recorder: Recorder,
        metrics: Metrics,
        settings: Settings,
    ) -> None:
        self._store = store
        self._cache = cache
        self._gatherer = gatherer
        self._answers = answers
        self._recorder = recorder
        self._metrics = metrics
        self.turns: WorkQueue[Key] = WorkQueue("run", self.reconcile, settings.concurrency)
        self._after = Aftercare(store, cache, gatherer, answers, recorder, metrics, settings, self.turns)
        self.waiting_for_plan: dict[Key, set[Key]] = {}
        """By Plan: the runs that wait for it to be there."""

    async def reconcile(self, key: Key) -> None:
        """Work on a run until nothing is left to do for it now."""
        run = self._cache.get("PlanRun", key)
        if run is None or run["metadata"].get("deletionTimestamp"):
            return
        try:
            if is_final(run):
                await self._settle_requests(run)
            else:
                await self._turn(run)
        except LostRace:
            self._metrics.conflicts.inc()
            self.turns.add(key)
        except Gone:
            log.debug("run %s is gone", key)

    async def _turn(self, run: Item) -> None:
        now = datetime.now(UTC)
        try:
            view = await self._gatherer.view(run)
        except PlanMissing as error:
            if run["spec"].get("canceled"):
                await self._end(run, "Canceled", "run_canceled", "the run was canceled", now)
            else:
                await self._wait_for_plan(run, str(error))
            return
        except (PlanInvalid, InputsInvalid, RevisionMissing) as error:
            await self._end(run, "Failed", *_cannot_run(error), now)
            return
        gathered = await self._answers.gather(view, now)
        if run["spec"].get("canceled"):
            gathered.events.append(RunCanceled())
        elif run["spec"].get("paused"):
            return
        result = advance_with_calls(view, gathered.events, now)
        try:
            await self._commit(view, result, gathered.to_acknowledge, now)
        except ApiError as error:
            if not _is_unwritable(error):
                raise
            message = f"what the run has come to cannot be stored: {error.message[:500]}"
            await self._end(run, "Failed", "status_unwritable", message, now)

    async def _commit(self, view: RunView, result: Advance, to_acknowledge: list[Item], now: datetime) -> None:
        requests = {item["metadata"]["name"]: item for item in view.requests}
        for effect in result.effects:
            if isinstance(effect, CancelRequest):
                await self._cancel(requests.get(name_of(effect, view.run)), now)
        writes: list[Awaitable[Any]] = [
            self._open(view, effect, now)
            for effect in _wanted(result)
            if name_of(effect, view.run) not in requests
        ]
        if _has_news(view.state, result.state):
            writes.append(self._write(view, result.state, now))
        elif not (view.run.get("status") or {}).get("startedAt"):
            self._after.show_waiting(view.run)
        await _all(writes)
        for item in to_acknowledge:
            self._after.acknowledge(item)

    async def _open(self, view: RunView, effect: OpenRequest, now: datetime) -> None:
        wanted = request_object(effect, view.run, view.revision, view.expire_after, now)
        request, is_new = await self._store.create(wanted)
        if is_new:
            self._metrics.requests_opened.inc()
            self._recorder.tell(request, "RequestOpened", request["spec"]["prompt"])
        elif state_of(request) != "Pending" or request.get("response"):
            self.turns.add(key_of(view.run))

    async def _cancel(self, request: Item | None, now: datetime) -> None:
        if request is None or state_of(request) != "Pending":
            return
        if request.get("response"):
            raise LostRace(request["metadata"]["name"])
        await self._answers.cancel(request, now)

    async def _write(self, view: RunView, state: RunState, now: datetime) -> None:
        await self._store.write_status(view.run, status_of(view, state, now))
        if state.is_final:
            self._after.ended(view.run, state)

    async def _wait_for_plan(self, run: Item, message: str) -> None:
        plan = Key(run["metadata"]["namespace"], run["spec"]["planRef"]["name"])
        self.waiting_for_plan.setdefault(plan, set()).add(key_of(run))
        status = waiting_for_plan(run, message, datetime.now(UTC))
        if status != run.get("status"):
            await self._store.write_status(run, status)

    async def _end(
        self, run: Item, phase: Literal["Failed", "Canceled"], reason: str, message: str, now: datetime
    ) -> None:
        """End a run that cannot begin, or cannot go on."""
        attended = self._gatherer.attended(run, has_asked=False)
        state = ended_from_outside(phase, reason, message, attended, generation_of(run), now)
        await self._store.write_status(run, ended_status(run, state))
        self._after.ended(run, state)

    async def _settle_requests(self, run: Item) -> None:
        """A run that has ended leaves no question open, and no answer unacknowledged."""
        now = datetime.now(UTC)
        for request in self._cache.requests_of(run):
            if is_open(request):
                await self._answers.cancel(request, now)
            elif state_of(request) == "Pending":
                if was_taken(request, run["status"].get("nodes") or {}):
                    self._after.acknowledge(request)
                else:
                    await self._answers.hand_back(request, "request_canceled", {}, now)
                    raise LostRace(request["metadata"]["name"])
        self._after.delete_in_time(run, run["status"].get("completedAt"))

    async def close(self) -> None:
        """Stop working."""
        await self.turns.close()
        await self._after.close()


async def _all(writes: list[Awaitable[Any]]) -> None:
    """Do all of it at once, whatever fails, then raise the first failure."""
    for outcome in await asyncio.gather(*writes, return_exceptions=True):
        if isinstance(outcome, BaseException):
            raise outcome


def _cannot_run(error: Exception) -> tuple[str, str]:
    """Reason and message of a run whose plan or inputs cannot be used."""
    match error:
        case PlanInvalid():
            return "plan_invalid", f"the plan cannot run: {error}"
        case InputsInvalid():
            return "inputs_invalid", f"the inputs do not fit: {error}"
    return "revision_missing", str(error)


def _is_unwritable(error: ApiError) -> bool:
    """Whether the API server or its store will never take what was to be written."""
    return error.status in (400, 413, 422) or (error.status == 500 and "too large" in error.message)


def _wanted(result: Advance) -> list[OpenRequest]:
    return [
        effect
        for effect in result.effects
        if isinstance(effect, OpenRequest) and _is_waiting(result.state, effect.node)
    ]


def _is_waiting(state: RunState, path: str) -> bool:
    cell = state.cells.get(path)
    return cell is not None and cell.status == "Waiting"


def _has_news(old: RunState, new: RunState) -> bool:
    """Whether something has ended that the status does not tell yet."""
    return new.is_final or any(cell.is_final and node_id not in old.cells for node_id, cell in new.cells.items())
