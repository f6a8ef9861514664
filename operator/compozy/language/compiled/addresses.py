"""Places in a run by two names: the path that the engine uses, and node and item as people name them.

In a graph the lanes of a fan-out are on the path, `services.3/choose`; people say node `choose`, item 3. Where
fan-outs are nested the outer lanes stay in the name, `outer.2/choose`. The iterations of a sub-loop are told apart
in the same way: `sub/1/child` is node `sub/child`, item 1. In steps a path is the name.
"""

from collections.abc import Iterator, Mapping

from compozy.language.compiled.graph import FanOutSpec, GateSpec, SubLoopSpec
from compozy.language.compiled.nodes import Block

Template = tuple[tuple[str, bool], ...]
"""The segments of a path, each with whether an index belongs to it; without a name it is the index alone."""


def templates_of(block: Block) -> dict[str, Template]:
    """For each node of a graph, by its path without lanes: the segments of its whole path."""
    return {_bare(template): template for template in _places(block, ())}


def _bare(template: Template) -> str:
    """A path without the lanes on it. The lane itself goes by the name of its fan-out."""
    *before, last = template
    return "/".join([*(name for name, is_lane in before if not is_lane), last[0]])


def _places(block: Block, prefix: Template) -> Iterator[Template]:
    for node in block.nodes.values():
        own: Template = (*prefix, (node.id, False))
        yield own
        match node.spec:
            case FanOutSpec(body=body):
                yield from _places(body, (*prefix, (node.id, True)))
            case SubLoopSpec(body=body, stop_when=None) | GateSpec(body=body):
                yield from _places(body, own)
            case SubLoopSpec(body=body):
                yield from _places(body, (*own, ("", True)))


def split(path: str) -> tuple[str, int | None]:
    """Node and item of a path in a graph: the innermost lane or iteration on it becomes the item."""
    segments = path.split("/")
    for position in range(len(segments) - 1, -1, -1):
        name, _, index = segments[position].rpartition(".")
        if index.isdecimal():
            # A lane that is the whole path goes by the name of its fan-out.
            kept = [name] if name and position == len(segments) - 1 else []
            return "/".join([*segments[:position], *kept, *segments[position + 1 :]]), int(index)
    return path, None


def joined(templates: Mapping[str, Template], node: str, item: int | None) -> str:
    """The path of a node and item; the name itself where the plan has no such place."""
    indexes: list[str] = []
    names: list[str] = []
    for segment in node.split("/"):
        index = segment.rpartition(".")[2]
        (indexes if index.isdecimal() else names).append(index if index.isdecimal() else segment)
    template = templates.get("/".join(names))
    if template is None:
        return node
    if item is not None:
        indexes.append(str(item))
    left = iter(indexes)
    segments = [_segment(name, next(left, "0")) if is_lane else name for name, is_lane in template]
    return "/".join(segments) + "".join(f".{index}" for index in left)


def _segment(name: str, index: str) -> str:
    """A lane is written after its fan-out, an iteration is a segment of its own."""
    return f"{name}.{index}" if name else index
