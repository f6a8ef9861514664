"""Paths of nodes in a run: `E1/do.2/B0`, `services`, `outer.2/choose`, `sub/1/choose`.

In a path, `name.3` is lane 3 of a fan-out or element 3 of an iteration, and `name/3` turn 3 of a sub-loop. A
node in a graph has the innermost of them as its item beside the path; in steps the path says which element it is.
"""

import re
from collections.abc import Mapping
from typing import Any

_NUMBERED = re.compile(r"(.+)\.([0-9]+)", re.DOTALL)
_ELEMENT = re.compile(r"/do\.([0-9]+)(?=/|$)")


def numbered(part: str) -> tuple[str, int | None]:
    """The name and the number of one part of a path; a turn is a part without a name."""
    if part.isdecimal():
        return "", int(part)
    found = _NUMBERED.fullmatch(part)
    return (found[1], int(found[2])) if found else (part, None)


def item_beyond_path(spec: Mapping[str, Any]) -> int | None:
    """The item that a question is about, where its path does not say it already."""
    item: int | None = spec.get("item")
    elements = _ELEMENT.findall(spec["node"])
    return None if elements and int(elements[-1]) == item else item
