"""`solver`: a model writes the run's answer from what the steps have found."""

from typing import Any

from compozy.engine.effects import Call
from compozy.engine.events import CallFailed, CallFinished, NodeEvent
from compozy.engine.outcomes import Calling, Context, Failed, Outcome, Succeeded
from compozy.language.compiled import SolverSpec
from compozy.language.errors import LanguageError

ROLE = "solver"
NOTE = "@note"
"""In the scope of a solver: that the data ran out before the last step, and where."""


def enter_solver(spec: SolverSpec, context: Context) -> Outcome:
    """Have a model write the answer."""
    note = context.scope.get(NOTE)
    try:
        task: dict[str, Any] = {"query": spec.query_to_answer.render_text(context.scope)}
        if note is not None:
            # What the data refers to may never have been found.
            task["note"] = note
        elif spec.data is not None:
            task["data"] = spec.data.render(context.scope)
        if spec.system_prompt is not None:
            task["system_prompt"] = spec.system_prompt.render_text(context.scope)
    except LanguageError as error:
        return Failed(error.code, error.message)
    return Calling(Call(context.node, context.generation, "solver", ROLE, task))


def resume_solver(spec: SolverSpec, context: Context, event: NodeEvent) -> Outcome:  # noqa: ARG001
    """Take the answer."""
    match event:
        case CallFinished():
            return Succeeded(event.output)
        case CallFailed():
            return Failed(event.reason, event.message)
    return Failed("internal", f"a solver cannot take {type(event).__name__}")
