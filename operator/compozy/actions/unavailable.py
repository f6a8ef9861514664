"""Where nothing can be called: every call fails at once, and says what is missing."""

from compozy.engine.effects import Call
from compozy.engine.events import CallFailed


def refuse(call: Call) -> CallFailed:
    """The failure of a call that nobody here can perform."""
    if call.kind == "tool":
        message = f"there is no tool `{call.name}` here"
        return CallFailed(call.node, "tool_unavailable", message)
    what = {"agent": "an agent step", "infer": "an `infer` gate", "solver": "a solver"}[call.kind]
    message = f"no model is configured: {what} needs one for the role `{call.name}`"
    return CallFailed(call.node, "model_unconfigured", message)
