"""`sub-loop`: an inline graph."""

from compozy.engine.outcomes import Context, LoopBegun, Outcome
from compozy.language.compiled import SubLoopSpec


def enter_sub_loop(spec: SubLoopSpec, context: Context) -> Outcome:  # noqa: ARG001
    """Begin the body."""
    return LoopBegun(spec)
