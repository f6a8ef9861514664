"""What a finished run delivers: its output on stdout, how it ended on stderr and in the exit code."""

from collections.abc import Mapping
from typing import Any

from compozy.cli.errors import EXIT_ERROR_GATE, EXIT_FAILED
from compozy.cli.feed import phase_of
from compozy.cli.output.text import clean
from compozy.cli.session import Session

Object = Mapping[str, Any]


def deliver(session: Session, run: Object, plan: str) -> int:
    """Prints the result of a run and returns the exit code: 0 done, 1 failed, 4 an error exit."""
    status = run.get("status") or {}
    if session.as_json:
        session.out_json(envelope(run, plan))
    else:
        output = status.get("output")
        if output is None:
            output = (status.get("exit") or {}).get("output")
        if output is not None:
            session.out_json(output)
    fired = status.get("exit")
    if fired:
        mark = "✓" if fired["status"] == "success" else "✗"
        session.note(f"{mark} {clean(fired['message'])}")
        return 0 if fired["status"] == "success" else EXIT_ERROR_GATE
    if phase_of(run) != "Succeeded":
        session.note(clean(f"error: run {run['metadata']['name']} {failure_of(run)}"))
        return EXIT_FAILED
    if status.get("output") is None and not session.as_json:
        steps = status.get("stepsExecuted", 0)
        session.note(f"✓ done, {steps} step{'' if steps == 1 else 's'}")
    return 0


def envelope(run: Object, plan: str) -> dict[str, Any]:
    """The result for programs."""
    status = run.get("status") or {}
    return {
        "run": run["metadata"]["name"],
        "phase": phase_of(run),
        "plan": plan,
        "output": status.get("output"),
        "answer": None,
        "exit": status.get("exit"),
        "steps_executed": status.get("stepsExecuted", 0),
        "nodes": status.get("nodes") or {},
        "usage": None,
    }


def failure_of(run: Object) -> str:
    """Why a run did not succeed, as the operator says it."""
    phase = phase_of(run).lower()
    for condition in (run.get("status") or {}).get("conditions") or []:
        if condition["type"] == "Succeeded" and condition.get("message"):
            return f"{phase}: {condition['message']}"
    return phase
