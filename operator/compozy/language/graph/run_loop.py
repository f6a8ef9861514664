"""`run-loop` in a graph plan: another plan as a run of its own."""

from collections.abc import Mapping
from typing import Any

from compozy.language.compiled import RunLoopSpec
from compozy.language.graph.fields import Fields
from compozy.language.graph.made import Made
from compozy.language.graph.shapes import TEXT, Members


def compile_run_loop(values: Mapping[str, Any], fields: Fields) -> Made | None:
    """Compile a run-loop; None where it cannot be right, with the problems recorded."""
    before = len(fields.problems)
    params = fields.keys(values.get("params"), "params", ("loop", "inputs", "mode"), required=("loop",))
    loop = fields.text(params["loop"], "params.loop") if "loop" in params else None
    if loop is not None and loop.is_static and not loop.source.strip():
        fields.report("params.loop", "invalid_value", "must be the name of a plan")
    inputs = fields.value(params["inputs"], "params.inputs") if "inputs" in params else None
    if "inputs" in params and not isinstance(params["inputs"], Mapping | str):
        fields.report("params.inputs", "invalid_type", "must be an object, or a template that yields one")
    mode = params.get("mode", "await")
    if mode not in ("await", "detach"):
        fields.report("params.mode", "invalid_value", "must be `await` or `detach`")
    close = values.get("on_parent_close", "terminate")
    if close not in ("terminate", "abandon"):
        fields.report("on_parent_close", "parent_close_invalid", "must be `terminate` or `abandon`")
    if len(fields.problems) > before or loop is None:
        return None
    return Made(RunLoopSpec(loop, inputs, mode, close), Members({"run": TEXT}) if mode == "detach" else None)
