"""Approvals that do not decide yet: told once they count, handed back where their author may not approve.

The API server knows who writes, and holds approvals to the users and groups that are named. Who has started a
run only we know. No decision rests on an approval that we refuse: it is looked at again when the decision comes.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from compozy.controllers.cache import Cache, Item
from compozy.controllers.lineage import starters
from compozy.controllers.metrics import Metrics
from compozy.controllers.recorder import Recorder
from compozy.controllers.runs import RunView
from compozy.controllers.store import Store
from compozy.engine.times import timestamp
from compozy.requests.approvals import mark, needed, speaker
from compozy.requests.respond import judge_approval
from compozy.requests.state import is_open
from compozy.requests.verdict import Identity, Refused, bounded


class Approvals:
    """Judges the approvals of questions that several people must approve."""

    def __init__(self, store: Store, cache: Cache, recorder: Recorder, metrics: Metrics) -> None:
        self._store = store
        self._cache = cache
        self._recorder = recorder
        self._metrics = metrics

    def standing(self, view: RunView, request: Item) -> list[Item]:
        """The approvals that count."""
        return [entry for entry in request.get("approvals") or () if self._refused(view, request, entry) is None]

    async def weed(self, view: RunView, request: Item, now: datetime) -> Item:
        """An open question without the approvals that do not count. Raises LostRace or Gone.

        With a response there is nothing to do yet: what that rests on goes with it, or not at all.
        """
        if not request.get("approvals") or not is_open(request):
            return request
        for entry in request["approvals"]:
            refused = self._refused(view, request, entry)
            if refused is not None:
                return await self.weed(view, await self._hand_back(request, entry, refused, now), now)
        for number, entry in enumerate(request["approvals"], start=1):
            message = told_of("approve", entry, f"{number} of {needed(request)} approvals")
            self._recorder.tell(request, "RequestApproved", message, once=f".{mark(entry['responder'])}")
        return request

    def tell_refused(self, view: RunView, request: Item) -> None:
        """Tell of the approvals that do not count."""
        for entry in request.get("approvals") or ():
            refused = self._refused(view, request, entry)
            if refused is not None:
                self._tell_refused(request, entry, refused)

    def _refused(self, view: RunView, request: Item, entry: Item) -> Refused | None:
        unanswered = {key: value for key, value in request.items() if key != "response"}
        return judge_approval(unanswered, Identity.of_user(entry["responder"]), starters(self._cache, view.run))

    async def _hand_back(self, request: Item, entry: Item, refused: Refused, now: datetime) -> Item:
        """Say why, then take one approval away."""
        status = rejected(request, entry, refused.code, {"approvals": refused.message}, now)
        told = await self._store.write_status(request, status)
        left = [other for other in request["approvals"] if other["responder"] != entry["responder"]]
        written = await self._store.merge(told, {"approvals": left})
        self._tell_refused(request, entry, refused)
        return written

    def _tell_refused(self, request: Item, entry: Item, refused: Refused) -> None:
        self._metrics.answers_rejected.labels(refused.code).inc()
        message = f"{entry['responder']}: {refused.code} {refused.message}"
        at = request["metadata"]["resourceVersion"]
        self._recorder.tell(
            request, "ApprovalRejected", message, warning=True, once=f".{mark(entry['responder'])}.{at}"
        )


def rejected(request: Item, said: Item, code: str, details: Mapping[str, str], now: datetime) -> dict[str, Any]:
    """The status of a question once a response or an approval is handed back."""
    rejection = {"code": code, "by": said["responder"], "at": timestamp(now), "fields": bounded(details)}
    return {**(request.get("status") or {}), "lastRejection": rejection}


def told_of(decision: str, said: Mapping[str, Any], progress: str = "") -> str:
    """Who decided what, and what they noted: `approve by alice (leads), 2 of 3 approvals: fine`."""
    note = " ".join((said.get("note") or "").split())
    return f"{decision} by {speaker(said)}{f', {progress}' if progress else ''}{f': {note}' if note else ''}"
