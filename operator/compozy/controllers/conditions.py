"""Standard conditions, so that generic tools read our objects right."""

from collections.abc import Iterable, Mapping
from typing import Any

from compozy.engine.state import RunState


def condition(
    kind: str, status: bool | None, reason: str, message: str, generation: int, now: str
) -> dict[str, Any]:
    """One condition; a status of None is Unknown."""
    return {
        "type": kind,
        "status": "Unknown" if status is None else str(status),
        "observedGeneration": generation,
        "lastTransitionTime": now,
        "reason": reason,
        "message": message,
    }


def merged(old: Iterable[Mapping[str, Any]] | None, new: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The new conditions; one whose status is as before keeps its transition time."""
    before = {item["type"]: item for item in old or ()}
    result = []
    for item in new:
        known = before.get(item["type"])
        kept = known and known["status"] == item["status"]
        result.append(
            {**item, "lastTransitionTime": known["lastTransitionTime"]} if kept and known else dict(item)
        )
    return result


def under_way(reason: str, message: str, generation: int, now: str) -> list[dict[str, Any]]:
    """Conditions of a PlanRun that has not ended, and why it has not."""
    return [
        condition("Succeeded", None, reason, message, generation, now),
        condition("Reconciling", True, reason, message, generation, now),
    ]


def run_conditions(state: RunState, waiting: int, generation: int, now: str) -> list[dict[str, Any]]:
    """Conditions of a PlanRun: `Succeeded` for people, `Reconciling` or `Stalled` for tools that wait."""
    if not state.is_final:
        reason, message = "Running", "the run goes on"
        if waiting:
            reason, message = "WaitingForPeople", f"{waiting} question{'s' if waiting > 1 else ''} open"
        return under_way(reason, message, generation, now)
    done = state.phase == "Succeeded"
    reason, message = state.phase, state.message or ""
    succeeded = condition("Succeeded", done, reason, message, generation, now)
    return [succeeded] if done else [succeeded, condition("Stalled", True, reason, message, generation, now)]
