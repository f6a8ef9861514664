"""Another attempt of a run that has failed: what has succeeded stays, everything else begins anew."""

from collections.abc import Mapping
from typing import Any

from compozy.engine.snapshot import Nodes
from compozy.language.compiled import CompiledPlan, FanOutSpec


def kept_for_another_attempt(plan: CompiledPlan, nodes: Mapping[str, Mapping[str, Any]]) -> Nodes:
    """What of the nodes of a run stays: each node, element and lane that has succeeded.

    A fan-out whose strategy was not met begins again, with the lanes that have succeeded as they are: its
    join would only fail again. What is asked again is a new question, and the old one remains as history.
    """
    kept: Nodes = {}
    for name, told in nodes.items():
        items = {
            index: _stored(item)
            for index, item in (told.get("items") or {}).items()
            if item["status"] == "Succeeded"
        }
        alone = {} if told.get("status") != "Succeeded" or _is_unmet(plan, name, told) else _stored(told)
        if alone or items:
            kept[name] = {**alone, **({"items": items} if items else {})}
    return kept


def _is_unmet(plan: CompiledPlan, name: str, told: Mapping[str, Any]) -> bool:
    node, output = plan.node_at(name), told.get("output")
    if node is None or not isinstance(node.spec, FanOutSpec) or not isinstance(output, Mapping):
        return False
    return output.get("met") is False


def _stored(told: Mapping[str, Any]) -> dict[str, Any]:
    """As it is stored: a large output only by where it is."""
    dropped = {"items", "output"} if "outputRef" in told else {"items"}
    return {key: value for key, value in told.items() if key not in dropped}
