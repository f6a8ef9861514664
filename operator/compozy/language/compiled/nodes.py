"""Nodes, and blocks of nodes."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from compozy.language.compiled.common import AskSpec, CallSpec
from compozy.language.compiled.graph import (
    ApprovalSpec,
    BranchSpec,
    CollectSpec,
    FanOutSpec,
    GateSpec,
    InputSpec,
    JudgeSpec,
    RouteSpec,
    RunAgentSpec,
    RunLoopSpec,
    SubLoopSpec,
    TransformSpec,
    WaitSpec,
)
from compozy.language.compiled.policy import NO_POLICY, Policy
from compozy.language.compiled.steps import (
    AgentSpec,
    DecideSpec,
    ExitSpec,
    FilterSpec,
    MapSpec,
    PlanCallSpec,
    ReduceSpec,
    SolverSpec,
)

NodeSpec = (
    AskSpec
    | ApprovalSpec
    | BranchSpec
    | FanOutSpec
    | CollectSpec
    | GateSpec
    | JudgeSpec
    | WaitSpec
    | SubLoopSpec
    | InputSpec
    | RunLoopSpec
    | RunAgentSpec
    | ExitSpec
    | RouteSpec
    | TransformSpec
    | DecideSpec
    | FilterSpec
    | MapSpec
    | ReduceSpec
    | CallSpec
    | AgentSpec
    | PlanCallSpec
    | SolverSpec
)


@dataclass(frozen=True, slots=True)
class Node:
    """One step or node."""

    id: str
    """Empty for the one call of a body that is not a list."""
    spec: NodeSpec
    path: str
    """Where it stands in the plan, such as `steps[0]`."""
    after: tuple[str, ...] = ()
    """The nodes of its block that must have ended first."""
    outside: tuple[str, ...] = ()
    """In the body of a fan-out: nodes of the surrounding block that it also comes after."""
    awaits: tuple[str, ...] = ()
    """Of a fan-out: nodes that must have ended first, for its body needs them; whether they ran is not asked."""
    ways: tuple[str, ...] = ()
    """Of a graph: where its edges lead, as authored, in whatever block."""
    policy: Policy = NO_POLICY


@dataclass(frozen=True, slots=True)
class Block:
    """Nodes that run together: a plan, a branch, the body of an iteration."""

    nodes: Mapping[str, Node]
    """By id, in an order in which every node comes after what it depends on."""
    dependents: Mapping[str, tuple[str, ...]]
    last: str
    """The node whose result is that of the block."""
    last_asking: str | None
    """The last node that may put a question."""


def each_node(block: Block) -> Iterator[Node]:
    """Every node of a graph, those in bodies too."""
    for node in block.nodes.values():
        yield node
        if isinstance(node.spec, FanOutSpec | SubLoopSpec | GateSpec):
            yield from each_node(node.spec.body)


def block_of(nodes: Mapping[str, Node]) -> Block:
    """A block of nodes that are in order."""
    asking = [node.id for node in nodes.values() if isinstance(node.spec, AskSpec | PlanCallSpec)]
    return Block(nodes, dependents_of(nodes), list(nodes)[-1], asking[-1] if asking else None)


def dependents_of(nodes: Mapping[str, Node]) -> dict[str, tuple[str, ...]]:
    """For each node, those that come directly after it, in the order of the plan."""
    found: dict[str, list[str]] = {node_id: [] for node_id in nodes}
    for node in nodes.values():
        for dependency in dict.fromkeys((*node.after, *node.awaits)):
            found[dependency].append(node.id)
    return {node_id: tuple(ids) for node_id, ids in found.items()}
