"""Another attempt of a run that has failed: what has succeeded stays, everything else begins anew."""

from collections.abc import Mapping
from typing import Any

from compozy.engine.codes import CAP_REACHED, UNDECIDED
from compozy.engine.nodes import Nodes, by_name, by_path
from compozy.engine.strategies import Count, settle
from compozy.language.compiled import CollectSpec, CompiledPlan, FanOutSpec, GateSpec, SubLoopSpec

Told = Mapping[str, Mapping[str, Any]]
"""What is stored of nodes or cells, by name or path."""


def kept_for_another_attempt(plan: CompiledPlan, nodes: Mapping[str, Mapping[str, Any]]) -> Nodes:
    """What of the nodes of a run stays: each node, element and lane that has succeeded.

    A fan-out whose strategy was not met begins again, with the lanes that have succeeded as they are: its join
    would only fail again. What is asked again is a new question, and the old one remains as history.
    """
    told = dict(by_path(plan, nodes))
    joined = _joined(plan, told)
    kept = {
        path
        for path, one in told.items()
        if one["status"] == "Succeeded"
        and not (path not in joined and _is_unmet(plan, path, told))
        and not _is_looked_at_again(plan, path, told)
    }
    stays = ((path, one) for path, one in told.items() if path in kept or _is_within(path, kept))
    return by_name(plan, ((path, _stored(one)) for path, one in stays))


def _is_within(path: str, kept: set[str]) -> bool:
    """Whether a cell is part of one that stays: then it is history, whatever it has come to."""
    outer = path
    while True:
        lane, _, index = outer.rpartition(".")
        outer = lane if index.isdecimal() else outer.rpartition("/")[0]
        if not outer:
            return False
        if outer in kept:
            return True


def _joined(plan: CompiledPlan, told: Told) -> set[str]:
    """The fan-outs whose join has come to something that stays, though their strategy was not met."""
    joined = set()
    for path, one in told.items():
        node = plan.node_at(path) if one["status"] == "Succeeded" else None
        if node is not None and isinstance(node.spec, CollectSpec):
            joined.add(f"{path.removesuffix(node.id)}{node.spec.fan_out}")
    return joined


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
    indexes = (told[path].get("output") or {}).get("indexes", ())
    ended = [told[f"{path}.{index}"]["status"] for index in indexes if f"{path}.{index}" in told]
    count = Count(len(indexes), ended.count("Succeeded"), ended.count("Failed"))
    settlement = settle(node.spec.strategy, count)
    return settlement is None or not settlement.met


def _stored(told: Mapping[str, Any]) -> dict[str, Any]:
    """As it is stored: a large output only by where it is."""
    return {key: value for key, value in told.items() if key != "output" or "outputRef" not in told}
