"""Where the shapes of a picture stand in a run, told lane by lane.

What a fan-out repeats stands beside it in the picture, so `outer.2/inner` is the shape `inner` in lane 2; of the
turns of a sub-loop only the last one is shown.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any

from compozy.cli.drawing.model import Drawing
from compozy.cli.paths import item_beyond_path, numbered

Lanes = tuple[int, ...]


@dataclass(slots=True)
class Cells:
    """What a run tells of each shape, by lanes. A shape that is in no lane has the one entry `()`."""

    told: dict[str, dict[Lanes, Mapping[str, Any]]] = field(default_factory=dict)
    waiting: dict[str, list[tuple[Lanes, Mapping[str, Any]]]] = field(default_factory=dict)
    """The open questions at each shape."""

    def of(self, shape: str) -> Mapping[Lanes, Mapping[str, Any]]:
        """What is told of a shape."""
        return self.told.get(shape, {})


def cells_of(
    drawing: Drawing, nodes: Mapping[str, Mapping[str, Any]], open_requests: Sequence[Mapping[str, Any]]
) -> Cells:
    """Finds the shape of each node of a status, and of each open question."""
    found = Cells()
    last: dict[tuple[str, Lanes], Lanes] = {}
    for path, node in nodes.items():
        shape, indexes = _place_of(drawing, path)
        if shape not in drawing.shapes:
            continue
        repeats = _repeats(drawing, shape)
        for all_indexes, told in _told_of(node, indexes, len(repeats)):
            lanes, turns = _sorted_out(repeats, all_indexes)
            if turns >= last.get((shape, lanes), ()):
                last[shape, lanes] = turns
                found.told.setdefault(shape, {})[lanes] = told
    for request in open_requests:
        _place_request(drawing, found, request)
    return found


def _place_of(drawing: Drawing, path: str) -> tuple[str, Lanes]:
    """The shape that a path leads to, and the lanes and turns on it, outermost first.

    The shape need not be there: it can be in a plan that was called.
    """
    shape = ""
    indexes: list[int] = []
    for part in path.split("/"):
        name, number = numbered(part)
        inner = f"{shape}/{name}" if shape and name else name or shape
        is_fan_out = inner in drawing.shapes and drawing.shapes[inner].kind == "fan-out"
        if number is not None:
            indexes.append(number)
        if number is None or not is_fan_out:
            shape = inner
    return shape, tuple(indexes)


def _repeats(drawing: Drawing, shape: str) -> list[str]:
    """Of what the shape is repeated in, whether that is lanes or turns; outermost first."""
    found = []
    group = drawing.shapes[shape].group
    while group is not None:
        found.append(drawing.groups[group].repeats)
        group = drawing.groups[group].parent
    return [repeats for repeats in reversed(found) if repeats]


def _told_of(node: Mapping[str, Any], indexes: Lanes, depth: int) -> Iterator[tuple[Lanes, Mapping[str, Any]]]:
    """What a status tells of a shape. Items of what is not repeated itself are its own lanes or turns."""
    items = node.get("items") if len(indexes) < depth else None
    if not items and node.get("status"):
        yield indexes, node
    for index, told in (items or {}).items():
        yield (*indexes, int(index)), told


def _sorted_out(repeats: list[str], indexes: Lanes) -> tuple[Lanes, Lanes]:
    """Lanes and turns apart."""
    pairs = list(zip_longest(repeats[: len(indexes)], indexes, fillvalue="lane"))
    lanes = tuple(int(index) for kind, index in pairs if kind == "lane")
    return lanes, tuple(int(index) for kind, index in pairs if kind == "turn")


def _place_request(drawing: Drawing, found: Cells, request: Mapping[str, Any]) -> None:
    """A question inside a plan that was called is shown at the step that called it."""
    (shape, indexes), item = _place_of(drawing, request["spec"]["node"]), item_beyond_path(request["spec"])
    while shape not in drawing.shapes and "/" in shape:
        shape = shape.rpartition("/")[0]
    if shape not in drawing.shapes:
        return
    lanes, _ = _sorted_out(_repeats(drawing, shape), indexes if item is None else (*indexes, item))
    found.waiting.setdefault(shape, []).append((lanes, request))
    told = found.told.setdefault(shape, {})
    told[lanes] = {**told.get(lanes, {}), "status": "Waiting"}
