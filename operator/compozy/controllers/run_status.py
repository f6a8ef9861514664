"""The status of a PlanRun: what the engine decides, and what people and tools want to see beside it."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Literal

from compozy.controllers.cache import Item
from compozy.controllers.conditions import condition, merged, run_conditions
from compozy.controllers.runs import RunView
from compozy.engine.snapshot import to_status
from compozy.engine.state import RunState
from compozy.engine.times import timestamp

_KEPT = ("nodes", "stepsExecuted", "startedAt", "revision", "attended")
"""What of a status stays when a run is ended from outside of its plan."""


def status_of(view: RunView, state: RunState, now: datetime) -> dict[str, Any]:
    """The status of a run that its plan has brought here."""
    names = {item["spec"]["node"]: item["metadata"]["name"] for item in view.requests}
    status = to_status(state)
    for path, node in status["nodes"].items():
        if path in names:
            node["request"] = names[path]
    waiting = sum(1 for cell in state.cells.values() if cell.status == "Waiting")
    if view.revision is not None:
        status["revision"] = view.revision
    return _finished(
        view.run, status, run_conditions(state, waiting, _generation(view.run), timestamp(now)), waiting
    )


def ended_status(run: Item, state: RunState) -> dict[str, Any]:
    """The status of a run that is ended from outside of its plan. What its status already tells is kept."""
    old = run.get("status") or {}
    status = {**to_status(state), **{key: old[key] for key in _KEPT if key in old}}
    return _finished(run, status, run_conditions(state, 0, _generation(run), state.completed_at or ""), 0)


def _finished(
    run: Mapping[str, Any], status: dict[str, Any], conditions: list[dict[str, Any]], waiting: int
) -> dict[str, Any]:
    status["pendingRequests"] = waiting
    status["observedGeneration"] = _generation(run)
    status["conditions"] = merged((run.get("status") or {}).get("conditions"), conditions)
    return status


def waiting_for_plan(run: Item, message: str, now: datetime) -> dict[str, Any]:
    """The status of a run whose Plan is not there yet."""
    generation, old, moment = _generation(run), run.get("status") or {}, timestamp(now)
    conditions = [
        condition("Succeeded", None, "PlanMissing", message, generation, moment),
        condition("Reconciling", True, "PlanMissing", message, generation, moment),
    ]
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
