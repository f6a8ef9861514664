"""The questions of a run as events for the engine: answers judged, deadlines kept, the rest as recorded."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from typing import Any

from compozy.controllers.approving import Approvals, rejected, told_of
from compozy.controllers.cache import Cache, Item
from compozy.controllers.conditions import condition
from compozy.controllers.judges import Judges
from compozy.controllers.lineage import starters
from compozy.controllers.metrics import Metrics
from compozy.controllers.proposals import Proposals
from compozy.controllers.recorder import Recorder
from compozy.controllers.runs import RunView
from compozy.controllers.store import LostRace, Store
from compozy.engine.events import Event, RequestAnswered, RequestCanceled
from compozy.engine.times import parse_timestamp, timestamp
from compozy.language.problems import faults_line
from compozy.requests.approvals import progress
from compozy.requests.closing import event_of, event_of_response, was_taken
from compozy.requests.state import final_state_of, is_open, state_of
from compozy.requests.verdict import Identity, Refused


@dataclass(slots=True)
class Gathered:
    """What the questions of a run come to."""

    events: list[Event] = field(default_factory=list)
    to_acknowledge: list[Item] = field(default_factory=list)
    """Requests with an admitted answer whose state does not say so yet."""


class Answers:
    """Turns the requests of a run into events, and writes on requests what becomes of them."""

    def __init__(
        self,
        judges: Judges,
        store: Store,
        cache: Cache,
        recorder: Recorder,
        metrics: Metrics,
        proposals: Proposals,
    ) -> None:
        self._judges = judges
        self._proposals = proposals
        self._store = store
        self._cache = cache
        self._recorder = recorder
        self._metrics = metrics
        self._approvals = Approvals(store, cache, recorder, metrics)
        self.seen_at: dict[str, float] = {}
        """By uid: when an answer was first seen, in monotonic seconds."""

    async def gather(self, view: RunView, now: datetime, *, paused: bool = False) -> Gathered:
        """What has become of the questions. Expires those that are due, unless paused. Raises LostRace."""
        gathered = Gathered()
        canceled = view.run["spec"].get("canceled")
        unwanted = set(view.run["spec"].get("canceledRequests") or ())
        for found in view.requests:
            request = await self._approvals.weed(view, found, now)
            if request.get("response") and state_of(request) == "Pending":
                await self._judge(view, request, gathered, now)
            elif is_open(request):
                if request["metadata"]["name"] in unwanted and not canceled:
                    await self.cancel(request, now)
                    gathered.events.append(RequestCanceled(view.path_of(request)))
                elif not (paused or canceled) and _is_due(request, now):
                    gathered.events.append(await self.expire(view, request, now))
            else:
                event = event_of(request, view.path_of(request))
                if event is not None and not (canceled and isinstance(event, RequestCanceled)):
                    gathered.events.append(await self._with_proposal(view, request, event))
        gathered.events.sort(key=_order)
        return gathered

    async def _judge(self, view: RunView, request: Item, gathered: Gathered, now: datetime) -> None:
        if was_taken(request, partial(_status_of, view)):
            # The run has gone on already: the operator stopped between its two writes.
            gathered.to_acknowledge.append(request)
            return
        standing = self._approvals.standing(view, request)
        refused = await self._verdict(view, {**request, "approvals": standing})
        if refused is None:
            event = event_of_response(request, view.path_of(request))
            gathered.events.append(await self._with_proposal(view, request, event))
            gathered.to_acknowledge.append(request)
        else:
            await self.hand_back(request, refused.code, refused.details, now, standing)
            self._approvals.tell_refused(view, request)

    async def _with_proposal(self, view: RunView, request: Item, event: Event) -> Event:
        """An approval with exactly what was approved, where the action has yet to come to its end."""
        if not isinstance(event, RequestAnswered) or event.decision != "approve" or event.digest is None:
            return event
        cell = view.state.cells.get(event.node)
        if cell is not None and cell.is_final:
            return event
        return replace(event, proposal=await self._proposals.read(view.run, request["metadata"]["name"]))

    async def _verdict(self, view: RunView, request: Item) -> Refused | None:
        response = request["response"]
        identity = Identity.of_user(response["responder"])
        unanswered = {key: value for key, value in request.items() if key != "response"}
        verdict = await self._judges.verdict(unanswered, response, identity, starters(self._cache, view.run))
        return verdict if isinstance(verdict, Refused) else None

    async def expire(self, view: RunView, request: Item, now: datetime) -> Event:
        """Close a question whose time is up. Raises LostRace where somebody answered first."""
        closed = await self._close(request, "Expired", "its time was up", now)
        event = event_of(closed, view.path_of(request))
        if event is None:
            raise LostRace(request["metadata"]["name"])
        return event

    async def cancel(self, request: Item, now: datetime, why: str = "nobody needs to answer any more") -> None:
        """Close a question that nobody needs to answer any more. Raises LostRace where it was answered."""
        await self._close(request, "Canceled", why, now)

    async def cancel_orphan(self, request: Item, now: datetime) -> None:
        """Close a question whose run was deleted without it; no run takes its answer. Raises LostRace or Gone."""
        if request.get("response"):
            request = await self.hand_back(request, "request_canceled", {}, now)
        await self.cancel(request, now, "its run was deleted without it")

    async def acknowledge(self, request: Item, now: datetime) -> None:
        """Record that an answer was admitted."""
        response = request["response"]
        state = final_state_of(response.get("decision", "respond"))
        told = progress(request) if response.get("decision") == "approve" else ""
        message = told_of(response.get("decision", "respond"), response, told)
        await self._close(request, state, message, now)
        seen = self.seen_at.pop(request["metadata"]["uid"], None)
        if seen is not None:
            self._metrics.answer_to_resumed.observe(time.monotonic() - seen)

    async def _close(self, request: Item, state: str, message: str, now: datetime) -> Item:
        moment, generation = timestamp(now), request["metadata"].get("generation", 1)
        status = {
            "state": state,
            "resolvedAt": moment,
            "observedGeneration": generation,
            "conditions": [condition("Resolved", True, state, message, generation, moment)],
        }
        closed = await self._store.merge_status(request, status)
        self._metrics.requests_closed.labels(state).inc()
        self._recorder.tell(request, f"Request{state}", message, warning=state == "Expired")
        return closed

    async def hand_back(
        self,
        request: Item,
        code: str,
        details: Mapping[str, str],
        now: datetime,
        approvals: Sequence[Item] | None = None,
    ) -> Item:
        """Refuse an answer: say why, then take it away. Returns the question, which is open again.

        With `approvals`, only those stay: the others did not count either, and go in the same write.
        """
        response, uid = request["response"], request["metadata"]["uid"]
        at = request["metadata"]["resourceVersion"]
        told = await self._store.write_status(request, rejected(request, response, code, details, now))
        taken: dict[str, Any] = {"response": None}
        if approvals is not None and len(approvals) < len(request.get("approvals") or ()):
            taken["approvals"] = list(approvals)
        opened = await self._store.merge(told, taken)
        self.seen_at.pop(uid, None)
        self._metrics.answers_rejected.labels(code).inc()
        message = f"{response['responder']}: {code} {faults_line(details)}"
        self._recorder.tell(request, "AnswerRejected", message, warning=True, once=f".{at}")
        return opened


def _status_of(view: RunView, node: str, item: int | None) -> str | None:
    cell = view.state.cells.get(view.plan.path_at(node, item))
    return cell.status if cell is not None else None


def _is_due(request: Mapping[str, Any], now: datetime) -> bool:
    deadline = request["spec"].get("expiresAt")
    return deadline is not None and parse_timestamp(deadline) <= now


def _order(event: Event) -> tuple[int, str]:
    """Answers first, then what closed without one, then what was canceled: an admitted answer always counts."""
    rank = 0 if isinstance(event, RequestAnswered) else 2 if isinstance(event, RequestCanceled) else 1
    return rank, getattr(event, "node", "")
