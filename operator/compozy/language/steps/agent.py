"""`agent` in a steps plan: a model works on a task with tools and ends with an object of a given shape."""

from collections.abc import Mapping
from typing import Any

from compozy.language.compiled import AgentSpec
from compozy.language.schema import check_schema
from compozy.language.steps.fields import Fields

_KEYS = ("prompt", "output_schema", "tools", "max_iterations", "model", "system_prompt")
_DEFAULT_ITERATIONS = 8


def compile_agent(data: Any, fields: Fields) -> AgentSpec | None:
    """Compile the input of an agent step; None where it cannot be right, with the problems recorded."""
    values = fields.keys(data, _KEYS, required=("prompt", "output_schema"))
    if values is None:
        return None
    before = len(fields.problems)
    prompt = fields.text(values, "prompt")
    schema = values.get("output_schema")
    if isinstance(schema, Mapping) and schema.get("type", "object") != "object":
        fields.report(
            "output_schema.type", "agent_schema_not_object", "must be `object`: an agent gives an object"
        )
    elif isinstance(schema, Mapping):
        fields.problems.extend(check_schema(schema, fields.at("output_schema")))
    elif schema is not None:
        fields.report("output_schema", "invalid_type", "must be a JSON Schema object")
    tools = values.get("tools")
    if tools is not None and not _are_globs(tools):
        message = (
            "must be a list of tool names or globs; leave it out to allow all, `[]` allows nothing to be done"
        )
        fields.report("tools", "invalid_value", message)
    rounds = fields.count(values, "max_iterations", _DEFAULT_ITERATIONS)
    model, system = fields.text(values, "model"), fields.text(values, "system_prompt")
    if len(fields.problems) > before or prompt is None or not isinstance(schema, Mapping):
        return None
    return AgentSpec(prompt, schema, tuple(tools) if tools else None, rounds, model, system)


def _are_globs(tools: Any) -> bool:
    return isinstance(tools, list) and bool(tools) and all(isinstance(tool, str) and tool for tool in tools)
