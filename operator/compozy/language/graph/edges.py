"""The edges of a graph: read, checked and asked for neighbours."""

from collections.abc import Collection
from typing import Any

from compozy.language.keys import read_keys
from compozy.language.problems import Problem


class Edges:
    """What comes after what."""

    def __init__(self, pairs: Collection[tuple[str, str]]) -> None:
        self._into: dict[str, list[str]] = {}
        self._out: dict[str, list[str]] = {}
        for source, target in pairs:
            self._into.setdefault(target, []).append(source)
            self._out.setdefault(source, []).append(target)

    def into(self, node: str) -> tuple[str, ...]:
        """Direct dependencies of a node."""
        return tuple(self._into.get(node, ()))

    def out(self, node: str) -> tuple[str, ...]:
        """Direct dependents of a node."""
        return tuple(self._out.get(node, ()))

    def before(self, node: str) -> frozenset[str]:
        """Every node that has ended when this one starts."""
        seen: set[str] = set()
        stack = list(self.into(node))
        while stack:
            current = stack.pop()
            if current not in seen:
                seen.add(current)
                stack.extend(self.into(current))
        return frozenset(seen)


def read_edges(data: Any, ids: Collection[str], problems: list[Problem]) -> Edges:
    """Read `graph.edges`; an end that names no node is an `unknown_reference`."""
    pairs: dict[tuple[str, str], None] = {}
    if data is not None and not isinstance(data, list):
        problems.append(Problem("graph.edges", "invalid_type", "must be a list of {from, to}"))
        data = None
    for index, edge in enumerate(data or ()):
        path = f"graph.edges[{index}]"
        ends = read_keys(edge, path, ("from", "to"), problems, required=("from", "to"))
        known = [_end(ends[name], f"{path}.{name}", ids, problems) for name in ("from", "to") if name in ends]
        if len(known) == 2 and all(known):
            pair = (ends["from"], ends["to"])
            if pair in pairs:
                problems.append(Problem(path, "duplicate_edge", f"the edge {pair[0]} → {pair[1]} is there twice"))
            pairs[pair] = None
    return Edges(pairs)


def _end(name: Any, path: str, ids: Collection[str], problems: list[Problem]) -> bool:
    if isinstance(name, str) and name in ids:
        return True
    problems.append(Problem(path, "unknown_reference", f"there is no node `{name}`"))
    return False
