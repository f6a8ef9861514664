"""The edges of a graph: read, checked and asked for neighbours."""

from collections.abc import Collection
from typing import Any

from compozy.language.keys import read_keys
from compozy.language.problems import Problem


class Edges:
    """What comes directly after what."""

    def __init__(self, pairs: Collection[tuple[str, str]]) -> None:
        into: dict[str, list[str]] = {}
        out: dict[str, list[str]] = {}
        for source, target in pairs:
            into.setdefault(target, []).append(source)
            out.setdefault(source, []).append(target)
        self._into = {node: tuple(sources) for node, sources in into.items()}
        self._out = {node: tuple(targets) for node, targets in out.items()}

    def into(self, node: str) -> tuple[str, ...]:
        """Direct dependencies of a node, as authored."""
        return self._into.get(node, ())

    def out(self, node: str) -> tuple[str, ...]:
        """Direct dependents of a node, as authored."""
        return self._out.get(node, ())


def read_edges(data: Any, path: str, ids: Collection[str], problems: list[Problem]) -> Edges:
    """Read the `edges` of a graph; an end that names no node is an `unknown_reference`."""
    pairs: dict[tuple[str, str], None] = {}
    if data is not None and not isinstance(data, list):
        problems.append(Problem(path, "invalid_type", "must be a list of {from, to}"))
        data = None
    for index, edge in enumerate(data or ()):
        where = f"{path}[{index}]"
        ends = read_keys(edge, where, ("from", "to"), problems, required=("from", "to"))
        known = [_end(ends[name], f"{where}.{name}", ids, problems) for name in ("from", "to") if name in ends]
        if len(known) == 2 and all(known):
            pair = (ends["from"], ends["to"])
            if pair in pairs:
                problems.append(Problem(where, "duplicate_edge", f"the edge {pair[0]} → {pair[1]} is there twice"))
            pairs[pair] = None
    return Edges(pairs)


def _end(name: Any, path: str, ids: Collection[str], problems: list[Problem]) -> bool:
    if isinstance(name, str) and name in ids:
        return True
    problems.append(Problem(path, "unknown_reference", f"there is no node `{name}` in this graph"))
    return False
