"""`decide` in a steps plan: one of two branches."""

from typing import Any

from compozy.language.compiled import DecideSpec
from compozy.language.steps.block import compile_body
from compozy.language.steps.fields import Fields

_KEYS = ("if", "infer", "model", "then", "else")


def compile_decide(data: Any, fields: Fields) -> DecideSpec | None:
    """Compile the input of a decide; None where it cannot be right, with the problems recorded."""
    values = fields.keys(data, _KEYS, required=("then",))
    if values is None:
        return None
    before = len(fields.problems)
    gate = fields.either_gate(values, "if")
    around = fields.around.within("branch")
    then = compile_body(values["then"], fields.at("then"), around) if "then" in values else None
    otherwise = compile_body(values["else"], fields.at("else"), around) if "else" in values else None
    if len(fields.problems) > before or gate is None or then is None:
        return None
    return DecideSpec(gate, then, otherwise)
