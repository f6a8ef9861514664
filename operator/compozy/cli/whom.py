"""Who may answer a question, in a few words."""

from collections.abc import Mapping
from typing import Any

from compozy.cli.output.text import clean


def whom(spec: Mapping[str, Any]) -> str:
    """The people and groups that a question names, and how many of them; `somebody` where it names none."""
    responders = spec.get("responders") or {}
    several, agents = responders.get("approvals") or 1, responders.get("agents") == "allow"
    named = [*responders.get("users", []), *(f"group {name}" for name in responders.get("groups", []))]
    if not named:
        somebody = "an agent" if agents else "somebody"
        return somebody if several == 1 else f"{several} people{' or agents' if agents else ''}"
    who = clean(" or ".join([*named, "agents"] if agents else named))
    return who if several == 1 else f"{several} of {who}"
