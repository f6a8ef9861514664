"""`map`, `reduce` and `filter` in a steps plan: the same for every element of a list."""

from typing import Any

from compozy.language.compiled import FilterSpec, MapSpec, ReduceSpec
from compozy.language.steps.block import compile_body
from compozy.language.steps.fields import Fields


def compile_map(data: Any, fields: Fields) -> MapSpec | None:
    """Compile the input of a map; None where it cannot be right, with the problems recorded."""
    values = fields.keys(data, ("over", "do", "concurrency"), required=("over", "do"))
    if values is None:
        return None
    before = len(fields.problems)
    over = fields.value(values, "over")
    around = fields.around.within("do", "item", "index")
    do = compile_body(values["do"], fields.at("do"), around) if "do" in values else None
    concurrency = fields.count(values, "concurrency", 1)
    if len(fields.problems) > before or over is None or do is None:
        return None
    return MapSpec(over, do, concurrency)


def compile_reduce(data: Any, fields: Fields) -> ReduceSpec | None:
    """Compile the input of a reduce; None where it cannot be right, with the problems recorded."""
    values = fields.keys(data, ("over", "do", "initial"), required=("over", "do"))
    if values is None:
        return None
    before = len(fields.problems)
    over, initial = fields.value(values, "over"), fields.value(values, "initial")
    around = fields.around.within("do", "item", "index", "accumulator")
    do = compile_body(values["do"], fields.at("do"), around) if "do" in values else None
    if len(fields.problems) > before or over is None or do is None:
        return None
    return ReduceSpec(over, do, initial)


def compile_filter(data: Any, fields: Fields) -> FilterSpec | None:
    """Compile the input of a filter; None where it cannot be right, with the problems recorded."""
    known = ("over", "where", "infer", "model", "concurrency")
    values = fields.keys(data, known, required=("over",))
    if values is None:
        return None
    before = len(fields.problems)
    over = fields.value(values, "over")
    gate = fields.either_gate(values, "where", "item", "index")
    concurrency = fields.count(values, "concurrency", 1)
    if len(fields.problems) > before or over is None or gate is None:
        return None
    return FilterSpec(over, gate, concurrency)
