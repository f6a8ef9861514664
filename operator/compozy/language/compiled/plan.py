"""Whole plans."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from compozy.language.compiled.addresses import Template, joined, split, templates_of
from compozy.language.compiled.graph import FanOutSpec, GateSpec, SubLoopSpec
from compozy.language.compiled.nodes import Block, Node, each_node
from compozy.language.compiled.protocols import Dialect, Renderable
from compozy.language.problems import InputsInvalid
from compozy.language.schema import field_errors, with_defaults

SOLVER = "@solver"
"""Id of the node that writes the answer, after all steps."""


@dataclass(frozen=True)
class CompiledPlan:
    """A plan that can run."""

    dialect: Dialect
    block: Block
    input_schema: Mapping[str, Any] | None = None
    output: Renderable | None = None
    request_expire_after: float | None = None
    """Seconds that questions stay open where the ask says nothing."""

    def address_of(self, path: str) -> tuple[str, int | None]:
        """Node and item of a path, as people name it: in a graph the innermost lane on it is the item."""
        return split(path) if self.dialect.name == "graph" else (path, None)

    def path_at(self, node: str, item: int | None) -> str:
        """The path of a node and item."""
        return joined(self._templates, node, item) if self.dialect.name == "graph" else node

    def node_at(self, path: str) -> Node | None:
        """The node at a path of a graph; None where there is none."""
        block: Block | None = self.block
        found: Node | None = None
        for segment in path.split("/"):
            if segment.isdecimal():
                continue
            found = block.nodes.get(segment.partition(".")[0]) if block is not None else None
            if found is None:
                return None
            block = getattr(found.spec, "body", None)
        return found

    @cached_property
    def has_timed_blocks(self) -> bool:
        """Whether it has nodes with blocks of their own that may only take so long."""
        timed = (node.spec for node in each_node(self.block) if node.policy.is_timed)
        return any(isinstance(spec, FanOutSpec | SubLoopSpec | GateSpec) for spec in timed)

    @cached_property
    def _templates(self) -> dict[str, Template]:
        return templates_of(self.block)

    @property
    def nodes(self) -> Mapping[str, Node]:
        """The steps or nodes of the plan itself, by id."""
        return self.block.nodes

    def resolve_inputs(self, inputs: Mapping[str, Any] | None) -> dict[str, Any]:
        """The inputs with the schema's defaults for absent top-level properties.

        Raises:
            InputsInvalid: they do not fit the plan's schema.
        """
        if self.input_schema is None:
            return dict(inputs or {})
        resolved: dict[str, Any] = with_defaults(self.input_schema, dict(inputs or {}))
        problems = field_errors(self.input_schema, resolved)
        if problems:
            raise InputsInvalid(problems, self.input_schema)
        return resolved
