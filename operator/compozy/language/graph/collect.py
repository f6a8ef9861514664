"""`collect` in a graph plan: join the lanes of a fan-out."""

from collections.abc import Mapping
from typing import Any, Final

from compozy.language.compiled import CollectSpec, FanOutSpec
from compozy.language.graph.fields import Fields
from compozy.language.graph.made import Made
from compozy.language.graph.shapes import BOOLEAN, NUMBER, Members, Shape

COVERAGE: Final = Members(
    {
        **dict.fromkeys(("total", "succeeded", "failed", "canceled", "coverage_rate"), NUMBER),
        "partial": BOOLEAN,
    }
)


def compile_collect(values: Mapping[str, Any], fields: Fields) -> Made | None:  # noqa: ARG001
    """Compile a collect; None where no fan-out leads to it, which is reported with the structure."""
    graph = fields.place.graph
    fan_out = graph.layout.fan_outs.get(fields.node)
    if fan_out is None:
        return None
    body = graph.layout.joins[fields.node].body
    output: Shape = COVERAGE
    spec = graph.specs.get(fan_out)
    if isinstance(spec, FanOutSpec) and spec.strategy.kind == "race":
        # The winner's value; which of several nodes that is cannot be known beforehand.
        output = graph.outputs.get(body[0]) if len(body) == 1 else None
    return Made(CollectSpec(fan_out), output)
