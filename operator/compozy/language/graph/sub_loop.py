"""`sub-loop` in a graph plan: an inline graph, once or until a condition holds."""

from collections.abc import Mapping
from typing import Any, Final

from compozy.language.compiled import Condition, SubLoopSpec
from compozy.language.graph.fields import Fields, join
from compozy.language.graph.made import Made
from compozy.language.graph.numbers import whole_number
from compozy.language.graph.places import Graph
from compozy.language.graph.shapes import NUMBER, Members, Shape, nullable

DEFAULT_CAP: Final = 50
MAX_CAP: Final = 1000


def compile_sub_loop(values: Mapping[str, Any], fields: Fields) -> Made | None:
    """Compile a sub-loop; None where it cannot be right, with the problems recorded."""
    before = len(fields.problems)
    body = values.get("body")
    if not isinstance(body, Mapping):
        fields.report("body", "missing_key", "`body` is required: an object of `nodes` and `edges`")
        return None
    made = fields.setting.compile_body(body, join(fields.path, "body"), fields.place, fields.problems)
    if made is None:
        return None
    block, graph = made
    stop_when, source, cap = _contract(values.get("contract"), graph, fields)
    if len(fields.problems) > before:
        return None
    return Made(SubLoopSpec(block, stop_when, source, cap), _output(graph))


def _contract(value: Any, graph: Graph, fields: Fields) -> tuple[Condition | None, str, int]:
    """When the body has run often enough. The condition sees its nodes."""
    if value is None:
        return None, "", 1
    values = fields.keys(value, "contract", ("stop_when", "iteration_cap"), required=("stop_when",))
    within = Fields(fields.node, fields.path, graph.afterwards(), fields.problems)
    source = values.get("stop_when")
    condition = within.condition(source, "contract.stop_when") if "stop_when" in values else None
    cap = values.get("iteration_cap", DEFAULT_CAP)
    cap = whole_number(cap, "contract.iteration_cap", fields, 1, MAX_CAP, "iteration_cap_invalid")
    return condition, source if isinstance(source, str) else "", cap


def _output(graph: Graph) -> Shape:
    """The outputs of the nodes that nothing comes after."""
    last = {
        name: nullable(graph.outputs.get(name))
        for name in graph.layout.order
        if not graph.edges.out(name) and not graph.layout.lanes[name]
    }
    return Members({"iterations": NUMBER, "output": Members(last)})
