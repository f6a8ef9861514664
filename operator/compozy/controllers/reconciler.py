"""One turn of a run: gather what is known, let the engine decide, write what it decided.

Whatever is interrupted between two writes is decided again, the same way:

- A question that is to be closed is closed before the run is written: if it was answered meanwhile, the answer
  counts and everything is decided anew.
- The run's status and the next questions are written at the same time; answers are acknowledged after. Each can
  be derived again from what the others left: a request's response is the answer, a node's result in the
  status says that it was taken, and a question has one name only.
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
from compozy.controllers.children import Children
from compozy.controllers.metrics import Metrics
from compozy.controllers.plans import PlanMissing, RevisionMissing
from compozy.controllers.proposals import Proposals, ProposalTooLarge
from compozy.controllers.recorder import Recorder
from compozy.controllers.records import Records
from compozy.controllers.run_status import (
    ended_from_outside,
    ended_status,
    retried_status,
    status_of,
    told_beside,
    waiting_for_plan,
)
from compozy.controllers.runs import Gatherer, RunView, generation_of, is_final
from compozy.controllers.secrecy import Secrecy
from compozy.controllers.settings import Settings
from compozy.controllers.store import Gone, LostRace, Store
from compozy.controllers.work_queue import WorkQueue
from compozy.engine.advance import Advance, settled
from compozy.engine.effects import Call, CancelCall, CancelRequest, Effect, OpenRequest
from compozy.engine.events import RunCanceled
from compozy.engine.generations import kept_for_another_attempt
from compozy.engine.ledger import Ledger, is_large
from compozy.engine.state import RunState
from compozy.engine.times import parse_timestamp
from compozy.language.compiled import CompiledPlan
from compozy.language.problems import InputsInvalid, PlanInvalid
from compozy.requests.closing import StatusOf, status_in, was_taken
from compozy.requests.opening import request_object
from compozy.requests.state import is_open, state_of

log = logging.getLogger(__name__)


class Reconciler:
    """Works on runs by key."""

    def __init__(
        self,
        store: Store,
        cache: Cache,
        gatherer: Gatherer,
        answers: Answers,
        records: Records,
        recorder: Recorder,
        metrics: Metrics,
        settings: Settings,
        children: Children,
        proposals: Proposals,
        secrecy: Secrecy,
    ) -> None:
        self._store = store
        self._cache = cache
        self._gatherer = gatherer
        self._answers = answers
        self._records = records
        self._recorder = recorder
        self._metrics = metrics
        self._secrecy = secrecy
        self.children = children
        self._proposals = proposals
        self.turns: WorkQueue[Key] = WorkQueue("run", self.reconcile, settings.concurrency)
        self._after = Aftercare(store, cache, answers, recorder, metrics, settings, self.turns)
        self._ended: tuple[tuple[str, str], StatusOf] | None = None
        """Of the run that has ended last: its version, and what has become of its nodes."""
        self.waiting_for_plan: dict[Key, set[Key]] = {}
        """By Plan: the runs that wait for it to be there."""

    async def reconcile(self, key: Key) -> None:
        """Work on a run until nothing is left to do for it now."""
        try:
            for request in self._cache.left_behind(key):
                await self._answers.cancel_orphan(request, datetime.now(UTC))
            run = self._cache.get("PlanRun", key)
            if run is None or run["metadata"].get("deletionTimestamp"):
                return
            if is_final(run):
                await self._settle_requests(run)
                if _is_to_be_tried_again(run):
                    await self._retry(run)
            else:
                await self._turn(await self.children.end_orphan(run))
        except LostRace:
            self._gatherer.forget(key)
            self._metrics.conflicts.inc()
            self.turns.add(key)
        except Gone:
            self._gatherer.forget(key)
            log.debug("run %s is gone", key)
        except BaseException:
            # What was worked out may be ahead of what is stored.
            self._gatherer.forget(key)
            raise

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
        paused = self.children.is_paused(run)
        gathered = await self._answers.gather(view, now, paused=paused)
        if run["spec"].get("canceled"):
            gathered.events.append(RunCanceled())
        elif paused:
            # What has happened counts when the run goes on.
            self._gatherer.forget(key_of(run))
            return
        begun = settled(view.plan, view.state, now)
        of_children = [event async for event in self.children.events(view, begun.state, now)]
        events = [*gathered.events, *of_children]
        result = await advance_with_calls(view, begun, events, now, self.children.refused)
        try:
            await self._commit(view, result, gathered.to_acknowledge, now)
        except ProposalTooLarge as error:
            await self._end(run, "Failed", "proposal_too_large", str(error), now)
        except ApiError as error:
            if not _is_unwritable(error):
                raise
            message = f"what the run has come to cannot be stored: {error.message[:500]}"
            await self._end(run, "Failed", "status_unwritable", message, now)

    async def _commit(self, view: RunView, result: Advance, to_acknowledge: list[Item], now: datetime) -> None:
        key, state = key_of(view.run), result.state
        unwanted = await self._take_away(view, result, to_acknowledge, now)
        has_news = await self._enter(view, result)
        writes: list[Awaitable[Any]] = [
            self._begin(view, effect, now) for effect in result.effects if _is_wanted(effect, state)
        ]
        if has_news or (self._after.is_to_be_shown(key) and len(state.requests)):
            writes.append(self._write(view, state, now))
        elif not (view.run.get("status") or {}).get("startedAt"):
            self._after.show_waiting(view.run)
        await _all(writes)
        await self._forget_proposals(view, result)
        for item in to_acknowledge:
            if item["metadata"]["name"] not in unwanted:
                self._after.acknowledge(item)
        self._gatherer.remember(view, state)
        if state.timers and not state.is_final:
            left = parse_timestamp(min(state.timers.values())) - datetime.now(UTC)
            self.turns.add_later(key, max(left.total_seconds(), 0.0))

    async def _forget_proposals(self, view: RunView, result: Advance) -> None:
        """What people have decided over has come to its end: nobody needs the exact parameters any more."""
        for path in result.changed:
            cell, node = result.state.cells.get(path), view.plan.node_at(path)
            if cell is not None and cell.is_final and node is not None and node.policy.review is not None:
                await self._proposals.forget(view.run, view.request_name(path, view.state.generation))

    async def _take_away(self, view: RunView, result: Advance, answered: list[Item], now: datetime) -> set[str]:
        """Close the questions and end the runs that nobody needs any more; returns the names of these questions.

        `answered` are those whose answers this turn knows: where it wants no answer, another has made it so.
        """
        namespace, unwanted = view.run["metadata"]["namespace"], set()
        known = {item["metadata"]["name"] for item in answered}
        for effect in result.effects:
            if isinstance(effect, CancelRequest):
                name = view.request_name(effect.node, effect.generation)
                unwanted.add(name)
                await self._cancel(self._cache.get("HumanRequest", Key(namespace, name)), name in known, now)
            elif isinstance(effect, CancelCall) and effect.kind == "run":
                await self.children.cancel(view, effect)
        return unwanted

    async def _enter(self, view: RunView, result: Advance) -> bool:
        """Bring the ledger up to date; what does not fit the status goes to objects of its own first.

        Returns whether something has to be stored: what has ended, and when what has not goes on by itself.
        """
        ledger, state, namespace = view.ledger, result.state, view.run["metadata"]["namespace"]
        has_news = state.is_final or state.generation != view.state.generation
        if state.generation != view.state.generation:
            ledger.pages.clear()
        for path in sorted(result.changed):
            cell = state.cells.get(path)
            if cell is None:
                ledger.discard(path)
                continue
            more = told_beside(view, state, path, self._cache, namespace)
            told = self._secrecy.cell(ledger.told_of(path, cell, more))
            await self._keep_apart(view.run, told)
            before = ledger.told.get(path) or {}
            has_news |= cell.is_final or any(
                told.get(key) != before.get(key) for key in ("until", "remainingSeconds", "attempt")
            )
            ledger.put(path, told)
        await self._page_out(view.run, view.plan, ledger)
        return has_news

    async def _page_out(self, run: Item, plan: CompiledPlan, ledger: Ledger) -> None:
        """Write what does not fit the status to pages."""
        while moving := ledger.overflow(plan.nodes):
            name = await self._records.write(run, {"nodes": ledger.page(plan, moving)})
            ledger.move(moving, name)

    async def _keep_apart(self, run: Item, told: dict[str, Any]) -> None:
        """Replace a large output by where it is kept."""
        size = is_large(told.get("output"))
        if size is not None:
            name = await self._records.write(run, {"output": told.pop("output")})
            told["outputRef"] = {"name": name, "bytes": size}

    async def _begin(self, view: RunView, effect: Effect, now: datetime) -> None:
        """Put a question, or start a run."""
        if isinstance(effect, OpenRequest):
            await self._open(view, effect, now)
        elif isinstance(effect, Call) and await self.children.start(view, effect):
            self.turns.add(key_of(view.run))

    async def _open(self, view: RunView, effect: OpenRequest, now: datetime) -> None:
        key, name = key_of(view.run), view.request_name(effect.node, effect.generation)
        if self._cache.get("HumanRequest", Key(key.namespace, name)) is not None:
            return
        address = view.plan.address_of(effect.node)
        if effect.proposal is not None:
            await self._proposals.keep(view.run, name, effect.proposal)
        redactor = self._secrecy.redactor
        wanted = request_object(effect, address, view.run, view.revision, view.expire_after, now, redactor)
        request, is_new = await self._store.create(wanted)
        if is_new:
            self._metrics.requests_opened.inc()
            self._recorder.tell(request, "RequestOpened", request["spec"]["prompt"])
        elif state_of(request) != "Pending" or request.get("response"):
            self._gatherer.tell(key, name)
            self.turns.add(key)

    async def _cancel(self, request: Item | None, is_known: bool, now: datetime) -> None:
        """Close a question. An answer that the turn knows is handed back; one that it does not may still count."""
        if request is None or state_of(request) != "Pending":
            return
        if request.get("response"):
            if not is_known:
                raise LostRace(request["metadata"]["name"])
            request = await self._answers.hand_back(request, "request_canceled", {}, now)
        await self._answers.cancel(request, now)

    async def _write(self, view: RunView, state: RunState, now: datetime) -> None:
        status = status_of(view, state, now)
        await self._keep_apart(view.run, status)
        if status != view.run.get("status"):
            await self._store.write_status(view.run, status)
        if state.is_final:
            self._after.ended(view.run, state)

    async def _retry(self, run: Item) -> None:
        """Open a new attempt of a run that has failed."""
        kept: dict[str, Any] = {"nodes": {}}
        if run["status"].get("nodes") or run["status"].get("pages"):
            plan, _, _ = await self._gatherer.plan_of(run)
            ledger = Ledger.of(plan, {"nodes": kept_for_another_attempt(plan, await self._records.nodes_of(run))})
            await self._page_out(run, plan, ledger)
            kept = {"nodes": ledger.nodes(plan), **({"pages": ledger.pages} if ledger.pages else {})}
        status = retried_status(run, kept, datetime.now(UTC))
        await self._store.write_status(run, status)
        attempt = status["generation"]
        self._recorder.tell(run, "RunRetried", f"attempt {attempt}", once=f".{attempt}")
        self.turns.add(key_of(run))

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
        for request in self._cache.unresolved_of(run):
            if is_open(request):
                await self._answers.cancel(request, now)
            elif was_taken(request, await self._statuses_of(run)):
                self._after.acknowledge(request)
            else:
                await self._answers.hand_back(request, "request_canceled", {}, now)
                raise LostRace(request["metadata"]["name"])
        self._after.delete_in_time(run, run["status"].get("completedAt"))

    async def _statuses_of(self, run: Item) -> StatusOf:
        """What has become of the nodes of a run that has ended. All of its questions ask, one by one."""
        metadata = run["metadata"]
        version = metadata["uid"], metadata["resourceVersion"]
        if self._ended is None or self._ended[0] != version:
            self._ended = version, status_in(await self._records.nodes_of(run))
        return self._ended[1]

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


def _is_wanted(effect: Effect, state: RunState) -> bool:
    """Whether something is to be begun that the run still waits for when the turn is over."""
    match effect:
        case OpenRequest():
            return effect.node in state.requests and effect.generation == state.generation
        case Call(kind="run"):
            return effect.node in state.calls and effect.generation == state.generation
    return False


def _is_to_be_tried_again(run: Item) -> bool:
    status = run["status"]
    return status["phase"] == "Failed" and (run["spec"].get("retries") or 0) >= (status.get("generation") or 1)
