"""What one rendering may cost.

Plans come from many hands and are rendered inside the operator that everybody shares, so a template can
neither run nor grow without bound: nested loops over the same list, a variable that doubles itself, a huge
print width.
"""

from __future__ import annotations

from compozy.language.errors import LimitError

MAX_OUTPUT = 1024 * 1024
"""The longest text one template may produce, in characters; an object in Kubernetes is not larger."""

MAX_WORK = 4 * 1024 * 1024
"""The work of one rendering: a character written counts 1, a node evaluated counts `NODE_COST`."""

NODE_COST = 10


class Budget:
    """Counts down the work of one rendering and raises `LimitError` when it is used up."""

    __slots__ = ("_left",)

    def __init__(self, work: int = MAX_WORK) -> None:
        self._left = work

    def spend(self, work: int) -> None:
        """Take `work` units; raises `LimitError` when too few are left."""
        self._left -= work
        if self._left < 0:
            raise LimitError("the template does too much work; loop over less data or nest fewer loops")


class TextBuffer:
    """Text under construction, bounded by `MAX_OUTPUT` and by the budget of the rendering it belongs to."""

    __slots__ = ("_budget", "_length", "_pieces")

    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        self._length = 0
        self._pieces: list[str] = []

    def write(self, piece: str) -> None:
        """Append text; raises `LimitError` before the text grows past the limit."""
        self._budget.spend(len(piece))
        self._length += len(piece)
        if self._length > MAX_OUTPUT:
            raise LimitError(f"the text would be longer than {MAX_OUTPUT} characters; render less data")
        self._pieces.append(piece)

    def branch(self) -> TextBuffer:
        """Return an empty buffer that spends from the same budget."""
        return TextBuffer(self._budget)

    def text(self) -> str:
        """Return everything written so far."""
        return "".join(self._pieces)
