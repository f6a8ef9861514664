"""What a run that has ended gives to the run that started it."""

from typing import Any

from compozy.engine.events import CallFailed, CallFinished
from compozy.engine.state import Exit, RunState

CHILD_FAILED = "child_failed"
CHILD_CANCELED = "child_canceled"


def result_of(node: str, attempt: int, state: RunState) -> CallFinished | CallFailed:
    """The event for the node that started the run: its output, how its exit ended it, or its failure."""
    if state.phase == "Canceled":
        return CallFailed(node, CHILD_CANCELED, "the run that it started was canceled", attempt)
    if state.phase != "Succeeded":
        return CallFailed(node, CHILD_FAILED, state.message or "the run that it started failed", attempt)
    return CallFinished(node, _output_of(state), attempt)


def _output_of(state: RunState) -> Any:
    if state.exit is not None:
        return exit_output(state.exit)
    if state.output is not None:
        return state.output
    if state.answer is not None:
        return {"answer": state.answer}
    return {"ok": True, "steps_executed": state.steps_executed}


def exit_output(fired: Exit) -> dict[str, Any]:
    """What a plan gives that was ended by an exit: the same for a call in steps and for a run of its own."""
    told: dict[str, Any] = {"exited": True, "status": fired.status, "message": fired.message}
    return told if fired.output is None else {**told, "output": fired.output}
