"""What a CEL expression reads and how often, found in its syntax tree.

The library bounds the depth of an expression and the iterations of one evaluation, but not what one iteration
costs. A condition whose shape could make that explode is refused when it is compiled.
"""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass
from typing import Final

from compozy.language.errors import ConditionSyntaxError
from compozy.language.graph.cel_syntax import (
    Call,
    CheckedExpression,
    Constant,
    Expression,
    Group,
    Identifier,
    Loop,
    Select,
)

MAX_LOOPS: Final = 3
"""How many macros (`exists`, `all`, `filter`, `map`) may feed or contain one another."""

MAX_JOINS: Final = 16
"""How many `+` that may join texts or lists a condition may have."""

_JOINING_OVERLOADS: Final = frozenset({"add_string", "add_bytes", "add_list"})


@dataclass(frozen=True, slots=True)
class Read:
    """One place where an expression reads from the scope."""

    path: tuple[str, ...]
    offset: int
    loops: int
    """How many macros repeat it."""
    tests: bool
    """Whether it only asks for presence, as `has` does."""


@dataclass(frozen=True, slots=True)
class Analysis:
    """What an expression reads, in the order of its text."""

    reads: tuple[Read, ...]
    joins_repeatedly: bool
    """Whether a macro repeats a `+` that may join texts or lists."""

    def sources(self) -> tuple[tuple[str, ...], ...]:
        """Return the paths that cover everything that is read; none lies below another."""
        paths = {read.path for read in self.reads}
        return tuple(sorted(p for p in paths if not any(p[:length] in paths for length in range(1, len(p)))))


def analyze(checked: CheckedExpression, variables: Set[str], text: str) -> Analysis:
    """Find what an expression over `variables` reads.

    Raises `ConditionSyntaxError` when macros nest deeper than `MAX_LOOPS` or more than `MAX_JOINS` joins
    occur.
    """
    analyzer = _Analyzer(checked, variables, text)
    analyzer.visit(checked.root, frozenset(), 0, 0)
    reads = tuple(sorted(analyzer.reads, key=lambda read: read.offset))
    return Analysis(reads, analyzer.joins_repeatedly)


class _Analyzer:
    """Walks a tree. Its recursion is bounded: the library bounds nesting, and macros are bounded before."""

    def __init__(self, checked: CheckedExpression, variables: Set[str], text: str) -> None:
        self.reads: list[Read] = []
        self.joins_repeatedly = False
        self._checked = checked
        self._variables = variables
        self._text = text
        self._joins = 0

    def visit(self, expression: Expression, bound: frozenset[str], loops: int, chain: int) -> None:
        """Visit a part: `bound` are names of enclosing macros, `loops` repeat it, `chain` enclose or follow it."""
        path = self._path(expression, bound)
        if path is not None:
            tests = isinstance(expression, Select) and expression.tests
            self.reads.append(Read(path, self._start(expression), loops, tests))
        elif isinstance(expression, Select):
            self.visit(expression.operand, bound, loops, chain)
        elif isinstance(expression, Call):
            self._count_join(expression, bound, loops)
            for argument in expression.arguments:
                self.visit(argument, bound, loops, chain)
        elif isinstance(expression, Group):
            for part in expression.parts:
                self.visit(part, bound, loops, chain)
        elif isinstance(expression, Loop):
            self._visit_loop(expression, bound, loops, chain + 1)

    def _visit_loop(self, loop: Loop, bound: frozenset[str], loops: int, chain: int) -> None:
        if chain > MAX_LOOPS:
            message = f"more than {MAX_LOOPS} macros feed or contain one another; split the condition"
            raise ConditionSyntaxError(message, self._text, self._start(loop))
        self.visit(loop.source, bound, loops, chain)
        inner = bound | loop.variables
        for part in loop.once:
            self.visit(part, inner, loops, chain)
        for part in loop.repeated:
            self.visit(part, inner, loops + 1, chain)

    def _count_join(self, call: Call, bound: frozenset[str], loops: int) -> None:
        overloads = self._checked.overloads.get(call.id, frozenset())
        if call.function != "_+_" or not overloads & _JOINING_OVERLOADS:
            return
        first = call.arguments[0]
        if isinstance(first, Identifier) and first.name in bound and first.name.startswith("@"):
            return  # how `map` and `filter` collect their result
        self._joins += 1
        self.joins_repeatedly |= loops > 0
        if self._joins > MAX_JOINS:
            message = f"more than {MAX_JOINS} additions; split the condition"
            raise ConditionSyntaxError(message, self._text, self._start(call))

    def _path(self, expression: Expression, bound: frozenset[str]) -> tuple[str, ...] | None:
        """Return the path an expression stands for, if it is a variable with fields and keys known beforehand."""
        fields: list[str] = []
        while not isinstance(expression, Identifier):
            if isinstance(expression, Select):
                fields.append(expression.field)
                expression = expression.operand
                continue
            if not isinstance(expression, Call) or expression.function != "_[_]":
                return None
            operand, key = expression.arguments
            if not isinstance(key, Constant) or key.text is None:
                return None
            fields.append(key.text)
            expression = operand
        if expression.name in bound or expression.name not in self._variables:
            return None
        return (expression.name, *reversed(fields))

    def _start(self, expression: Expression) -> int:
        """Return where an expression begins; the library notes the operator of what has operands."""
        while isinstance(expression, Select | Call | Loop):
            if isinstance(expression, Select):
                expression = expression.operand
            elif isinstance(expression, Loop):
                expression = expression.source
            elif expression.arguments and expression.function == "_[_]":
                expression = expression.arguments[0]
            else:
                break
        return self._checked.positions.get(expression.id, 0)
