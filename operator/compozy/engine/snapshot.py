"""The state of a run as the `status` of its PlanRun, and back.

Only what has ended is read back: a question that waits is derived again from the plan, under the same name,
so a status that lags behind, or was never written, loses nothing.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from compozy.engine.state import FINAL_PHASES, Cell, Exit, RunState

MAX_MESSAGE = 4096
"""Longest message in a status, in characters: the whole of it is in what it speaks of."""


def bounded(message: str | None) -> str | None:
    """A message that is cut where it is too long, and says so."""
    if message is None or len(message) <= MAX_MESSAGE:
        return message
    return f"{message[: MAX_MESSAGE - 40]}… ({len(message)} characters)"


def to_nodes(state: RunState) -> dict[str, Any]:
    """`status.nodes`: every cell, by id."""
    return {node_id: _cell_status(cell) for node_id, cell in state.cells.items()}


def _cell_status(cell: Cell) -> dict[str, Any]:
    fields = {
        "reason": cell.reason,
        "message": bounded(cell.message),
        "route": cell.route,
        "completedAt": cell.completed_at,
    }
    status: dict[str, Any] = {"status": cell.status}
    if cell.output is not None:
        status["output"] = cell.output
    return status | {key: value for key, value in fields.items() if value is not None}


def to_status(state: RunState) -> dict[str, Any]:
    """The part of `status` that the engine decides."""
    status: dict[str, Any] = {
        "phase": state.phase,
        "generation": state.generation,
        "attended": state.attended,
        "nodes": to_nodes(state),
        "stepsExecuted": state.steps_executed,
    }
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


def from_status(begun: RunState, status: Mapping[str, Any]) -> RunState:
    """The state that a status tells of, for a run that begins as `begun`."""
    cells = {
        node_id: Cell(
            status=data["status"],
            output=data.get("output"),
            reason=data.get("reason"),
            message=data.get("message"),
            route=data.get("route"),
            completed_at=data.get("completedAt"),
        )
        for node_id, data in (status.get("nodes") or {}).items()
    }
    return replace(
        begun,
        phase=status["phase"] if status.get("phase") in FINAL_PHASES else begun.phase,
        cells={node_id: cell for node_id, cell in cells.items() if cell.is_final},
        output=status.get("output"),
        answer=status.get("answer"),
        steps_executed=status.get("stepsExecuted") or 0,
        started_at=status.get("startedAt"),
        completed_at=status.get("completedAt"),
    )
