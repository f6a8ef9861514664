"""A run as a tree of its steps or nodes, with the lanes of fan-outs and the questions where they are asked.

What paths say is in `paths`.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from compozy.cli.drawing.lanes import fan_out_bodies
from compozy.cli.drawing.model import field_of, list_of, text_of
from compozy.cli.listing import asking_order
from compozy.cli.paths import item_beyond_path, numbered
from compozy.cli.states import HANDLED, word_of
from compozy.requests.state import state_of

Object = Mapping[str, Any]

URGENCY = ("Waiting", "Failed", "Running", "Ready", HANDLED)
"""What a person looks for first."""


@dataclass(slots=True)
class Branch:
    """One step or node, one place inside a step's body, or one lane of either."""

    name: str
    status: Object | None = None
    questions: list[Object] = field(default_factory=list)
    children: dict[str, "Branch"] = field(default_factory=dict)
    lanes: dict[int, "Branch"] = field(default_factory=dict)

    @property
    def is_known(self) -> bool:
        """Whether the run has told anything of it."""
        return bool(self.status or self.questions or self.lanes) or any(
            child.is_known for child in self.children.values()
        )

    @property
    def standing(self) -> str:
        """Its state; where the run does not tell it, what its questions, children and lanes come to."""
        states = [state_of(question) for question in self.questions]
        if "Pending" in states:
            return "Waiting"
        if self.status and self.status.get("status"):
            return word_of(self.status)
        if states:
            return states[-1]
        return min(self._inner(), key=urgency, default="Pending")

    @property
    def waits(self) -> bool:
        """Whether it waits, or anything inside of it."""
        return self.standing == "Waiting" or "Waiting" in self._inner()

    def _inner(self) -> Iterator[str]:
        for branch in (*self.children.values(), *self.lanes.values()):
            yield branch.standing
            yield from branch._inner()


@dataclass(frozen=True, slots=True)
class Places:
    """What is known of a plan before it runs."""

    order: Sequence[str] = ()
    """The paths of its steps or nodes, as its author wrote them."""
    loops: frozenset[str] = frozenset()
    """The ids of its sub-loops, and of what has their turns as items."""
    bodies: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """By the id of a fan-out: the ids of what is in its lanes."""


NOWHERE = Places()
"""Of a plan of which nothing is known."""


def urgency(state: str) -> int:
    """The rank of a state: smaller is looked for first."""
    return URGENCY.index(state) if state in URGENCY else len(URGENCY)


def places_of(spec: Object | None) -> Places:
    """The places of a plan, those in the bodies of sub-loops included. Whatever is not well formed is left out."""
    order: list[str] = []
    loops: set[str] = set()
    bodies: dict[str, Sequence[str]] = {}
    if spec is not None:
        graph = spec.get("graph")
        block = {"nodes": spec["steps"]} if spec.get("steps") else graph
        _add_places(block, "", order, loops, bodies)
    return Places(order, frozenset(loops), bodies)


def _add_places(
    block: Any,
    prefix: str,
    order: list[str],
    loops: set[str],
    bodies: dict[str, Sequence[str]],
    *,
    in_loop: bool = False,
) -> None:
    nodes = [node for node in list_of(field_of(block, "nodes")) if text_of(field_of(node, "id"))]
    pairs = [(field_of(edge, "from"), field_of(edge, "to")) for edge in list_of(field_of(block, "edges"))]
    kinds = {text_of(node["id"]): text_of(node.get("kind")) for node in nodes}
    edges = [(source, target) for source, target in pairs if {source, target} <= kinds.keys()]
    found = fan_out_bodies(kinds, edges)
    bodies.update(found)
    in_lanes = {node_id for body in found.values() for node_id in body}
    for node in nodes:
        node_id = text_of(node["id"])
        order.append(f"{prefix}{node_id}")
        if kinds[node_id] == "sub-loop" or (in_loop and node_id not in in_lanes):
            loops.add(node_id)
        if kinds[node_id] == "sub-loop":
            _add_places(node.get("body"), f"{prefix}{node_id}/", order, loops, bodies, in_loop=True)


def tree_of(order: Sequence[str], nodes: Mapping[str, Object], questions: Sequence[Object]) -> Branch:
    """The steps or nodes of a run under one root: first those of the plan in its order, then others by name.

    `nodes` are those of the status, complete.
    """
    root = Branch("")
    for path in (*order, *sorted(nodes, key=_natural)):
        branch = _at(root, path)
        branch.status = nodes.get(path)
        for index, told in (branch.status or {}).get("items", {}).items():
            _lane(branch, int(index)).status = told
    for question in asking_order(questions):
        _asked_at(root, question["spec"]).questions.append(question)
    ranks = {path.rpartition("/")[2]: rank for rank, path in enumerate(order)}
    _tidy(root, ranks)
    return root


def _asked_at(root: Branch, spec: Object) -> Branch:
    branch, item = _at(root, spec["node"]), item_beyond_path(spec)
    return branch if item is None else _lane(branch, item)


def _at(root: Branch, path: str) -> Branch:
    branch = root
    for part in path.split("/"):
        name, lane = numbered(part)
        if name:
            branch = branch.children.setdefault(name, Branch(name))
        if lane is not None:
            branch = _lane(branch, lane)
    return branch


def _lane(branch: Branch, index: int) -> Branch:
    return branch.lanes.setdefault(index, Branch(str(index)))


def _tidy(branch: Branch, ranks: Mapping[str, int]) -> None:
    """Puts what is in lanes into the order of the plan, and takes away what stands for it outside of them."""
    for child in branch.children.values():
        inside = {name for lane in child.lanes.values() for name in _names(lane)}
        for holder in (branch, child):
            holder.children = {
                name: inner for name, inner in holder.children.items() if name not in inside or inner.is_known
            }
        for lane in child.lanes.values():
            lane.children = dict(sorted(lane.children.items(), key=lambda pair: ranks.get(pair[0], len(ranks))))
            _tidy(lane, ranks)
        _tidy(child, ranks)


def _names(branch: Branch) -> Iterator[str]:
    for name, child in branch.children.items():
        yield name
        yield from _names(child)


def _natural(text: str) -> list[Any]:
    """E2 before E10."""
    return [(0, int(part), "") if part.isdigit() else (1, 0, part) for part in re.split(r"(\d+)", text)]
