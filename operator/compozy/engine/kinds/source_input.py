"""`input`: a declared input as a node's output."""

from compozy.engine.outcomes import Context, Outcome, Succeeded
from compozy.language.compiled import InputSpec


def enter_input(spec: InputSpec, context: Context) -> Outcome:
    """The value of the input; null where it was not given."""
    return Succeeded(context.scope["inputs"].get(spec.name))
