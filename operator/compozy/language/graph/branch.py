"""`branch` in a graph plan: go on, or skip everything that depends on it."""

from collections.abc import Mapping
from typing import Any, Final

from compozy.language.compiled import BranchSpec
from compozy.language.graph.fields import Fields
from compozy.language.graph.made import Made
from compozy.language.graph.shapes import BOOLEAN, Members

OUTPUT: Final = Members({"taken": BOOLEAN})


def compile_branch(values: Mapping[str, Any], fields: Fields) -> Made | None:
    """Compile a branch; None where it cannot be right, with the problems recorded."""
    source, on_eval_error = values.get("condition"), values.get("on_eval_error", "fail")
    if on_eval_error not in ("fail", "exit"):
        fields.report("on_eval_error", "invalid_value", "must be `fail` or `exit`")
        on_eval_error = "fail"
    if source is None:
        fields.report("condition", "missing_key", "`condition` is required: a CEL expression")
        return None
    condition = fields.condition(source, "condition")
    if condition is None:
        return None
    return Made(BranchSpec(source, condition, on_eval_error), OUTPUT)
