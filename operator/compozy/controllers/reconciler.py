"""One turn of a run: gather what is known, let the engine decide, write what it decided.

Whatever is interrupted between two writes is decided again, the same way:

- A question that is to be closed is closed before the run is written: if it was answered meanwhile, the answer
  counts and everything is decided anew.
- The run's status and the next questions are written at the same time; answers are acknowledged after. Each can
  be derived again from what the others left: a request's response is the answer, a node's result in the status
  says that it was taken, and a question has one name only.
- That a run waits is not written here at all: it follows from its requests. `display` shows it a moment later.
"""

import asyncio
import logging
from collections.abc import Awaitable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, Literal

from compozy.actions.unavailable import refuse
from compozy.controllers.answers import Answers
from compozy.controllers.api_client import ApiError
from compozy.controllers.cache import Cache, Item, Key, key_of
from compozy.controllers.conditions import condition, merged, run_conditions
from compozy.controllers.metrics import Metrics
from compozy.controllers.plans import PlanMissing, RevisionMissing
from compozy.controllers.recorder import LONGEST_WAIT_SECONDS, QUIET_SECONDS, Recorder
from compozy.controllers.runs import Gatherer, RunView, generation_of, is_final
from compozy.controllers.settings import Settings
from compozy.controllers.store import Gone, LostRace, Store
from compozy.controllers.work_queue import WorkQueue
from compozy.engine.advance import Advance, advance
from compozy.engine.effects import Call, CancelRequest, Effect, OpenRequest
from compozy.engine.events import RunCanceled
from compozy.engine.snapshot import to_status
from compozy.engine.state import RunState
from compozy.engine.times import parse_timestamp, timestamp
from compozy.language.problems import InputsInvalid, PlanInvalid
from compozy.requests.closing import is_open, state_of
from compozy.requests.opening import name_of, request_object

LONGEST_ACKNOWLEDGEMENT_SECONDS = 1.0
"""How long an acknowledgement may wait for runs that are to go on."""

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
        self._settings = settings
        self.turns: WorkQueue[Key] = WorkQueue("run", self.reconcile, settings.concurrency)
        self.acknowledgements: WorkQueue[Key] = WorkQueue(
            "acknowledgement", self._acknowledge, settings.concurrency
        )
        self.displays: WorkQueue[Key] = WorkQueue("display", self.display, 2)
        self.deletions: WorkQueue[Key] = WorkQueue("deletion", self._delete, 2)
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
        result = _with_calls(view, advance(view.plan, view.state, gathered.events, now), now)
        try:
            await self._commit(view, result, gathered.to_acknowledge, now)
        except ApiError as error:
            if not _is_too_large(error):
                raise
            message = f"the run's status cannot be stored: {error.message[:500]}"
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
            self.displays.add_later(_key(view.run), self._settings.display_delay)
        await _all(writes)
        for item in to_acknowledge:
            self.acknowledgements.add(key_of(item))

    async def _open(self, view: RunView, effect: OpenRequest, now: datetime) -> None:
        wanted = request_object(effect, view.run, view.revision, view.expire_after, now)
        request, is_new = await self._store.create(wanted)
        if is_new:
            self._metrics.requests_opened.inc()
            self._recorder.tell(request, "RequestOpened", request["spec"]["prompt"])
        elif state_of(request) != "Pending" or request.get("response"):
            self.turns.add(_key(view.run))

    async def _cancel(self, request: Item | None, now: datetime) -> None:
        if request is None or state_of(request) != "Pending":
            return
        if request.get("response"):
            raise LostRace(request["metadata"]["name"])
        await self._answers.cancel(request, now)

    async def _write(self, view: RunView, state: RunState, now: datetime) -> None:
        await self._store.write_status(view.run, self._status(view, state, now))
        if state.is_final:
            self._tell_end(view.run, state)
            self._delete_later(view.run, state.completed_at)

    def _status(self, view: RunView, state: RunState, now: datetime) -> dict[str, Any]:
        names = {item["spec"]["node"]: item["metadata"]["name"] for item in view.requests}
        status = to_status(state)
        for node_id, node in status["nodes"].items():
            if node_id in names:
                node["request"] = names[node_id]
        waiting = sum(1 for cell in state.cells.values() if cell.status == "Waiting")
        generation = view.run["metadata"]["generation"]
        status["pendingRequests"] = waiting
        status["observedGeneration"] = generation
        if view.revision is not None:
            status["revision"] = view.revision
        old = (view.run.get("status") or {}).get("conditions")
        status["conditions"] = merged(old, run_conditions(state, waiting, generation, timestamp(now)))
        return status

    async def display(self, key: Key) -> None:
        """Show on a run that it waits, and for how many people."""
        run = self._cache.get("PlanRun", key)
        if run is None or run["metadata"].get("deletionTimestamp") or is_final(run):
            return
        await self.turns.until_quiet(QUIET_SECONDS, LONGEST_WAIT_SECONDS)
        run = self._cache.get("PlanRun", key)
        if run is None or is_final(run):
            return
        try:
            view = await self._gatherer.view(run)
            if not view.requests:
                return
            opened = min(item["metadata"]["creationTimestamp"] for item in view.requests)
            begun = replace(view.state, started_at=view.state.started_at or opened)
            now = datetime.now(UTC)
            state = _with_calls(view, advance(view.plan, begun, (), now), now).state
            if not state.is_final:
                await self._store.write_status(run, self._status(view, state, now))
        except (LostRace, Gone, PlanMissing, RevisionMissing):
            self.turns.add(key)

    async def _wait_for_plan(self, run: Item, message: str) -> None:
        metadata = run["metadata"]
        plan = Key(metadata["namespace"], run["spec"]["planRef"]["name"])
        self.waiting_for_plan.setdefault(plan, set()).add(_key(run))
        generation, old = metadata["generation"], run.get("status") or {}
        now = timestamp(datetime.now(UTC))
        conditions = [
            condition("Succeeded", None, "PlanMissing", message, generation, now),
            condition("Reconciling", True, "PlanMissing", message, generation, now),
        ]
        status = {
            "phase": "Pending",
            "observedGeneration": generation,
            "conditions": merged(old.get("conditions"), conditions),
        }
        if {**old, **status} != old:
            await self._store.write_status(run, status)

    async def _end(
        self, run: Item, phase: Literal["Failed", "Canceled"], reason: str, message: str, now: datetime
    ) -> None:
        """End a run that cannot begin, or cannot go on. What its status already tells is kept."""
        moment, generation = timestamp(now), run["metadata"]["generation"]
        state = RunState(
            inputs={},
            attended=self._gatherer.attended(run, has_asked=False),
            generation=generation_of(run),
            phase=phase,
            reason=reason,
            message=message,
            started_at=moment,
            completed_at=moment,
        )
        old = run.get("status") or {}
        status = {**to_status(state), **{key: old[key] for key in _KEPT if key in old}}
        status["observedGeneration"], status["pendingRequests"] = generation, 0
        conditions = run_conditions(state, 0, generation, moment)
        status["conditions"] = merged(old.get("conditions"), conditions)
        await self._store.write_status(run, status)
        self._tell_end(run, state)
        self._delete_later(run, moment)

    async def _settle_requests(self, run: Item) -> None:
        """A run that has ended leaves no question open, and no answer unacknowledged."""
        now = datetime.now(UTC)
        nodes = run["status"].get("nodes") or {}
        for request in self._cache.requests_of(run):
            if is_open(request):
                await self._answers.cancel(request, now)
            elif state_of(request) == "Pending":
                taken = nodes.get(request["spec"]["node"], {}).get("status") in ("Succeeded", "Failed")
                if taken:
                    self.acknowledgements.add(key_of(request))
                else:
                    await self._answers.hand_back(request, "request_canceled", {}, now)
                    raise LostRace(request["metadata"]["name"])
        self._delete_later(run, run["status"].get("completedAt"))

    async def _acknowledge(self, key: Key) -> None:
        """Record that an answer was taken. Runs that are to go on come first: people wait for them."""
        await self.turns.until_quiet(0.0, LONGEST_ACKNOWLEDGEMENT_SECONDS)
        request = self._cache.get("HumanRequest", key)
        if request is None or not request.get("response") or state_of(request) != "Pending":
            return
        try:
            await self._answers.acknowledge(request, datetime.now(UTC))
        except LostRace:
            self.acknowledgements.add(key)
        except Gone:
            log.debug("request %s is gone", key)

    def _tell_end(self, run: Item, state: RunState) -> None:
        self._metrics.runs_finished.labels(state.phase).inc()
        self._recorder.tell(
            run,
            f"Run{state.phase}",
            state.message or state.phase,
            warning=state.phase == "Failed",
            once=f".{state.generation}",
        )

    def _delete_later(self, run: Item, completed_at: str | None) -> None:
        seconds = run["spec"].get("ttlSecondsAfterFinished")
        if seconds is None or completed_at is None:
            return
        left = parse_timestamp(completed_at) + timedelta(seconds=seconds) - datetime.now(UTC)
        self.deletions.add_later(_key(run), max(left.total_seconds(), 0.0))

    async def _delete(self, key: Key) -> None:
        run = self._cache.get("PlanRun", key)
        if run is not None and is_final(run):
            await self._store.delete(run)

    async def close(self) -> None:
        """Stop working."""
        for queue in (self.turns, self.acknowledgements, self.displays, self.deletions):
            await queue.close()


_KEPT = ("nodes", "stepsExecuted", "startedAt", "revision", "attended")
"""What of a status stays when a run is ended from outside of its plan."""


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


def _is_too_large(error: ApiError) -> bool:
    """Whether the API server or its store will never take what was to be written."""
    return error.status in (400, 413, 422) or (error.status == 500 and "too large" in error.message)


def _key(run: Item) -> Key:
    return Key(run["metadata"]["namespace"], run["metadata"]["name"])


def _with_calls(view: RunView, result: Advance, now: datetime) -> Advance:
    """Go on with what was called. Nothing can be called yet, so every call fails at once."""
    effects = list(result.effects)
    while not result.state.is_final:
        events = [refuse(effect) for effect in result.effects if isinstance(effect, Call)]
        if not events:
            break
        result = advance(view.plan, result.state, events, now)
        effects += result.effects
    return Advance(result.state, tuple(effects))


def _wanted(result: Advance) -> list[OpenRequest]:
    effects: tuple[Effect, ...] = result.effects
    return [
        effect for effect in effects if isinstance(effect, OpenRequest) and _is_waiting(result.state, effect.node)
    ]


def _is_waiting(state: RunState, path: str) -> bool:
    cell = state.cells.get(path)
    return cell is not None and cell.status == "Waiting"


def _has_news(old: RunState, new: RunState) -> bool:
    """Whether something has ended that the status does not tell yet."""
    return new.is_final or any(cell.is_final and node_id not in old.cells for node_id, cell in new.cells.items())
