"""Actions of a graph: first their parameters are rendered, then they run with exactly those.

Between the two a person may decide (`review`), and a failed attempt is made again with the same parameters.
"""

from collections.abc import Mapping
from typing import Any

from compozy.engine.codes import UNRENDERABLE
from compozy.engine.conforming import misfit_of_agent
from compozy.engine.effects import Call
from compozy.engine.events import CallFailed, CallFinished, NodeEvent
from compozy.engine.outcomes import Calling, Context, Failed, Outcome, Succeeded
from compozy.language.compiled import CallSpec, RunAgentSpec, RunLoopSpec, TransformSpec
from compozy.language.errors import LanguageError
from compozy.language.keys import type_name

Action = TransformSpec | CallSpec | RunLoopSpec | RunAgentSpec

ACTIONS = (TransformSpec, CallSpec, RunLoopSpec, RunAgentSpec)


def parameters_of(spec: Action, context: Context) -> dict[str, Any] | Failed:
    """The parameters with every template rendered."""
    try:
        match spec:
            case TransformSpec():
                return _transformed(spec, context)
            case CallSpec():
                return dict(spec.input.render(context.scope))
            case RunLoopSpec():
                inputs = spec.inputs.render(context.scope) if spec.inputs is not None else {}
                return {"loop": spec.loop.render_text(context.scope), "inputs": inputs}
        task = {"agent": spec.agent.render_text(context.scope), "prompt": spec.prompt.render_text(context.scope)}
    except LanguageError as error:
        return Failed(UNRENDERABLE if context.is_graph else error.code, error.message)
    optional = {"allowed_tools": spec.allowed_tools, "max_turns": spec.max_turns}
    return {**task, **{key: value for key, value in optional.items() if value is not None}}


def _transformed(spec: TransformSpec, context: Context) -> dict[str, Any] | Failed:
    output = {}
    for key, value in spec.values.items():
        try:
            output[key] = value.render(context.scope)
        except LanguageError as error:
            return Failed(UNRENDERABLE, f"`{key}`: {error.message}")
    return output


def enter_action(spec: Action, context: Context) -> Outcome:
    """Run an action that nobody reviews."""
    parameters = parameters_of(spec, context)
    return parameters if isinstance(parameters, Failed) else run_action(spec, context, parameters)


def run_action(spec: Action, context: Context, parameters: Mapping[str, Any]) -> Outcome:
    """Run an action with these parameters."""
    match spec:
        case TransformSpec():
            return Succeeded(dict(parameters))
        case CallSpec():
            return Calling(_call(context, "tool", spec.tool, parameters))
        case RunLoopSpec():
            return _run_loop(spec, context, parameters)
    task = {key: value for key, value in parameters.items() if key != "agent"}
    if spec.output_schema is not None:
        task["output_schema"] = spec.output_schema
    return Calling(_call(context, "agent", str(parameters["agent"]), task))


def _call(context: Context, kind: Any, name: str, given: Mapping[str, Any], **more: Any) -> Call:
    return Call(context.node, context.generation, kind, name, given, context.attempt, plans=context.plans, **more)


def _run_loop(spec: RunLoopSpec, context: Context, parameters: Mapping[str, Any]) -> Outcome:
    inputs = parameters.get("inputs")
    if not isinstance(inputs, Mapping):
        return Failed(UNRENDERABLE, f"`inputs` must be an object, not {type_name(inputs)}")
    call = _call(
        context,
        "run",
        str(parameters["loop"]),
        inputs,
        detach=spec.mode == "detach",
        abandon=spec.on_parent_close == "abandon",
    )
    return Calling(call)


def resume_action(spec: Action, context: Context, event: NodeEvent) -> Outcome:  # noqa: ARG001
    """Take what was called gave."""
    match event:
        case CallFinished() if isinstance(spec, RunAgentSpec) and spec.output_schema is not None:
            return misfit_of_agent(spec.output_schema, event.output) or Succeeded(event.output)
        case CallFinished():
            return Succeeded(event.output)
        case CallFailed():
            return Failed(event.reason, event.message)
    return Failed("internal", f"an action cannot take {type(event).__name__}")
