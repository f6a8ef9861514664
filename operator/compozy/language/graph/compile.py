"""The graph dialect: a plan's nodes and edges, compiled, with every problem that they have."""

from collections.abc import Mapping
from typing import Any

from compozy.language.compiled import CompiledPlan
from compozy.language.graph.blocks import compile_body, compile_nodes
from compozy.language.graph.bounds import check_lanes
from compozy.language.graph.dialect import GraphDialect
from compozy.language.graph.fields import Fields
from compozy.language.graph.inputs import inputs_schema
from compozy.language.graph.outline import names_bound
from compozy.language.graph.places import Setting
from compozy.language.graph.shapes import Declared
from compozy.language.problems import Problem


def compile_graph(values: Mapping[str, Any], problems: list[Problem], *, max_parallel: int) -> CompiledPlan | None:
    """Compile `graph`, `inputs` and `output`, reporting every problem found.

    Args:
        values: the spec of the plan, in snake_case.
        problems: receives what is wrong.
        max_parallel: how many lanes of a fan-out are open at a time where it does not say.
    """
    before = len(problems)
    schema = values.get("input_schema")
    if schema is None:
        schema = inputs_schema(values.get("inputs"), problems)
    setting = Setting(
        inputs=None if schema is None else Declared(schema),
        lane_names=frozenset(names_bound(_nodes(values["graph"]))),
        max_parallel=max_parallel,
        compile_body=compile_body,
    )
    block, graph = compile_nodes(values["graph"], "graph", setting, problems)
    if block is not None:
        check_lanes(block, problems)
    output = None
    if values.get("output") is not None:
        output = Fields("", "output", graph.afterwards(), problems).value(values["output"], "")
    if block is None or len(problems) > before:
        return None
    return CompiledPlan(dialect=GraphDialect(), block=block, input_schema=schema, output=output)


def _nodes(graph: Any) -> Any:
    return graph.get("nodes") if isinstance(graph, Mapping) else None
