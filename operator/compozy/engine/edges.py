"""What an edge says once the node that it comes from has ended.

The human-requests page and what is known of the system behind it: a join runs as soon as all edges into it
are decided and one of them is live; a route that was taken for want of an answer, or after a rejection or
failure, forbids all direct dependents but its target, even those with another live edge.
"""

from typing import Literal

from compozy.engine.state import Cell
from compozy.language.compiled import AskSpec, BranchSpec, GateSpec, Node, RouteSpec

Edge = Literal["live", "dead", "forbidden"]


def edge_of(source: Node, cell: Cell, target: str) -> Edge:
    """What the edge from an ended node to a target says."""
    if cell.status != "Succeeded":
        return "dead"
    if isinstance(source.spec, BranchSpec) and cell.output is not None and not cell.output["taken"]:
        return "dead"
    if isinstance(source.spec, RouteSpec) and cell.route is None:
        # It could not be decided, and that was let pass: no way was chosen, the default included.
        return "dead"
    if cell.route is not None:
        if cell.route == target:
            return "live"
        # One that chose its way has a result; one that was led away by a failure has none.
        chose = isinstance(source.spec, RouteSpec | GateSpec) and cell.output is not None
        return "dead" if chose else "forbidden"
    return "dead" if _is_for_the_other_case(source, target) else "live"


def _is_for_the_other_case(source: Node, target: str) -> bool:
    """Whether a target is only there for want of an answer, a rejection or a failure.

    Where it is the only way out it is the way on in every case, as on the page, and finds out by the null output.
    """
    others = other_routes(source)
    return target in others and any(way not in others for way in source.ways)


def other_routes(node: Node) -> tuple[str, ...]:
    """Where a node leads when it does not come to a result of its own."""
    policy, spec = node.policy, node.spec
    routes = [policy.error_route]
    if policy.review is not None:
        routes += [policy.review.reject_route, policy.review.expires_route]
    if isinstance(spec, AskSpec):
        routes.append(spec.expires_route)
    return tuple(route for route in routes if route is not None)
