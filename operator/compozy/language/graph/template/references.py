"""Which paths of the scope a Go template reads, as far as that can be known without rendering it."""

from __future__ import annotations

from collections.abc import Set
from typing import TypeAlias

from compozy.language.graph.reference import Reference
from compozy.language.graph.template.nodes import (
    ROOT_SLOT,
    Action,
    Call,
    Chain,
    Choice,
    Dot,
    Field,
    Node,
    Operand,
    Pipeline,
    Range,
    Variable,
)

StaticPath: TypeAlias = tuple[str, ...] | None
"""A path from the root of the scope, or None for what depends on data, such as an element of a list."""


def find_references(nodes: tuple[Node, ...], assigned: Set[int]) -> tuple[Reference, ...]:
    """Return every known path in the order of the text; the bare root is not one.

    `assigned` are the slots of variables that are set again after their declaration.

    Paths below the dot of a `with`, and below a variable that is set once, are known when what they stand
    for is.
    """
    finder = _Finder(assigned)
    finder.nodes(nodes, ())
    return tuple(sorted(finder.found, key=lambda reference: reference.offset))


class _Finder:
    """Collects references, following what the dot and the variables stand for."""

    def __init__(self, assigned: Set[int]) -> None:
        self.found: list[Reference] = []
        self._assigned = assigned
        self._variables: dict[int, StaticPath] = {ROOT_SLOT: ()}

    def nodes(self, nodes: tuple[Node, ...], dot: StaticPath) -> None:
        for node in nodes:
            if isinstance(node, Action):
                self._pipeline(node.pipeline, dot)
            elif isinstance(node, Choice):
                for branch in node.branches:
                    value = self._pipeline(branch.condition, dot)
                    self.nodes(branch.body, value if node.sets_dot else dot)
                self.nodes(node.otherwise, dot)
            elif isinstance(node, Range):
                self._value(node.source, dot)
                self.nodes(node.body, None)
                self.nodes(node.otherwise, dot)

    def _pipeline(self, pipeline: Pipeline, dot: StaticPath) -> StaticPath:
        value = self._value(pipeline, dot)
        for target in pipeline.declarations:
            if target.slot not in self._assigned:
                self._variables[target.slot] = value
        return value

    def _value(self, pipeline: Pipeline, dot: StaticPath) -> StaticPath:
        value = self._operand(pipeline.first, dot)
        for call in pipeline.calls:
            value = self._operand(call, dot)
        return value

    def _operand(self, operand: Operand, dot: StaticPath) -> StaticPath:
        if isinstance(operand, Field):
            return self._path(dot, operand.names, operand.offset)
        if isinstance(operand, Variable):
            return self._path(self._variables.get(operand.slot), operand.names, operand.offset)
        if isinstance(operand, Dot):
            return dot
        if isinstance(operand, Pipeline):
            return self._pipeline(operand, dot)
        if isinstance(operand, Chain):
            return self._path(self._operand(operand.base, dot), operand.names, operand.offset)
        if isinstance(operand, Call):
            for argument in operand.arguments:
                self._operand(argument, dot)
        return None

    def _path(self, base: StaticPath, names: tuple[str, ...], offset: int) -> StaticPath:
        if base is None:
            return None
        path = (*base, *names)
        if names:
            self.found.append(Reference(path, offset))
        return path


def prints_only(function: str, nodes: tuple[Node, ...]) -> bool:
    """Whether every result that is printed is one of a function."""
    for node in nodes:
        if isinstance(node, Action):
            last = node.pipeline.calls[-1] if node.pipeline.calls else node.pipeline.first
            printed = not node.pipeline.declarations
            if printed and not (isinstance(last, Call) and last.function == function):
                return False
        elif isinstance(node, Choice):
            bodies = (*(branch.body for branch in node.branches), node.otherwise)
            if not all(prints_only(function, body) for body in bodies):
                return False
        elif isinstance(node, Range) and not (
            prints_only(function, node.body) and prints_only(function, node.otherwise)
        ):
            return False
    return True
