"""Another attempt of a run that has failed: what has succeeded stays, everything else begins anew."""

from collections.abc import Iterator, Mapping
from typing import Any

from compozy.engine.codes import CAP_REACHED, UNDECIDED
from compozy.engine.snapshot import Nodes, put_node
from compozy.engine.strategies import Count, settle
from compozy.language.compiled import CollectSpec, CompiledPlan, FanOutSpec, GateSpec, SubLoopSpec

Told = Mapping[str, Mapping[str, Any]]
"""What is stored of nodes or cells, by name or path."""


def kept_for_another_attempt(plan: CompiledPlan, nodes: Mapping[str, Mapping[str, Any]]) -> Nodes:
    """What of the nodes of a run stays: each node, element and lane that has succeeded.

    A fan-out whose strategy was not met begins again, with the lanes that have succeeded as they are: its join
    would only fail again. What is asked again is a new question, and the old one remains as history.
    """
    told = dict(_by_path(plan, nodes))
    kept: Nodes = {}
    for path, one in told.items():
        if one["status"] == "Succeeded" and not (
            _is_unmet(plan, path, told) or _is_looked_at_again(plan, path, told)
        ):
            put_node(kept, *plan.address_of(path), _stored(one))
    return kept


def _by_path(plan: CompiledPlan, nodes: Told) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for name, told in nodes.items():
        if "status" in told:
            yield plan.path_at(name, None), told
        for index, item in (told.get("items") or {}).items():
            yield plan.path_at(name, int(index)), item


def _is_looked_at_again(plan: CompiledPlan, path: str, told: Told) -> bool:
    """Whether a result would only lead to the same failure: a criterion not passed, iterations without end."""
    outer = path
    while "/" in outer:
        outer = outer.rpartition("/")[0]
        node = plan.node_at(outer)
        if node is None or outer.rpartition("/")[2].isdecimal():
            continue
        if isinstance(node.spec, GateSpec) and not _has_passed(told[path].get("output")):
            return True
        failed = told.get(outer, {}).get("reason") in (CAP_REACHED, UNDECIDED)
        if isinstance(node.spec, SubLoopSpec) and node.spec.stop_when is not None and failed:
            return True
    return False


def _has_passed(output: Any) -> bool:
    return isinstance(output, Mapping) and output.get("passed") is True


def _is_unmet(plan: CompiledPlan, path: str, told: Told) -> bool:
    node = plan.node_at(path)
    is_lane = "." in path.rpartition("/")[2]
    if node is None or is_lane or not isinstance(node.spec, FanOutSpec):
        return False
    if _is_joined(plan, path, node.id, told):
        return False
    indexes = (told[path].get("output") or {}).get("indexes", ())
    ended = [told[f"{path}.{index}"]["status"] for index in indexes if f"{path}.{index}" in told]
    count = Count(len(indexes), ended.count("Succeeded"), ended.count("Failed"))
    settlement = settle(node.spec.strategy, count)
    return settlement is None or not settlement.met


def _is_joined(plan: CompiledPlan, path: str, fan_out: str, told: Told) -> bool:
    """Whether the join of a fan-out has come to something that stays, though its strategy was not met."""
    beside = path.rpartition("/")[0]
    for other, one in told.items():
        node = plan.node_at(other) if other.rpartition("/")[0] == beside else None
        if node is not None and isinstance(node.spec, CollectSpec) and node.spec.fan_out == fan_out:
            return bool(one["status"] == "Succeeded")
    return False


def _stored(told: Mapping[str, Any]) -> dict[str, Any]:
    """As it is stored: a large output only by where it is."""
    dropped = {"items", "output"} if "outputRef" in told else {"items"}
    return {key: value for key, value in told.items() if key not in dropped}
