"""Places in a plan, by what people call them: the path in a run without indexes.

The nodes in the lanes of a fan-out go by their own ids, those in the body of a sub-loop and the criteria of a gate
by the id of that and their own: `choose`, `polish/ask`, `ready/tests`.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from compozy.language.compiled import (
    Block,
    CollectSpec,
    CompiledPlan,
    Criterion,
    FanOutSpec,
    GateSpec,
    Node,
    SubLoopSpec,
)

_INDEX = re.compile(r"\.\d+(?=/|$)")


def label_of(plan: CompiledPlan, path: str) -> str:
    """The label of a path in a run."""
    if plan.dialect.name == "steps":
        return _INDEX.sub("", path)
    *before, last = path.split("/")
    names = [name for name in before if not name.isdecimal() and "." not in name]
    return "/".join([*names, last.partition(".")[0]])


@dataclass(frozen=True, slots=True)
class GraphNode:
    """One node of a graph, wherever it stands."""

    node: Node
    criterion: Criterion | None = None
    """Of a gate, where it is one."""
    speaks_of_failure: bool = False
    """Whether the author says what follows when it fails: here, or at what it stands in."""


def graph_nodes(plan: CompiledPlan) -> dict[str, GraphNode]:
    """Every node of a graph, by label."""
    return dict(_nodes(plan.block, "", False)) if plan.dialect.name == "graph" else {}


def _nodes(block: Block, prefix: str, foreseen: bool) -> Iterator[tuple[str, GraphNode]]:
    for node in block.nodes.values():
        label = f"{prefix}{node.id}"
        absorbs = foreseen or absorbs_failures(node)
        yield label, GraphNode(node, None, absorbs)
        match node.spec:
            case FanOutSpec() as spec:
                yield from _nodes(spec.body, prefix, absorbs or _outlives_failures(block, node, spec))
            case SubLoopSpec() as spec:
                yield from _nodes(spec.body, f"{label}/", absorbs)
            case GateSpec() as spec:
                criteria = {criterion.id: criterion for criterion in spec.criteria}
                for name, inner in _nodes(spec.body, f"{label}/", True):
                    yield name, replace(inner, criterion=criteria[inner.node.id])


def absorbs_failures(node: Node) -> bool:
    """Whether a node goes on after its own failure."""
    return node.policy.allow_fail or node.policy.error_route is not None


def _outlives_failures(block: Block, node: Node, spec: FanOutSpec) -> bool:
    """Whether a failed lane is not the end of what the fan-out stands in."""
    joins = (block.nodes[name] for name in block.dependents[node.id])
    return spec.strategy.kind != "wait_all" or any(
        absorbs_failures(join) for join in joins if isinstance(join.spec, CollectSpec)
    )
