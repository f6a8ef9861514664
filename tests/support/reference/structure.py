"""How the nodes of a graph stand to one another."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from support.reference.terms import Place


class Structure:
    """The nodes and edges of a graph."""

    def __init__(self, graph: Mapping[str, Any]) -> None:
        self.nodes: Mapping[str, Mapping[str, Any]] = graph["nodes"]
        self.edges: Sequence[tuple[str, str]] = graph["edges"]
        self.around = cache(self.around)  # type: ignore[method-assign]

    def around(self, node: str) -> tuple[str, ...]:
        """The fan-outs that a node stands in, outermost first."""
        outer = self.nodes[node]["within"]
        return () if outer is None else (*self.around(outer), outer)

    def targets(self, node: str) -> list[str]:
        """The nodes that come directly after one."""
        return [target for source, target in self.edges if source == node]

    def sources(self, node: str) -> list[str]:
        """What a node comes directly after. A collect comes after its fan-out instead of what is in its lanes."""
        found = [source for source, target in self.edges if target == node]
        own = self.nodes[node].get("of")
        return found if own is None else [own, *(source for source in found if own not in self.around(source))]

    def awaited(self, node: str) -> set[str]:
        """The nodes outside that the body of a fan-out comes after: it waits for them (`awaits`)."""
        inside = [inner for inner in self.nodes if node in self.around(inner)]
        needed = {(source, inner) for inner in inside for source in self.sources(inner)}
        return {
            source
            for source, inner in needed
            if source not in self.around(inner) and node not in self.around(source)
        }

    def path(self, node: str, place: Place) -> str:
        """The path of a cell, such as `services.3/choose`."""
        return "/".join([*(f"{fan_out}.{index}" for fan_out, index in place), node])

    def body(self, fan_out: str) -> list[str]:
        """The nodes that stand in the lanes of a fan-out, and in none further inside."""
        return [node for node, data in self.nodes.items() if data["within"] == fan_out]
