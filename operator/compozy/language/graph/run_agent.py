"""`run-agent` in a graph plan: an agent works on a task."""

from collections.abc import Mapping
from typing import Any, Final

from compozy.language.compiled import RunAgentSpec
from compozy.language.graph.fields import Fields
from compozy.language.graph.made import Made
from compozy.language.graph.numbers import whole_number
from compozy.language.graph.schemas import read_schema
from compozy.language.graph.shapes import Declared

MAX_TURNS: Final = 1000
_KEYS: Final = ("agent", "prompt", "output_schema", "allowed_tools", "max_turns")


def compile_run_agent(values: Mapping[str, Any], fields: Fields) -> Made | None:
    """Compile a run-agent; None where it cannot be right, with the problems recorded."""
    before = len(fields.problems)
    params = fields.keys(values.get("params"), "params", _KEYS, required=("agent", "prompt"))
    agent = fields.text(params["agent"], "params.agent") if "agent" in params else None
    prompt = fields.text(params["prompt"], "params.prompt") if "prompt" in params else None
    schema, turns = params.get("output_schema"), params.get("max_turns")
    output_schema = None if schema is None else read_schema(schema, "params.output_schema", fields)
    tools = params.get("allowed_tools")
    if tools is not None and not _are_names(tools):
        fields.report("params.allowed_tools", "invalid_type", "must be a list of names of tools")
    most = None if turns is None else whole_number(turns, "params.max_turns", fields, 1, MAX_TURNS)
    if len(fields.problems) > before or agent is None or prompt is None:
        return None
    spec = RunAgentSpec(agent, prompt, output_schema, None if tools is None else tuple(tools), most)
    return Made(spec, None if output_schema is None else Declared(output_schema), output_schema)


def _are_names(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(name, str) and name for name in value)
