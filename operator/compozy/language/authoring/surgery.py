"""The three changes that every edit is made of: put a value, remove one, insert into a list.

Each works on the text of a YAML document in normal form. Comments directly above a key or a list element, and
those below it that are indented deeper, belong to it and go where it goes; all others stay.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from compozy.language.authoring.emit import block, entry_lines, flow, item_block, item_lines
from compozy.language.authoring.source import Node, Source, Splice, spliced
from compozy.language.errors import JsonPath


@dataclass(frozen=True, slots=True)
class _Entry:
    """A key with its value, or an element of a list."""

    name: str | int
    start: int
    """Offset of the key, of the dash, or of an element in brackets."""
    after: int
    """Offset after the colon or the dash."""
    value: Node


def put(text: str, path: JsonPath, value: Any, order: Sequence[str] = ()) -> str:
    """The text with a value at a path whose parent is there and takes it.

    A new key comes after those that stand before it in `order`; one that is not in the order comes last.
    """
    source = Source(text)
    parent, last = _parent(source, path), path[-1]
    entries = _entries(source, parent)
    for entry in entries:
        if entry.name == last:
            replace = _replaced_in_flow if parent.is_flow else _replaced
            return spliced(text, [replace(source, parent, entry, value)])
    name = str(last)
    if not entries:
        return put(text, path[:-1], {name: value})
    index = new_position([str(entry.name) for entry in entries], name, order)
    if parent.is_flow:
        return spliced(text, [_inserted_in_flow(entries, index, flow({name: value})[2:-2])])
    lines = entry_lines(name, value, source.column(entries[0].start))
    return spliced(text, [_inserted(source, entries, index, lines, directly=True)])


def new_position(keys: Sequence[str], name: str, order: Sequence[str]) -> int:
    """Where a new key goes: after the last one that stands before it in the order."""
    if name not in order:
        return len(keys)
    earlier = order[: list(order).index(name)]
    return max((index + 1 for index, key in enumerate(keys) if key in earlier), default=0)


def remove(text: str, path: JsonPath) -> str:
    """The text without the key or the list element at a path."""
    source = Source(text)
    parent = _parent(source, path)
    entries = _entries(source, parent)
    index = [entry.name for entry in entries].index(path[-1])
    if len(entries) == 1:
        return put(text, path[:-1], {} if parent.items is None else []) if path[:-1] else "{}\n"
    removed = _removed_in_flow if parent.is_flow else _removed
    return spliced(text, [removed(source, parent, entries, index)])


def insert(text: str, path: JsonPath, index: int, value: Any) -> str:
    """The text with a new element in the list at a path."""
    source = Source(text)
    parent = _parent(source, (*path, index))
    entries = _entries(source, parent)
    if not entries:
        return put(text, path, [value])
    if parent.is_flow:
        return spliced(text, [_inserted_in_flow(entries, index, flow(value))])
    lines = item_lines(value, source.column(entries[0].start))
    return spliced(text, [_inserted(source, entries, index, lines, directly=not _are_apart(source, entries))])


def _parent(source: Source, path: JsonPath) -> Node:
    node = source.at(path[:-1])
    if node is None or (node.pairs is None and node.items is None):
        raise KeyError(path)
    return node


def _entries(source: Source, parent: Node) -> list[_Entry]:
    entries = []
    for key, value in parent.pairs or ():
        colon = source.text.find(":", key.end, value.start)
        entries.append(_Entry(key.scalar or "", key.start, key.end if colon < 0 else colon + 1, value))
    for index, item in enumerate(parent.items or ()):
        start = item.start if parent.is_flow else source.dash(item)
        entries.append(_Entry(index, start, start if parent.is_flow else start + 1, item))
    return entries


def _replaced(source: Source, parent: Node, entry: _Entry, value: Any) -> Splice:
    """Another value in a block. A comment at the end of the key's line stays there."""
    column = source.column(entry.start)
    inline, below = block(value, column) if parent.items is None else item_block(value, column)
    inline, lines = f" {inline}" if inline else "", "".join(f"\n{line}" for line in below)
    end = source.line_end(entry.value.end)
    begins_below = "\n" in source.text[entry.after : entry.value.start]
    if begins_below:
        kept = source.text[entry.after : source.line_end(entry.after)]
    else:
        kept = source.text[entry.value.end : end]
    return Splice(entry.after, end, f"{inline}{kept}{lines}")


def _replaced_in_flow(source: Source, _parent: Node, entry: _Entry, value: Any) -> Splice:
    written, start = flow(value), entry.value.start
    if start == entry.value.end:
        written = f" {written}" if source.text[start - 1] == ":" else f": {written}"
    return Splice(start, entry.value.end, written)


def _inserted_in_flow(entries: list[_Entry], index: int, written: str) -> Splice:
    if index < len(entries):
        return Splice(entries[index].start, entries[index].start, f"{written}, ")
    return Splice(entries[-1].value.end, entries[-1].value.end, f", {written}")


def _removed_in_flow(_source: Source, _parent: Node, entries: list[_Entry], index: int) -> Splice:
    if index + 1 < len(entries):
        return Splice(entries[index].start, entries[index + 1].start, "")
    return Splice(entries[index - 1].value.end, entries[index].value.end, "")


def _inserted(source: Source, entries: list[_Entry], index: int, lines: list[str], *, directly: bool) -> Splice:
    """New lines of a block before the entry at `index`; `directly` says that no empty line parts them."""
    column = source.column(entries[0].start)
    apart = "\n" if directly else "\n\n"
    written = "\n".join(lines)
    if index == len(entries):
        end = _end(source, entries[-1], column, is_last=True)
        return Splice(end, end, f"{apart}{written}")
    at = entries[index]
    if index == 0 and (isinstance(at.name, str) or not source.is_first_on_line(at.start)):
        # A comment above the first key may be about the whole, and beside a dash there is no line of its own.
        return Splice(at.start, at.start, f"{written.lstrip()}{apart}{' ' * column}")
    start = _begin(source, at, column)
    return Splice(start, start, f"{written}{apart}")


def _removed(source: Source, parent: Node, entries: list[_Entry], index: int) -> Splice:
    entry, column = entries[index], source.column(entries[0].start)
    if not source.is_first_on_line(entry.start):
        return Splice(entry.start, entries[index + 1].start, "")
    start = source.line_start(entry.start)
    if index > 0 or parent.items is not None:
        start = _begin(source, entry, column)
    end = min(_end(source, entry, column, is_last=False) + 1, len(source.text))
    if source.text[:start].endswith("\n\n") and source.text[end:].startswith("\n"):
        end += 1
    return Splice(start, end, "")


def _begin(source: Source, entry: _Entry, column: int) -> int:
    """Offset of the first line of an entry, with the comments directly above it."""
    start = source.line_start(entry.start)
    while start > 0:
        above = source.line_start(start - 1)
        if _comment_column(source.text[above : start - 1]) != column:
            break
        start = above
    return start


def _end(source: Source, entry: _Entry, column: int, *, is_last: bool) -> int:
    """Offset of the end of the last line of an entry, with the comments directly below that belong to it."""
    end = source.line_end(entry.value.end)
    while end < len(source.text):
        next_end = source.line_end(end + 1)
        found = _comment_column(source.text[end + 1 : next_end])
        if found is None or found < column or (found == column and not is_last):
            break
        end = next_end
    return end


def _comment_column(line: str) -> int | None:
    stripped = line.lstrip()
    return len(line) - len(stripped) if stripped.startswith("#") else None


def _are_apart(source: Source, entries: list[_Entry]) -> bool:
    """Whether the author leaves empty lines between the elements of a list."""
    return len(entries) > 1 and "\n\n" in source.text[entries[0].value.end : entries[1].start]
