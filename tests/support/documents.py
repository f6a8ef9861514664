"""The plans printed in the two published documents, taken out of them where they are beside the checkout."""

import re
import textwrap
from pathlib import Path

import pytest

from compozy.language.yaml_text import load

ROOT = Path(__file__).parents[2]
DOCUMENTS = ROOT.parent / "shared" / "seeds"

_GATE = r"  - id: E1\n    tool_name: exit\n(?:    .*\n)+"


def document(name: str) -> str:
    """The text of a published document; skips the test where it is not beside the checkout."""
    path = DOCUMENTS / name
    if not path.is_file():
        pytest.skip(f"the published document {name} is not beside this checkout")
    return path.read_text(encoding="utf-8")


def steps_plan() -> str:
    """The steps plan as printed: the ask, and the exit gate on whether it was answered."""
    text = document("ask-steps.txt")
    start = text.index("steps:\n")
    ask = text[start : text.index("\n\n", start)]
    gate = re.search(_GATE, text)
    assert gate, "the document prints no exit gate"
    return f"{ask}\n{gate.group()}"


def graph_plan() -> str:
    """The graph plan as printed."""
    text = document("human-requests.txt")
    start = text.index("graph:\n")
    end = text.index("\n\nexpect is required", start)
    return text[start:end] + "\n"


def spec(text: str) -> dict[str, object]:
    """The bare document as the spec of a Plan."""
    value = load(textwrap.dedent(text)).value
    assert isinstance(value, dict)
    return value
