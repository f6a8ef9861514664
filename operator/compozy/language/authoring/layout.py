"""Stable indentation: two columns a level, lists indented below their key, one blank after a dash.

Only blanks at the begin of lines, after dashes and at the end of lines change, so nothing can be lost. What a
line belongs to is read from the parser's tokens. A comment on a line of its own goes with the line below it, or
with the block that it was aligned with.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from typing import Any, Final

import yaml

from compozy.language.authoring.source import LOADER

LEVEL: Final = 2
"""Columns of a level."""

_OPENING = (yaml.FlowMappingStartToken, yaml.FlowSequenceStartToken)
_CLOSING = (yaml.FlowMappingEndToken, yaml.FlowSequenceEndToken)
_SILENT = (
    yaml.StreamStartToken,
    yaml.BlockMappingStartToken,
    yaml.BlockSequenceStartToken,
    yaml.BlockEndToken,
)
"""Tokens without characters of their own."""
_ENTRIES = (yaml.KeyToken, yaml.ValueToken, yaml.BlockEntryToken)
_DOCUMENT = (yaml.DirectiveToken, yaml.DocumentStartToken, yaml.DocumentEndToken)
_HEADER = re.compile(r"[|>][+-]?([1-9])?")


def lay_out(text: str) -> str:
    """The text with stable indentation. Laying out twice changes nothing more. The text must be valid YAML."""
    return _Layout(text).result()


@dataclass(frozen=True, slots=True)
class _Block:
    """A block mapping or sequence that is open, with its column before and after."""

    old: int
    new: int
    is_sequence: bool = False
    is_indentless: bool = False
    """Whether its dashes stand in the column of the key above: the parser does not announce such a list."""


@dataclass(frozen=True, slots=True)
class _Move:
    """What is cut off at the begin of a line, and how many blanks come there."""

    cut: int
    indent: int


class _Layout:
    """One pass over the tokens: each line is given a move when the first token on it is read."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.lines = text.split("\n")
        self.starts = [0]
        for line in self.lines:
            self.starts.append(self.starts[-1] + len(line) + 1)
        self.moves: dict[int, _Move] = {}
        self.gaps: dict[int, list[tuple[int, int]]] = {}
        """The blanks after dashes, by line, as columns."""
        self.open_ended: set[int] = set()
        """Lines that end inside a scalar: blanks there may mean something."""
        self.blocks = [_Block(-LEVEL, -LEVEL)]
        self.before = list(self.blocks)
        """The blocks that were open at the last token."""
        self.brackets: list[int] = []
        """The lines of the brackets and braces that are open."""
        self.next_line = 0
        """The first line on which no token has been read."""

    def result(self) -> str:
        """Reads all tokens and applies what they say."""
        dash: int | None = None
        for token in yaml.scan(self.text, Loader=LOADER):
            self._follow_blocks(token)
            if isinstance(token, _SILENT):
                continue
            start = token.start_mark.index
            self._begin_line(token, start)
            if dash is not None:
                self._note_gap(dash, start)
            dash = start if isinstance(token, yaml.BlockEntryToken) else None
            if isinstance(token, yaml.ScalarToken):
                self._move_scalar(token, start)
            elif isinstance(token, _OPENING):
                self.brackets.append(self._place(start)[0])
            elif isinstance(token, _CLOSING):
                self.brackets.pop()
            self.before = list(self.blocks)
        return "\n".join(self._moved(number) for number in range(len(self.lines)))

    def _place(self, offset: int) -> tuple[int, int]:
        """Line and column of an offset, both from 0."""
        line = min(bisect_right(self.starts, offset), len(self.lines)) - 1
        return line, offset - self.starts[line]

    def _follow_blocks(self, token: Any) -> None:
        top = self.blocks[-1]
        column = self._place(token.start_mark.index)[1]
        if isinstance(token, yaml.BlockMappingStartToken):
            self.blocks.append(_Block(column, top.new + LEVEL))
        elif isinstance(token, yaml.BlockSequenceStartToken):
            self.blocks.append(_Block(column, top.new + LEVEL, is_sequence=True))
        elif isinstance(token, yaml.BlockEntryToken) and not top.is_sequence:
            self.blocks.append(_Block(column, top.new + LEVEL, is_sequence=True, is_indentless=True))
        elif isinstance(token, yaml.BlockEndToken):
            del self.blocks[-2 if top.is_indentless else -1 :]
        elif isinstance(token, yaml.KeyToken) and top.is_indentless and not self.brackets:
            self.blocks.pop()

    def _begin_line(self, token: Any, start: int) -> None:
        """Moves the line that the token begins, and the comments since the last token."""
        line, column = self._place(start)
        if isinstance(token, yaml.StreamEndToken):
            self._move_comments(len(self.lines), 0, 0)
        elif line not in self.moves and not self.lines[line][:column].strip():
            indent = self._column(token, column)
            self.moves[line] = _Move(column, indent)
            self._move_comments(line, column, indent)
        self.next_line = max(self.next_line, line + 1)

    def _column(self, token: Any, column: int) -> int:
        """Where a token goes that stands at the begin of a line."""
        top = self.blocks[-1]
        if self.brackets:
            least = top.new if isinstance(token, _CLOSING) else top.new + LEVEL
            return max(0, least, column + self._shift(self.brackets[0]))
        if isinstance(token, _DOCUMENT):
            return 0
        return top.new if isinstance(token, _ENTRIES) else top.new + LEVEL

    def _shift(self, line: int) -> int:
        """How far a line moves to the right."""
        move = self.moves.get(line, _Move(0, 0))
        return move.indent - move.cut

    def _move_comments(self, end: int, column: int, indent: int) -> None:
        """Moves the comments before a line that goes from `column` to `indent`."""
        for number in range(self.next_line, end):
            comment = self.lines[number].lstrip()
            if not comment:
                continue
            old = len(self.lines[number]) - len(comment)
            new = indent
            if self.brackets:
                new = max(self.blocks[-1].new + LEVEL, old + self._shift(self.brackets[0]))
            elif old > column:
                # Deeper than what follows: it says something of a block that ends here.
                around = [block for block in self.before if block.old <= old]
                new = around[-1].new if around[-1].old > column else indent
            self.moves[number] = _Move(old, new)

    def _note_gap(self, dash: int, start: int) -> None:
        (line, column), (next_line, next_column) = self._place(dash), self._place(start)
        if line == next_line:
            self.gaps.setdefault(line, []).append((column + 1, next_column))

    def _move_scalar(self, token: Any, start: int) -> None:
        """Moves the lines of a scalar after its first, as far as that one or to where its block is."""
        first = self._place(start)[0]
        last = self._place(max(start, token.end_mark.index - 1))[0]
        below = range(first + 1, last + 1)
        if token.style in ("|", ">"):
            self._move_block_scalar(start, below)
        else:
            self.open_ended.update(range(first, last))
            for number in below:
                old = len(self.lines[number]) - len(self.lines[number].lstrip())
                new = max(self.blocks[-1].new + LEVEL, old + self._shift(first))
                self.moves[number] = _Move(old, new if self.lines[number].strip() else 0)
        self.next_line = max(self.next_line, last + 1)

    def _move_block_scalar(self, start: int, below: range) -> None:
        self.open_ended.update(below)
        filled = [line for line in (self.lines[number] for number in below) if line.strip(" ")]
        header, top = _HEADER.match(self.text, start), self.blocks[-1]
        given = int((header.group(1) if header else None) or 0)
        if given:
            old, new = top.old + given, top.new + given
        else:
            old = len(filled[0]) - len(filled[0].lstrip(" ")) if filled else len(self.text)
            new = top.new + LEVEL
        for number in below:
            self.moves[number] = _Move(old, new if len(self.lines[number]) > old else 0)

    def _moved(self, number: int) -> str:
        line, move = self.lines[number], self.moves.get(number, _Move(0, 0))
        for start, end in reversed(self.gaps.get(number, ())):
            line = f"{line[:start]} {line[end:]}"
        line = " " * move.indent + line[move.cut :]
        return line if number in self.open_ended else line.rstrip()
