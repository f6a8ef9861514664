"""What a run that has ended gives to the run that started it."""

from typing import Any

from compozy.engine.effects import Call
from compozy.engine.events import CallFailed, CallFinished
from compozy.engine.state import Exit, RunState

CHILD_FAILED = "child_failed"
CHILD_CANCELED = "child_canceled"

MAX_DEPTH = 8
"""How deep runs may start runs."""


def too_deep(call: Call) -> CallFailed:
    """The event for a node that would start a run deeper than that."""
    return CallFailed(call.node, CHILD_FAILED, f"runs start runs {MAX_DEPTH} deep at most", call.attempt)


def result_of(node: str, attempt: int, state: RunState) -> CallFinished | CallFailed:
    """The event for the node that started the run: its output, how its exit ended it, or its failure."""
    if state.phase == "Canceled":
        return CallFailed(node, CHILD_CANCELED, "the run that it started was canceled", attempt)
    if state.phase != "Succeeded":
        return CallFailed(node, CHILD_FAILED, state.message or "the run that it started failed", attempt)
    return CallFinished(node, output_of(state.exit, state.output, state.answer, state.steps_executed), attempt)


def output_of(fired: Exit | None, output: Any, answer: Any, steps_executed: int) -> Any:
    """What a run that has succeeded gives."""
    if fired is not None:
        return exit_output(fired)
    if output is not None:
        return output
    return {"answer": answer} if answer is not None else {"ok": True, "steps_executed": steps_executed}


def exit_output(fired: Exit) -> dict[str, Any]:
    """What a plan gives that was ended by an exit: the same for a call in steps and for a run of its own."""
    told: dict[str, Any] = {"exited": True, "status": fired.status, "message": fired.message}
    return told if fired.output is None else {**told, "output": fired.output}
