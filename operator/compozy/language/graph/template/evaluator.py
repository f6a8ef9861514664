"""Rendering a Go template over a scope."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, TypeAlias

from compozy.language.budget import NODE_COST, Budget, TextBuffer
from compozy.language.errors import TemplateCallError
from compozy.language.graph.lookup import follow, plain
from compozy.language.graph.template.formatting import write_result
from compozy.language.graph.template.functions import FUNCTIONS, is_true
from compozy.language.graph.template.nodes import (
    ROOT_SLOT,
    Action,
    Call,
    Chain,
    Choice,
    Constant,
    Dot,
    Field,
    Jump,
    Node,
    Operand,
    Pipeline,
    Range,
    Text,
    Variable,
)
from compozy.language.keys import type_name
from compozy.language.values import Json

Dotted: TypeAlias = "Json | Mapping[str, Json]"
"""What the dot and variables may stand for: a value, or the scope."""

_TEXT_COST_SHIFT: Final = 3
"""Passing text to a function costs an eighth of its length, since most functions read all of it."""


class Evaluator:
    """Renders the nodes of one template over one scope, once."""

    def __init__(self, scope: Mapping[str, Json], slots: int) -> None:
        self._budget = Budget()
        self._output = TextBuffer(self._budget)
        self._root = scope
        self._slots: list[Dotted] = [None] * slots
        self._slots[ROOT_SLOT] = self._root

    def render(self, nodes: tuple[Node, ...]) -> str:
        """Return the text of `nodes`; raises `RenderError`."""
        self._walk(nodes, self._root)
        return self._output.text()

    def _walk(self, nodes: tuple[Node, ...], dot: Dotted) -> Jump | None:
        """Render nodes up to the first `break` or `continue`, which is returned."""
        for node in nodes:
            self._budget.spend(NODE_COST)
            if isinstance(node, Text):
                self._output.write(node.text)
            elif isinstance(node, Action):
                value = self._pipeline(node.pipeline, dot)
                if not node.pipeline.declarations:
                    write_result(self._output, value)
            elif isinstance(node, Jump):
                return node
            else:
                jump = self._choice(node, dot) if isinstance(node, Choice) else self._range(node, dot)
                if jump is not None:
                    return jump
        return None

    def _choice(self, choice: Choice, dot: Dotted) -> Jump | None:
        for branch in choice.branches:
            value = self._pipeline(branch.condition, dot)
            if is_true(value):
                return self._walk(branch.body, value if choice.sets_dot else dot)
        return self._walk(choice.otherwise, dot)

    def _range(self, loop: Range, dot: Dotted) -> Jump | None:
        source = self._pipeline(loop.source, dot)
        empty = True
        for key, element in _elements(source):
            empty = False
            self._budget.spend(NODE_COST)
            targets = loop.source.declarations
            for target, value in zip(targets, (key, element)[-len(targets) :], strict=False):
                self._slots[target.slot] = value
            jump = self._walk(loop.body, element)
            if jump is not None and not jump.again:
                break
        if not empty:
            return None
        # As in Go, `break` in the else of a range ends that range, and `continue` goes on with the one around it.
        jump = self._walk(loop.otherwise, dot)
        return jump if jump is not None and jump.again else None

    def _pipeline(self, pipeline: Pipeline, dot: Dotted) -> Json:
        value = self._value(pipeline, dot)
        for target in pipeline.declarations:
            self._slots[target.slot] = value
        return value

    def _value(self, pipeline: Pipeline, dot: Dotted) -> Json:
        value = self._operand(pipeline.first, dot)
        for call in pipeline.calls:
            value = self._call(call, dot, (value,))
        return value

    def _operand(self, operand: Operand, dot: Dotted) -> Json:
        if isinstance(operand, Field):
            return follow(dot, operand.names)
        if isinstance(operand, Variable):
            return follow(self._slots[operand.slot], operand.names, operand.name)
        if isinstance(operand, Constant):
            return operand.value
        if isinstance(operand, Dot):
            return plain(dot)
        if isinstance(operand, Call):
            return self._call(operand, dot, ())
        if isinstance(operand, Chain):
            return follow(self._operand(operand.base, dot), operand.names, "(…)")
        return self._pipeline(operand, dot)

    def _call(self, call: Call, dot: Dotted, piped: tuple[Json, ...]) -> Json:
        function = FUNCTIONS[call.function]
        arguments: list[Json] = []
        for operand in call.arguments:
            value = self._operand(operand, dot)
            if function.stops_at is not None and is_true(value) is function.stops_at:
                return value
            arguments.append(value)
        arguments.extend(piped)
        text_length = sum(len(value) for value in arguments if isinstance(value, str))
        self._budget.spend(NODE_COST + (text_length >> _TEXT_COST_SHIFT))
        return function.run(arguments, self._budget)


def _elements(source: Json) -> Iterable[tuple[Json, Json]]:
    """Return what a `range` goes through: keys and elements of a list or object, or the numbers below one."""
    if source is None:
        return ()
    if isinstance(source, list):
        return enumerate(source)
    if isinstance(source, dict):
        return ((key, source[key]) for key in sorted(source))
    if isinstance(source, float) and source.is_integer():
        source = int(source)
    if isinstance(source, int) and not isinstance(source, bool):
        return ((number, number) for number in range(source))
    raise TemplateCallError(f"range: cannot go through {type_name(source)}")
