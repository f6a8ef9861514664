"""A plan's text with the place of every value in it, so that the text itself can be edited."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

import yaml

from compozy.language.errors import JsonPath

LOADER: Final[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""The parser whose marks are used: offsets in characters, whichever of the two it is."""

_BLOCK_SCALARS = ("|", ">")


@dataclass(slots=True)
class Node:
    """A value as it stands in the text. An alias is a node without children: what it stands for is elsewhere."""

    start: int
    """Offset of its first character, of its anchor where it has one."""
    end: int
    """Offset after its last character; what follows, such as a comment, is not part of it."""
    is_flow: bool = False
    """Whether it is written in brackets or braces."""
    scalar: str | None = None
    """The text of a scalar, without quotes and escapes."""
    is_null: bool = False
    """Whether it is an unquoted null."""
    pairs: list[tuple[Node, Node]] | None = None
    """Keys and values of a mapping."""
    items: list[Node] | None = None
    """Elements of a sequence."""

    def get(self, *names: str) -> Node | None:
        """The value under the first of these keys that the mapping has; None where there is none."""
        for name in names:
            for key, value in self.pairs or ():
                if key.scalar == name:
                    return value
        return None

    def child(self, segment: str | int) -> Node | None:
        """The value of a key, or the element at a position."""
        if isinstance(segment, int):
            return self.items[segment] if self.items is not None and segment < len(self.items) else None
        return self.get(segment)

    def scalars(self, path: JsonPath = ()) -> Iterator[tuple[JsonPath, Node]]:
        """Every scalar that is a value somewhere inside, with its place; keys are not among them."""
        if self.scalar is not None:
            yield path, self
        for key, value in self.pairs or ():
            yield from value.scalars((*path, key.scalar or ""))
        for index, item in enumerate(self.items or ()):
            yield from item.scalars((*path, index))


@dataclass(slots=True)
class Source:
    """A text and the tree of its nodes. The text is known to be YAML without anything that has no JSON value."""

    text: str
    root: Node = field(init=False)
    _dashes: list[int] = field(init=False)

    def __post_init__(self) -> None:
        self.root = _Builder(self.text).root
        tokens = yaml.scan(self.text, Loader=LOADER)
        self._dashes = [token.start_mark.index for token in tokens if isinstance(token, yaml.BlockEntryToken)]

    def at(self, path: JsonPath) -> Node | None:
        """The node at a path."""
        node: Node | None = self.root
        for segment in path:
            node = node.child(segment) if node is not None else None
        return node

    def dash(self, item: Node) -> int:
        """Offset of the dash before an element of a block sequence."""
        return self._dashes[bisect_left(self._dashes, item.start) - 1]

    def line_start(self, offset: int) -> int:
        """Offset of the first character of the line."""
        return self.text.rfind("\n", 0, offset) + 1

    def line_end(self, offset: int) -> int:
        """Offset of the end of the line, before its line break."""
        found = self.text.find("\n", offset)
        return len(self.text) if found < 0 else found

    def column(self, offset: int) -> int:
        """How many characters stand before this one on its line."""
        return offset - self.line_start(offset)

    def is_first_on_line(self, offset: int) -> bool:
        """Whether only blanks stand before it on its line."""
        return not self.text[self.line_start(offset) : offset].strip()


class _Builder:
    """Makes nodes of the parser's events. Unlike composed nodes these know where an alias itself stands."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._events: Iterator[Any] = yaml.parse(text, Loader=LOADER)
        self.root = self._node(next(event for event in self._events if isinstance(event, yaml.NodeEvent)))

    def _node(self, event: Any) -> Node:
        node = Node(event.start_mark.index, event.end_mark.index)
        if isinstance(event, yaml.ScalarEvent):
            node.scalar = event.value
            node.is_null = event.style is None and event.value in ("", "~", "null", "Null", "NULL")
            if event.style in _BLOCK_SCALARS:
                node.end = node.start + len(self._text[node.start : node.end].rstrip())
        elif isinstance(event, yaml.MappingStartEvent):
            node.is_flow = bool(event.flow_style)
            self._fill_mapping(node)
        elif isinstance(event, yaml.SequenceStartEvent):
            node.is_flow = bool(event.flow_style)
            self._fill_sequence(node)
        return node

    def _fill_mapping(self, node: Node) -> None:
        node.pairs = []
        for event in self._until(yaml.MappingEndEvent, node):
            key = self._node(event)
            node.pairs.append((key, self._node(next(self._events))))
        if not node.is_flow:
            node.end = node.pairs[-1][1].end

    def _fill_sequence(self, node: Node) -> None:
        node.items = []
        for event in self._until(yaml.SequenceEndEvent, node):
            node.items.append(self._node(event))
        if not node.is_flow:
            node.end = node.items[-1].end

    def _until(self, ending: type[yaml.Event], node: Node) -> Iterator[Any]:
        """The events of a collection, whose end is noted."""
        for event in self._events:
            if isinstance(event, ending):
                mark: Any = event.end_mark
                node.end = mark.index
                return
            yield event


@dataclass(frozen=True, slots=True)
class Splice:
    """A part of a text and what comes in its place."""

    start: int
    end: int
    text: str


def spliced(text: str, splices: list[Splice]) -> str:
    """The text with every part replaced. Parts must not overlap."""
    pieces, position = [], 0
    for splice in sorted(splices, key=lambda splice: splice.start):
        pieces += [text[position : splice.start], splice.text]
        position = splice.end
    return "".join((*pieces, text[position:]))


def quoted_like(raw: str, name: str) -> str:
    """A key in the quotes that another spelling of it stands in."""
    return f"{raw[0]}{name}{raw[0]}" if re.fullmatch(r"(['\"]).*\1", raw) else name
