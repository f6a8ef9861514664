"""What compiling one node of a graph gives."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from compozy.language.compiled import NodeSpec
from compozy.language.graph.shapes import Shape


@dataclass(frozen=True, slots=True)
class Made:
    """A node's own part."""

    spec: NodeSpec
    output: Shape = None
    """What is known of its output, where `produces` does not say it."""
    schema: Mapping[str, Any] | None = None
    """JSON Schema that an output put in its place must fit, where `produces` does not say it."""
