"""`exit` in a steps plan: a gate that ends the run."""

from typing import Any

from compozy.language.compiled import ExitSpec
from compozy.language.errors import LanguageError
from compozy.language.steps.fields import Fields
from compozy.language.steps.gate import Gate, compile_gate

_KEYS = ("when", "status", "message", "output")


def compile_exit(data: Any, fields: Fields) -> ExitSpec | None:
    """Compile the input of an exit; None where it cannot be right, with the problems recorded."""
    values = fields.keys(data, _KEYS, required=("status",))
    if values is None:
        return None
    before = len(fields.problems)
    when = _gate(values["when"], fields) if "when" in values else None
    status = fields.text(values["status"], "status") if "status" in values else None
    if status is not None and status.is_static and values["status"] not in ("success", "error"):
        fields.report("status", "invalid_value", "must be `success` or `error`")
    message = fields.text(values["message"], "message") if "message" in values else None
    output = None
    if "output" in values:
        if not isinstance(values["output"], dict):
            fields.report("output", "invalid_type", "must be an object")
        output = fields.template(values["output"], "output")
    if len(fields.problems) > before or status is None:
        return None
    return ExitSpec(when=when, status=status, message=message, output=output)


def _gate(data: Any, fields: Fields) -> Gate | None:
    try:
        gate = compile_gate(data)
    except LanguageError as error:
        fields.report("when", error.code, error.message)
        return None
    # The roots are those of the templates inside; compiling the same data as a value checks them all.
    fields.value(data, "when")
    return gate
