"""Calls in steps: agents and other plans."""

from collections.abc import Mapping
from typing import Any

from compozy.engine.conforming import misfit_of_agent
from compozy.engine.effects import Call
from compozy.engine.events import CallFailed, CallFinished, NodeEvent
from compozy.engine.outcomes import Calling, Context, Failed, Outcome, PlanCalled, Succeeded
from compozy.language.compiled import AgentSpec, PlanCallSpec
from compozy.language.errors import LanguageError
from compozy.language.problems import InputsInvalid

DEFAULT_MODEL = "default"


def enter_agent(spec: AgentSpec, context: Context) -> Outcome:
    """Have an agent work."""
    try:
        task: dict[str, Any] = {"prompt": spec.prompt.render_text(context.scope)}
        if spec.system_prompt is not None:
            task["system_prompt"] = spec.system_prompt.render_text(context.scope)
        model = spec.model.render_text(context.scope) if spec.model is not None else DEFAULT_MODEL
    except LanguageError as error:
        return Failed(error.code, error.message)
    task |= {"output_schema": spec.output_schema, "max_iterations": spec.max_iterations}
    if spec.tools is not None:
        task["tools"] = list(spec.tools)
    return Calling(Call(context.node, context.generation, "agent", model, task))


def resume_agent(spec: AgentSpec, context: Context, event: NodeEvent) -> Outcome:  # noqa: ARG001
    """Take the agent's result: `{output, iterations, tools_called, final}`."""
    match event:
        case CallFinished(output=Mapping() as result) if "output" in result:
            refused = misfit_of_agent(spec.output_schema, result["output"]) if result.get("final", True) else None
            if refused is not None:
                return refused
            given = {key: result[key] for key in ("iterations", "tools_called", "final") if key in result}
            return Succeeded(
                {"iterations": 1, "tools_called": [], "final": True, "output": result["output"], **given}
            )
        case CallFailed():
            return Failed(event.reason, event.message)
    return Failed("agent_output_invalid", "an agent must give {output, iterations, tools_called, final}")


def enter_plan_call(spec: PlanCallSpec, context: Context) -> Outcome:
    """Begin another plan, with its inputs checked before any of its steps."""
    if spec.plan is None:
        return Failed("plan_unknown", f"there is no plan `{spec.name}` here")
    try:
        inputs = spec.plan.resolve_inputs(spec.input.render(context.scope))
    except LanguageError as error:
        return Failed(error.code, error.message)
    except InputsInvalid as error:
        return Failed("inputs_invalid", f"the inputs of plan `{spec.name}` do not fit: {error}")
    return PlanCalled(spec.name, spec.plan, inputs)
