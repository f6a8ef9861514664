"""How the graph dialect names inputs and results."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from rpds import HashTrieMap

from compozy.language.compiled import Table
from compozy.language.graph.places import EMPTY_ROOTS

_EMPTY: Final[Table] = HashTrieMap({"nodes": HashTrieMap(), **{root: {} for root in EMPTY_ROOTS}})


@dataclass(frozen=True, slots=True)
class GraphDialect:
    """Inputs as `inputs`, results as `nodes.<id>.output`, `.status` and, in a fan-out, `.items`."""

    name: Literal["graph"] = "graph"

    asks_in_turn: bool = False

    def scope(self, inputs: Mapping[str, Any], generation: int) -> Table:
        """Everything that templates and conditions may name."""
        return _EMPTY.update({"inputs": inputs, "generation": generation})

    def record(
        self, scope: Table, node: str, status: str, output: Any, items: Sequence[Mapping[str, Any]] | None = None
    ) -> Table:
        """The scope with one more result. The output of a path that was not taken reads as null."""
        told = {"status": status.lower(), "output": output}
        nodes: Table = scope["nodes"]
        return scope.insert("nodes", nodes.insert(node, told if items is None else {**told, "items": items}))
