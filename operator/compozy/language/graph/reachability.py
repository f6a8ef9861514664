"""Nodes that can never run: every way to them is closed whatever the run finds.

A graph without circles has no node that no start leads to. What there can be are ways that the plan itself rules
out: behind a condition that is written as `false`, or behind a gate that never goes that way.
"""

from collections.abc import Mapping

from compozy.language.compiled import BranchSpec, GateSpec, NodeSpec, Policy, RouteSpec
from compozy.language.graph.outline import Outline
from compozy.language.graph.places import Graph
from compozy.language.problems import Problem


def check_reachable(
    outlines: Mapping[str, Outline], graph: Graph, policies: Mapping[str, Policy], problems: list[Problem]
) -> None:
    """Report every first node on a way that is closed. Code: `unreachable_node`."""
    closed: set[str] = set()
    for node_id in graph.layout.order:
        sources = graph.edges.into(node_id)
        shut = [source for source in sources if _is_shut(source, node_id, graph, policies)]
        if not sources or not all(source in closed or source in shut for source in sources):
            continue
        closed.add(node_id)
        if shut:
            message = f"`{node_id}` can never run: `{shut[0]}` never leads to it"
            problems.append(Problem(outlines[node_id].path, "unreachable_node", message))


def _is_shut(source: str, target: str, graph: Graph, policies: Mapping[str, Policy]) -> bool:
    open_to = _open_to(graph.specs[source])
    return open_to is not None and target not in open_to and target != policies[source].error_route


def _open_to(spec: NodeSpec) -> set[str] | None:
    """The nodes that this one may lead to when it succeeds; None for all."""
    match spec:
        case BranchSpec(source=source) if _literal(source) is False:
            return set()
        case RouteSpec():
            return _destinations(spec)
        case GateSpec():
            routes = spec.on_result.values()
            if any(route.action == "continue" for route in routes):
                return None
            return {route.branch for route in routes if route.branch is not None}
    return None


def _destinations(spec: RouteSpec) -> set[str]:
    found = set()
    for source, _, destination in spec.routes:
        if _literal(source) is not False:
            found.add(destination)
        if _literal(source) is True:
            return found
    return found | {spec.default}


def _literal(source: str) -> bool | None:
    """The truth of a condition that is written as a literal."""
    return {"true": True, "false": False}.get(source.strip(" \t\n()"))
