"""Generations of a run: those that only repeat the one before are passed over.

A gate that lets everything run again begins anew with nothing but the number of the generation. So after the
second one nothing can follow that has not followed before, until a gate has asked for as many revisions as it may.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from compozy.engine.state import RunState
from compozy.language.compiled import Block, CompiledPlan, GateSpec
from compozy.plantest.exploring.mentions import words_in

_REVISING = ("revise", "next_generation")
_LIKE_THE_FIRST = 2


class Generations:
    """Knows which generations of a plan differ."""

    def __init__(self, plan: CompiledPlan, spec: Mapping[str, Any]) -> None:
        self._last = sorted({bound + 1 for bound in _bounds(plan.block)})
        # What looks at the number itself may make a difference in any generation.
        self._is_looked_at = "generation" in words_in(spec)

    def skipped(self, state: RunState) -> RunState:
        """A state at the beginning of the next generation that makes a difference."""
        if self._is_looked_at or state.generation <= _LIKE_THE_FIRST:
            return state
        following = next((last for last in self._last if last >= state.generation), state.generation)
        return replace(state, generation=following, revisions=following - 1)


def _bounds(block: Block) -> Iterator[int]:
    """How many revisions each gate may ask for."""
    for node in block.nodes.values():
        spec = node.spec
        if isinstance(spec, GateSpec) and any(route.action in _REVISING for route in spec.on_result.values()):
            yield spec.max_revisions
        body = getattr(spec, "body", None)
        if body is not None:
            yield from _bounds(body)
