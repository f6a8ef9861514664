"""`exit` in a steps plan: a gate that ends the run."""

from typing import Any

from compozy.language.compiled import ExitSpec
from compozy.language.steps.fields import Fields

_KEYS = ("when", "infer", "model", "status", "message", "output")


def compile_exit(data: Any, fields: Fields) -> ExitSpec | None:
    """Compile the input of an exit; None where it cannot be right, with the problems recorded."""
    values = fields.keys(data, _KEYS, required=("status",))
    if values is None:
        return None
    before = len(fields.problems)
    if "when" in values and "infer" in values:
        fields.report("", "gate_choice", "write at most one of `when` and `infer`")
    when = fields.gate(values, "when")
    infer = fields.infer(values) if "infer" in values else None
    status = fields.text(values, "status")
    if status is not None and status.is_static and values["status"] not in ("success", "error"):
        fields.report("status", "invalid_value", "must be `success` or `error`")
    message = fields.text(values, "message")
    output = fields.value(values, "output")
    if output is not None and output.is_static and not isinstance(values["output"], dict):
        fields.report("output", "invalid_type", "must be an object")
    if len(fields.problems) > before or status is None:
        return None
    return ExitSpec(when=when, status=status, message=message, output=output, infer=infer)
