"""Who may answer a question, in a few words."""

from collections.abc import Mapping
from typing import Any

from compozy.cli.output.text import clean


def whom(spec: Mapping[str, Any]) -> str:
    """The people and groups that a question names; `somebody` where it names none."""
    responders = spec.get("responders") or {}
    named = [*responders.get("users", []), *(f"group {name}" for name in responders.get("groups", []))]
    if responders.get("agents") == "allow":
        named.append("an agent" if not named else "agents")
    who = clean(" or ".join(named)) or "somebody"
    several = responders.get("approvals") or 1
    return f"{several} of {who}" if several > 1 and named else f"{several} people" if several > 1 else who
