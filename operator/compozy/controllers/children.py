"""Runs that runs start: created under names that follow from the place that starts them, watched, and ended with
their parents.
"""

from collections.abc import AsyncIterator
from datetime import datetime
from typing import Any

from compozy.api.base import API_VERSION, ENDS_WITH_PARENT_ANNOTATION
from compozy.controllers.cache import Cache, Item, Key
from compozy.controllers.child_names import child_name
from compozy.controllers.child_times import ChildTimes
from compozy.controllers.lineage import ancestors, has_lost_parent
from compozy.controllers.plans import Plans
from compozy.controllers.records import Records
from compozy.controllers.runs import RunView, is_final
from compozy.controllers.store import LostRace, Store
from compozy.engine.effects import Call, CancelCall
from compozy.engine.events import CallFailed, CallFinished, Event
from compozy.engine.results import CHILD_CANCELED, CHILD_FAILED, MAX_DEPTH, output_of, too_deep
from compozy.engine.snapshot import exit_of
from compozy.engine.state import RunState
from compozy.requests.opening import owner_reference


class Children:
    """The runs that a run has started."""

    def __init__(self, store: Store, cache: Cache, records: Records, plans: Plans, user: str) -> None:
        """`user` is the operator as the API server knows it: it starts them."""
        self._user = user
        self._store = store
        self._cache = cache
        self._records = records
        self._plans = plans
        self._times = ChildTimes(cache)

    async def refused(self, view: RunView, call: Call) -> CallFailed | None:
        """Why another run cannot be started; None where it can, or has been already."""
        if self.child_of(view, call) is not None:
            return None
        fault = await self._plans.faults_of_call(view.run["metadata"]["namespace"], call.name, call.input)
        if fault is not None:
            return CallFailed(call.node, *fault, call.attempt)
        if sum(1 for _ in ancestors(self._cache, view.run)) + 1 >= MAX_DEPTH:
            return too_deep(call)
        return None

    def is_paused(self, run: Item) -> bool:
        """Whether the run, or one that started it, is paused."""
        return any(item["spec"].get("paused") for item in (run, *ancestors(self._cache, run)))

    async def start(self, view: RunView, call: Call) -> bool:
        """Start a run; returns whether the parent has to look again, because something is known of it already."""
        child, is_new = await self._store.create(_child(view, call, self._user))
        return call.detach or (not is_new and is_final(child))

    async def cancel(self, view: RunView, effect: CancelCall) -> None:
        """End a run that nobody waits for any more."""
        child = self.child_of(view, effect)
        while child is not None and not is_final(child) and not child["spec"].get("canceled"):
            try:
                await self._store.merge(child, {"spec": {"canceled": True}})
                return
            except LostRace:
                child = self.child_of(view, effect)

    async def end_orphan(self, run: Item) -> Item:
        """The run, canceled where its parent was deleted without it and nobody waits for it. Raises LostRace."""
        if not has_lost_parent(run) or run["spec"].get("canceled"):
            return run
        return await self._store.merge(run, {"spec": {"canceled": True}})

    def child_of(self, view: RunView, call: Call | CancelCall) -> Item | None:
        """The run that a call has started, where it is known."""
        name = child_name(view.run, call.generation, call.node, call.attempt)
        return self._cache.get("PlanRun", Key(view.run["metadata"]["namespace"], name))

    async def events(self, view: RunView, state: RunState, now: datetime) -> AsyncIterator[Event]:
        """What has become of the runs that this one has started, as far as its state waits for them."""
        for path, call in state.calls.items():
            child = self.child_of(view, call) if call.kind == "run" else None
            if child is None:
                continue
            if call.detach:
                yield CallFinished(path, {"run": child["metadata"]["name"]}, call.attempt)
            elif is_final(child):
                yield _result(path, call, child, await self._output_of(child))
            else:
                for event in self._times.events(view, state, call, child, now):
                    yield event

    async def _output_of(self, child: Item) -> Any:
        """The output of a run that has ended, wherever it is kept."""
        status = child["status"]
        if "outputRef" not in status:
            return status.get("output")
        record = await self._records.read(child["metadata"]["namespace"], status["outputRef"]["name"])
        return record.get("output")


def _child(view: RunView, call: Call, user: str) -> dict[str, Any]:
    run, parent = view.run, view.run["metadata"]
    spec: dict[str, Any] = {"planRef": {"name": call.name}, "inputs": dict(call.input), "startedBy": user}
    if not view.state.attended:
        spec["attendance"] = "Unattended"
    if run["spec"].get("requestExpireAfter"):
        spec["requestExpireAfter"] = run["spec"]["requestExpireAfter"]
    metadata: dict[str, Any] = {
        "name": child_name(run, call.generation, call.node, call.attempt),
        "namespace": parent["namespace"],
        "ownerReferences": [owner_reference(run)],
    }
    if not (call.detach or call.abandon):
        # Once the parent is gone, nothing else tells whether it was waited for.
        metadata["annotations"] = {ENDS_WITH_PARENT_ANNOTATION: "true"}
    return {"apiVersion": API_VERSION, "kind": "PlanRun", "metadata": metadata, "spec": spec}


def _result(path: str, call: Call, child: Item, output: Any) -> Event:
    """What a run that has ended gives to its parent."""
    status, name = child["status"], child["metadata"]["name"]
    if status["phase"] == "Canceled":
        return CallFailed(path, CHILD_CANCELED, f"planrun/{name} was canceled", call.attempt)
    if status["phase"] != "Succeeded":
        conditions = (item for item in status.get("conditions") or () if item["type"] == "Succeeded")
        succeeded = next(conditions, None)
        told = succeeded["message"] if succeeded is not None else "it failed"
        return CallFailed(path, CHILD_FAILED, f"planrun/{name}: {told}", call.attempt)
    answer, steps = status.get("answer"), status.get("stepsExecuted", 0)
    return CallFinished(path, output_of(exit_of(status), output, answer, steps), call.attempt)
