"""Which nodes of a graph a fan-out does again for every element."""

from collections.abc import Mapping, Sequence


def fan_out_bodies(kinds: Mapping[str, str], edges: Sequence[tuple[str, str]]) -> dict[str, list[str]]:
    """For each fan-out, what can be reached from it up to, and without, its collect.

    Fan-outs and collects are matched like brackets. `kinds` has the kind of each node; edges may run in circles.
    """
    after: dict[str, list[str]] = {}
    for source, target in edges:
        after.setdefault(source, []).append(target)
    return {node_id: _body(node_id, kinds, after) for node_id, kind in kinds.items() if kind == "fan-out"}


def _body(fan_out: str, kinds: Mapping[str, str], after: Mapping[str, list[str]]) -> list[str]:
    seen: dict[str, int] = {}
    """Nodes with the number of fan-outs that are open before them."""
    to_visit = [(target, 1) for target in after.get(fan_out, ())]
    while to_visit:
        node_id, depth = to_visit.pop()
        kind = kinds[node_id]
        if node_id in seen or node_id == fan_out or (kind == "collect" and depth == 1):
            continue
        seen[node_id] = depth
        depth += {"fan-out": 1, "collect": -1}.get(kind, 0)
        to_visit += [(target, depth) for target in after.get(node_id, ())]
    return [node_id for node_id in kinds if node_id in seen]
