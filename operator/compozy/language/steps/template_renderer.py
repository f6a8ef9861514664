"""Rendering a steps template to text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from compozy.language.budget import NODE_COST, Budget, TextBuffer
from compozy.language.errors import LoopVariableError
from compozy.language.steps.template_nodes import LoopVariable, Node, Reference, Section, Text, Variable
from compozy.language.steps.template_paths import resolve, walk
from compozy.language.values import Json, dump_json


def to_text(value: Json) -> str:
    """Write a value into text: null as nothing, text, numbers and booleans bare, the rest as indented JSON."""
    if value is None:
        return ""
    return value if isinstance(value, str) else dump_json(value, pretty=True)


@dataclass(slots=True)
class _Loop:
    """Where a section over a list stands."""

    length: int
    index: int = 0

    def value(self, variable: LoopVariable) -> Json:
        if variable is LoopVariable.INDEX:
            return self.index
        return self.index == 0 if variable is LoopVariable.FIRST else self.index == self.length - 1


class Renderer:
    """Renders the nodes of one template over one scope."""

    def __init__(self, scope: Mapping[str, Json]) -> None:
        self._scope = scope
        self._contexts: list[Json] = []
        self._loops: list[_Loop] = []
        self._budget = Budget()
        self._output = TextBuffer(self._budget)

    def render(self, nodes: tuple[Node, ...]) -> str:
        """Return the text of `nodes`; raises `RenderError`."""
        self._render(nodes)
        return self._output.text()

    def _render(self, nodes: tuple[Node, ...]) -> None:
        for node in nodes:
            self._budget.spend(NODE_COST)
            if isinstance(node, Text):
                self._output.write(node.text)
            elif isinstance(node, Variable):
                self._output.write(to_text(self._lookup(node.reference)))
            else:
                self._render_section(node)

    def _render_section(self, section: Section) -> None:
        value = self._lookup(section.reference, lenient=True)
        truthy = not (value is None or value is False or value == "" or value == [])
        if section.inverted:
            if not truthy:
                self._render(section.body)
        elif isinstance(value, list):
            self._render_elements(value, section.body)
        elif isinstance(value, dict):
            self._contexts.append(value)
            self._render(section.body)
            self._contexts.pop()
        elif truthy:
            self._render(section.body)

    def _render_elements(self, elements: list[Json], body: tuple[Node, ...]) -> None:
        loop = _Loop(len(elements))
        self._loops.append(loop)
        for loop.index, element in enumerate(elements):
            self._budget.spend(NODE_COST)
            self._contexts.append(element)
            self._render(body)
            self._contexts.pop()
        self._loops.pop()

    def _lookup(self, reference: Reference, *, lenient: bool = False) -> Json:
        """Find a value: roots first, then the enclosing elements from the inside out.

        A path from a root must lead somewhere, except that a section (`lenient`) takes its absence as null: a
        section is a question. A key that no enclosing element has is null too, since elements of one list
        need not all have the same keys. Outside of any element an unknown name is an error.
        """
        if isinstance(reference, LoopVariable):
            if not self._loops:
                raise LoopVariableError(f"{reference.value} has a value only inside a section over a list")
            return self._loops[-1].value(reference)
        root = reference[0]
        if root in self._scope:
            if lenient:
                value, failed_at = walk(self._scope[str(root)], reference[1:])
                return value if failed_at is None else None
            return resolve(self._scope, reference)
        for context in reversed(self._contexts):
            value, failed_at = walk(context, reference)
            if failed_at is None:
                return value
        return None if self._contexts else resolve(self._scope, reference)
