"""The status of a PlanRun: what the engine decides, and what people and tools want to see beside it."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Literal

from compozy.controllers.cache import Cache, Item, Key
from compozy.controllers.child_names import child_name
from compozy.controllers.conditions import merged, run_conditions, under_way
from compozy.controllers.runs import RunView
from compozy.engine.frames import FanOut
from compozy.engine.snapshot import head_of
from compozy.engine.state import RunState
from compozy.engine.times import timestamp

_KEPT = ("nodes", "pages", "stepsExecuted", "revisions", "startedAt", "revision", "attended")
"""What of a status stays when a run is ended from outside of its plan."""


def status_of(view: RunView, state: RunState, now: datetime) -> dict[str, Any]:
    """The status of a run that its plan has brought here."""
    status = {**head_of(state), "nodes": view.ledger.nodes(view.plan)}
    if view.ledger.pages:
        status["pages"] = view.ledger.pages
    if view.revision is not None:
        status["revision"] = view.revision
    if state.timers and not state.is_final:
        status["deadline"] = min(state.timers.values())
    waiting = 0 if state.is_final else len(state.requests)
    conditions = run_conditions(state, waiting, _generation(view.run), timestamp(now))
    return _finished(view.run, status, conditions, waiting)


def told_beside(view: RunView, state: RunState, path: str, cache: Cache, namespace: str) -> dict[str, Any]:
    """What a status tells of a cell that the cell itself does not know: its question, its run, its lanes."""
    told: dict[str, Any] = {}
    name = view.request_name(path, state.generation)
    if path in state.requests or cache.get("HumanRequest", Key(namespace, name)) is not None:
        told["request"] = name
    call = state.calls.get(path)
    if call is not None and call.kind == "run":
        told["run"] = child_name(view.run, call.generation, path, call.attempt)
    fan_out = state.containers.get(path)
    if isinstance(fan_out, FanOut):
        counts = {"succeeded": fan_out.succeeded, "failed": fan_out.failed, "canceled": 0}
        told["lanes"] = {"total": len(fan_out.lanes), **counts}
    return told


def ended_status(run: Item, state: RunState) -> dict[str, Any]:
    """The status of a run that is ended from outside of its plan. What its status already tells is kept."""
    old = run.get("status") or {}
    status = {**head_of(state), **{key: old[key] for key in _KEPT if key in old}}
    return _finished(run, status, run_conditions(state, 0, _generation(run), state.completed_at or ""), 0)


def retried_status(run: Item, stays: Mapping[str, Any], now: datetime) -> dict[str, Any]:
    """The status of a run that is tried again: what of its nodes `stays`, everything else begins anew."""
    old, moment, generation = run["status"], timestamp(now), _generation(run)
    conditions = under_way("Running", f"attempt {old['generation'] + 1}", generation, moment)
    kept = {key: old[key] for key in ("revision", "attended", "stepsExecuted") if key in old}
    attempt = {"phase": "Running", "generation": old["generation"] + 1, "startedAt": moment}
    status = {**kept, **attempt, **stays}
    return _finished(run, status, conditions, 0)


def _finished(
    run: Mapping[str, Any], status: dict[str, Any], conditions: list[dict[str, Any]], waiting: int
) -> dict[str, Any]:
    status["pendingRequests"] = waiting
    status["observedGeneration"] = _generation(run)
    status["conditions"] = merged((run.get("status") or {}).get("conditions"), conditions)
    return status


def waiting_for_plan(run: Item, message: str, now: datetime) -> dict[str, Any]:
    """The status of a run whose Plan is not there yet."""
    generation, old = _generation(run), run.get("status") or {}
    conditions = under_way("PlanMissing", message, generation, timestamp(now))
    return {
        **old,
        "phase": "Pending",
        "observedGeneration": generation,
        "conditions": merged(old.get("conditions"), conditions),
    }


def ended_from_outside(
    phase: Literal["Failed", "Canceled"], reason: str, message: str, attended: bool, generation: int, now: datetime
) -> RunState:
    """The state of a run that cannot begin, or cannot go on."""
    moment = timestamp(now)
    return RunState(
        inputs={},
        attended=attended,
        generation=generation,
        phase=phase,
        reason=reason,
        message=message,
        started_at=moment,
        completed_at=moment,
    )


def _generation(run: Mapping[str, Any]) -> int:
    return int(run["metadata"]["generation"])
