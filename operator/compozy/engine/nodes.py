"""`status.nodes`, and pages of it: what is told of nodes under the names that people know."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from compozy.language.compiled import CompiledPlan

Nodes = dict[str, dict[str, Any]]
"""By the name of the node; in a fan-out each has its lanes as `items`."""


def by_name(plan: CompiledPlan, told: Iterable[tuple[str, dict[str, Any]]]) -> Nodes:
    """What is told by path, in the shape of `status.nodes`."""
    nodes: Nodes = {}
    for path, one in told:
        name, item = plan.address_of(path)
        if item is not None:
            nodes.setdefault(name, {}).setdefault("items", {})[str(item)] = one
        else:
            nodes[name] = _with_items(one, nodes.get(name, {}).get("items"))
    return nodes


def by_path(plan: CompiledPlan, nodes: Mapping[str, Mapping[str, Any]]) -> Iterator[tuple[str, dict[str, Any]]]:
    """What is told of nodes and of their lanes, each under its path."""
    for name, told in nodes.items():
        if "status" in told:
            yield plan.path_at(name, None), {key: value for key, value in told.items() if key != "items"}
        for index, item in (told.get("items") or {}).items():
            yield plan.path_at(name, int(index)), dict(item)


def merged(parts: Iterable[Mapping[str, Mapping[str, Any]]]) -> Nodes:
    """Nodes from several places: later ones win, node by node and item by item. No part is changed, ever."""
    nodes: Nodes = {}
    for part in parts:
        for name, told in part.items():
            known = nodes.get(name, {})
            items = {index: dict(item) for index, item in (told.get("items") or {}).items()}
            alone = told if "status" in told else {**known, **told}
            nodes[name] = _with_items(alone, {**known.get("items", {}), **items})
    return nodes


def each_of(nodes: Nodes) -> Iterator[dict[str, Any]]:
    """What is told of each node and of each lane, to be changed in place."""
    for told in nodes.values():
        yield told
        yield from told.get("items", {}).values()


def _with_items(told: Mapping[str, Any], items: Mapping[str, Any] | None) -> dict[str, Any]:
    alone = {key: value for key, value in told.items() if key != "items"}
    return {**alone, "items": items} if items else alone
