"""The state of a run as the `status` of its PlanRun, and back.

What has ended is read back. Of what has not, only attempts and times: a question that waits is derived
again from the plan, under the same name, so a status that lags behind, or was never written, loses nothing.
"""

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

from rpds import HashTrieMap

from compozy.engine.nodes import Nodes, by_name, by_path
from compozy.engine.state import FINAL_PHASES, Cell, Exit, RunState
from compozy.engine.strategies import Count
from compozy.language.compiled import CompiledPlan
from compozy.redaction.redactor import redact_text

MAX_MESSAGE = 4096
"""Longest message in a status, in characters: the whole of it is in what it speaks of."""


def bounded(message: str | None) -> str | None:
    """A message that is cut where it is too long, and says so."""
    if message is None or len(message) <= MAX_MESSAGE:
        return message
    return f"{message[: MAX_MESSAGE - 40]}… ({len(message)} characters)"


def to_nodes(plan: CompiledPlan, cells: Mapping[str, Cell]) -> Nodes:
    """`status.nodes` of some cells."""
    return by_name(plan, ((path, cell_status(cell)) for path, cell in cells.items()))


def cell_status(cell: Cell) -> dict[str, Any]:
    """What a status tells of one cell."""
    fields = {
        "reason": cell.reason,
        "message": bounded(cell.message if cell.message is None else redact_text(cell.message)),
        "route": cell.route,
        "startedAt": cell.started_at,
        "completedAt": cell.completed_at,
        "until": cell.until,
        "remainingSeconds": cell.left,
        "attempt": cell.attempt if cell.attempt > 1 else None,
    }
    status: dict[str, Any] = {"status": cell.status}
    if cell.output is not None:
        status["output"] = cell.output
    if cell.lanes is not None:
        status["lanes"] = _lanes_status(cell.lanes)
    return status | {key: value for key, value in fields.items() if value is not None}


def _lanes_status(count: Count) -> dict[str, int]:
    """How the lanes of a fan-out that is decided have ended; those that never began count as canceled."""
    canceled = count.total - count.succeeded - count.failed
    return {"total": count.total, "succeeded": count.succeeded, "failed": count.failed, "canceled": canceled}


def _count_of(told: Mapping[str, int] | None) -> Count | None:
    return None if told is None else Count(told["total"], told["succeeded"], told["failed"])


def to_status(plan: CompiledPlan, state: RunState) -> dict[str, Any]:
    """The whole of `status` that the engine decides."""
    return {**head_of(state), "nodes": to_nodes(plan, state.cells)}


def head_of(state: RunState) -> dict[str, Any]:
    """What `status` tells of the run itself."""
    status: dict[str, Any] = {
        "phase": state.phase,
        "generation": state.generation,
        "attended": state.attended,
        "stepsExecuted": state.steps_executed,
    }
    if state.revisions:
        status["revisions"] = state.revisions
    if state.started_at is not None:
        status["startedAt"] = state.started_at
    if state.completed_at is not None:
        status["completedAt"] = state.completed_at
    if state.output is not None:
        status["output"] = state.output
    if state.answer is not None:
        status["answer"] = state.answer
    if state.exit is not None:
        status["exit"] = _exit_status(state.exit)
    return status


def _exit_status(record: Exit) -> dict[str, Any]:
    status: dict[str, Any] = {"status": record.status, "message": bounded(record.message), "step": record.step}
    if record.reason is not None:
        status["reason"] = bounded(record.reason)
    if record.output is not None:
        status["output"] = record.output
    return status


def from_status(plan: CompiledPlan, begun: RunState, status: Mapping[str, Any]) -> RunState:
    """The state that a status tells of, for a run that begins as `begun`."""
    cells = from_nodes(plan, status.get("nodes") or {})
    return replace(
        begun,
        revisions=status.get("revisions") or 0,
        phase=status["phase"] if status.get("phase") in FINAL_PHASES else begun.phase,
        cells=HashTrieMap({path: cell for path, cell in cells.items() if cell.is_final}),
        marks=HashTrieMap({path: cell for path, cell in cells.items() if not cell.is_final}),
        output=status.get("output"),
        answer=status.get("answer"),
        exit=exit_of(status),
        steps_executed=status.get("stepsExecuted") or 0,
        started_at=status.get("startedAt"),
        completed_at=status.get("completedAt"),
    )


def from_nodes(plan: CompiledPlan, nodes: Mapping[str, Mapping[str, Any]]) -> dict[str, Cell]:
    """The cells that `status.nodes` tells of, by path."""
    return {path: _cell(told) for path, told in by_path(plan, nodes)}


def exit_of(status: Mapping[str, Any]) -> Exit | None:
    """How a fired exit gate ended the run; None where none has."""
    told = status.get("exit")
    if told is None:
        return None
    return Exit(**{field.name: told.get(field.name) for field in fields(Exit)})


def _cell(told: Mapping[str, Any]) -> Cell:
    return Cell(
        status=told["status"],
        output=told.get("output"),
        reason=told.get("reason"),
        message=told.get("message"),
        route=told.get("route"),
        completed_at=told.get("completedAt"),
        started_at=told.get("startedAt"),
        attempt=told.get("attempt") or 1,
        until=told.get("until"),
        left=told.get("remainingSeconds"),
        lanes=_count_of(told.get("lanes")),
    )
