"""Aligned tables, as kubectl prints them. Ours, because importing a library for it costs 80 ms."""

from collections.abc import Sequence
from dataclasses import dataclass

from compozy.cli.output.text import clean, cut, pad, width

GAP = "   "
NARROWEST = 16
"""A flexible column is never cut below this."""

UNBOUNDED_CELL = 120
"""Longest cell of a flexible column, however wide the terminal is."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column's title and whether its cells may be cut to fit the terminal."""

    title: str
    flexible: bool = False


class Table:
    """Lays out rows under titles. Keeps its widths, so that rows that come later line up."""

    def __init__(self, columns: Sequence[Column], terminal_width: int | None) -> None:
        """`terminal_width` in columns; None when the output is not a terminal: nothing is fitted."""
        self._columns = tuple(columns)
        self._terminal = terminal_width
        self._widths: list[int] = []
        self._limits: list[int] = []

    def lines(self, rows: Sequence[Sequence[object]]) -> list[str]:
        """One line for each row, and a line of titles before the first one there ever was."""
        cells = [self._cells(row) for row in rows]
        if cells and not self._widths:
            cells.insert(0, [column.title for column in self._columns])
            self._fit(cells)
        return [self._line(row) for row in cells]

    def _cells(self, row: Sequence[object]) -> list[str]:
        return ["<none>" if cell is None or cell == "" else clean(cell) for cell in row]

    def _fit(self, lines: Sequence[Sequence[str]]) -> None:
        """Decides how wide each column is, and the longest cell that later rows may put into it."""
        widths = [max(width(cell) for cell in column) for column in zip(*lines, strict=True)]
        limits = [UNBOUNDED_CELL] * len(widths)
        flexible = [index for index, column in enumerate(self._columns) if column.flexible]
        for index in flexible:
            widths[index] = min(widths[index], UNBOUNDED_CELL)
        excess = 0
        if self._terminal is not None:
            excess = sum(widths) + len(GAP) * (len(widths) - 1) - self._terminal
        for index in sorted(flexible, key=lambda index: -widths[index]):
            if excess <= 0:
                break
            limits[index] = max(min(NARROWEST, widths[index]), widths[index] - excess)
            excess -= widths[index] - limits[index]
            widths[index] = limits[index]
        self._widths, self._limits = widths, limits

    def _line(self, cells: Sequence[str]) -> str:
        shown = [
            cut(cell, limit) if column.flexible else cell
            for cell, limit, column in zip(cells, self._limits, self._columns, strict=True)
        ]
        padded = [pad(cell, columns) for cell, columns in zip(shown[:-1], self._widths[:-1], strict=True)]
        return GAP.join([*padded, shown[-1]])
