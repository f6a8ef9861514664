"""How the nodes of a graph stand to one another: their order, their lanes, and what each comes after.

Questions about ancestors are answered by bit masks, one bit for each node, so that graphs of ten thousand nodes
compile in about the time that it takes to read their templates.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter

from compozy.language.errors import MAX_NAMED_KEYS
from compozy.language.graph.edges import Edges
from compozy.language.graph.nesting import Lanes, Nesting, nest
from compozy.language.graph.outline import Outline
from compozy.language.problems import Problem


@dataclass(slots=True)
class Joins:
    """What one node comes after, by where that stands."""

    after: list[str] = field(default_factory=list)
    """In the same lane, or in the graph itself."""
    outside: list[str] = field(default_factory=list)
    """Around its lanes."""
    body: list[str] = field(default_factory=list)
    """Of a collect: in the lanes that it joins."""


@dataclass(frozen=True, slots=True)
class Layout:
    """The structure of a graph."""

    edges: Edges
    order: tuple[str, ...]
    """Every node, with what it depends on before it."""
    lanes: Mapping[str, Lanes]
    collects: Mapping[str, str]
    """By fan-out: its collect, where it has one."""
    fan_outs: Mapping[str, str]
    """By collect: its fan-out."""
    joins: Mapping[str, Joins]
    awaits: Mapping[str, list[str]]
    """By fan-out: the nodes beside it that its body needs."""
    bits: Mapping[str, int]
    before: Mapping[str, int]
    """By node: the bits of those that have ended when it starts."""
    is_sound: bool = True
    """Whether the structure can be relied upon; where not, it has problems of its own."""

    def precedes(self, earlier: str, later: str) -> bool:
        """Whether a node has always ended when another starts."""
        return bool(self.before[later] & self.bits[earlier])

    def names_before(self, node: str) -> str:
        """The nodes that have ended when one starts, for a message: the first few, and how many more."""
        left = self.before[node]
        names: list[str] = []
        while left and len(names) < MAX_NAMED_KEYS:
            lowest = left & -left
            names.append(self.order[lowest.bit_length() - 1])
            left ^= lowest
        more = f" and {left.bit_count()} more" if left else ""
        return ", ".join(names) + more if names else "none"


def lay_out(outlines: Mapping[str, Outline], edges: Edges, path: str, problems: list[Problem]) -> Layout:
    """Work out the structure of a graph; `path` is where its edges are.

    Codes: `cycle`, `fan_out_nesting`, and those of `nest`.
    """
    count = len(problems)
    order = _sorted({node_id: edges.into(node_id) for node_id in outlines})
    if isinstance(order, CycleError):
        message = f"the edges run in a circle: {_ring(order)}; remove one"
        problems.append(Problem(path, "cycle", message))
        return _unsound(outlines, edges)
    nesting = nest(order, outlines, edges, problems)
    if len(problems) > count:
        return _unsound(outlines, edges)
    joins, awaits = _joins(outlines, edges, nesting)
    ends = _ends(nesting, edges)
    if any(nesting.lanes.values()):
        order = _sorted(_waits(outlines, edges, awaits, ends))
    if isinstance(order, CycleError):
        message = f"lanes would wait for what comes after their own collect: {_ring(order)}"
        problems.append(Problem(path, "fan_out_nesting", message))
        return _unsound(outlines, edges)
    bits = {node_id: 1 << position for position, node_id in enumerate(order)}
    before = _before(order, edges, bits, ends)
    fan_outs = {collect: fan_out for fan_out, collect in nesting.collects.items()}
    return Layout(edges, order, nesting.lanes, nesting.collects, fan_outs, joins, awaits, bits, before)


def _sorted(waits: Mapping[str, Iterable[str]]) -> tuple[str, ...] | CycleError:
    try:
        return tuple(TopologicalSorter(waits).static_order())
    except CycleError as error:
        return error


def _ring(error: CycleError) -> str:
    return " → ".join(reversed(error.args[1]))


def _unsound(outlines: Mapping[str, Outline], edges: Edges) -> Layout:
    """What is left to check the nodes one by one."""
    order = tuple(outlines)
    nothing = dict.fromkeys(order, 0)
    joins = {node_id: Joins() for node_id in order}
    return Layout(edges, order, dict.fromkeys(order, ()), {}, {}, joins, {}, nothing, nothing, is_sound=False)


def _joins(
    outlines: Mapping[str, Outline], edges: Edges, nesting: Nesting
) -> tuple[dict[str, Joins], dict[str, list[str]]]:
    """Tell the edges into each node apart by where they come from."""
    joins: dict[str, Joins] = {}
    awaits: dict[str, dict[str, None]] = {}
    for node_id in outlines:
        lanes = nesting.lanes[node_id]
        found = joins[node_id] = Joins()
        for source in edges.into(node_id):
            level = len(nesting.lanes[source])
            if level > len(lanes):
                found.body.append(source)
            elif level == len(lanes):
                found.after.append(source)
            elif source not in lanes:
                found.outside.append(source)
                awaits.setdefault(lanes[level], {})[source] = None
        if found.body:
            fan_out = nesting.lanes[found.body[0]][-1]
            found.after = [fan_out, *(source for source in found.after if source != fan_out)]
        if (found.after or found.outside) and any(source in lanes for source in edges.into(node_id)):
            # The edge from a fan-out into its own lanes is always live, whatever becomes of the others.
            found.outside.insert(0, lanes[-1])
    return joins, {fan_out: list(sources) for fan_out, sources in awaits.items()}


def _ends(nesting: Nesting, edges: Edges) -> dict[str, list[str]]:
    """By collect: the nodes in its lanes that lead nowhere, which have ended all the same when it starts."""
    ends: dict[str, list[str]] = {}
    for node_id, lanes in nesting.lanes.items():
        for fan_out in () if edges.out(node_id) else lanes:
            if fan_out in nesting.collects:
                ends.setdefault(nesting.collects[fan_out], []).append(node_id)
    return ends


def _waits(
    outlines: Mapping[str, Outline],
    edges: Edges,
    awaits: Mapping[str, list[str]],
    ends: Mapping[str, list[str]],
) -> dict[str, tuple[str, ...]]:
    """What has ended when each node starts: what the edges say, and what lanes add to it."""
    return {
        node_id: (*edges.into(node_id), *awaits.get(node_id, ()), *ends.get(node_id, ())) for node_id in outlines
    }


def _before(
    order: Iterable[str], edges: Edges, bits: Mapping[str, int], ends: Mapping[str, list[str]]
) -> dict[str, int]:
    """The ancestors of every node."""
    before: dict[str, int] = {}
    for node_id in order:
        mask = 0
        for source in (*edges.into(node_id), *ends.get(node_id, ())):
            mask |= before[source] | bits[source]
        before[node_id] = mask
    return before
