"""Which nodes stand in the lanes of which fan-outs.

Everything that a fan-out leads to is its body, up to its collect, but for where its failure leads. A collect
belongs to the innermost fan-out that leads to it, so that nested ones match like brackets.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from compozy.language.graph.edges import Edges
from compozy.language.graph.outline import MAX_NESTING, Outline
from compozy.language.problems import Problem

Lanes = tuple[str, ...]
"""The fan-outs that a node stands in, outermost first."""


@dataclass(slots=True)
class Nesting:
    """Where the nodes of a graph stand."""

    lanes: dict[str, Lanes] = field(default_factory=dict)
    """By node."""
    collects: dict[str, str] = field(default_factory=dict)
    """By fan-out: its collect, where it has one."""


def nest(order: Iterable[str], outlines: Mapping[str, Outline], edges: Edges, problems: list[Problem]) -> Nesting:
    """Find out where every node stands, going through them with dependencies first.

    Codes: `collect_without_fan_out`, `fan_out_collect_ambiguous`, `fan_out_empty`, `fan_out_nesting`,
    `nesting_too_deep`.
    """
    nesting = Nesting()
    after: dict[str, Lanes] = {}
    for node_id in order:
        outline = outlines[node_id]
        arriving = [
            nesting.lanes[source] if leads_around(outlines[source], node_id) else after[source]
            for source in edges.into(node_id)
        ]
        deepest = max(arriving, key=len, default=())
        stray = next((lanes for lanes in arriving if deepest[: len(lanes)] != lanes), None)
        if stray is not None:
            message = f"joins lanes of `{stray[-1]}` with lanes of `{deepest[-1]}`; collect one of them first"
            problems.append(Problem(outline.path, "fan_out_nesting", message))
        if outline.kind == "collect":
            deepest = _collected(outline, deepest, nesting, problems)
        nesting.lanes[node_id] = after[node_id] = deepest
        if outline.kind == "fan-out":
            after[node_id] = _entered(outline, deepest, problems)
    _check_bodies(outlines, nesting, problems)
    return nesting


def leads_around(source: Outline, target: str) -> bool:
    """Whether an edge from a fan-out does not lead into its lanes: where its own failure leads."""
    on_error = source.data.get("on_error") if source.kind == "fan-out" else None
    return isinstance(on_error, Mapping) and on_error.get("route") == target


def _entered(outline: Outline, lanes: Lanes, problems: list[Problem]) -> Lanes:
    if len(lanes) < MAX_NESTING:
        return (*lanes, outline.id)
    message = f"fan-outs stand at most {MAX_NESTING} deep inside one another; run another plan with `run-loop`"
    problems.append(Problem(outline.path, "nesting_too_deep", message))
    return lanes


def _collected(outline: Outline, lanes: Lanes, nesting: Nesting, problems: list[Problem]) -> Lanes:
    """Where a collect stands: beside its fan-out."""
    if not lanes:
        message = f"no fan-out leads to `{outline.id}`; a collect joins the lanes of one"
        problems.append(Problem(outline.path, "collect_without_fan_out", message))
        return lanes
    fan_out = lanes[-1]
    other = nesting.collects.setdefault(fan_out, outline.id)
    if other != outline.id:
        message = f"`{fan_out}` has two collects, `{other}` and `{outline.id}`; a fan-out has at most one"
        problems.append(Problem(outline.path, "fan_out_collect_ambiguous", message))
    return lanes[:-1]


def _check_bodies(outlines: Mapping[str, Outline], nesting: Nesting, problems: list[Problem]) -> None:
    filled = {lanes[-1] for lanes in nesting.lanes.values() if lanes}
    for outline in outlines.values():
        if outline.kind == "fan-out" and outline.id not in filled:
            message = f"no node comes after `{outline.id}` and before its collect; its lanes would be empty"
            problems.append(Problem(outline.path, "fan_out_empty", message))
