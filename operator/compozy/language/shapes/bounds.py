"""What counts as a JSON value at all, and how large one may be before anything looks inside it.

YAML hands over dates, NaN, shared and even circular structures. Whatever walks a value later may rely on this
having been checked first: the walk here is iterative and gives up at a number of nodes, so neither depth nor
sharing hurts.
"""

import math
from typing import Any

MAX_DEPTH = 64
"""Levels of nesting a value may have."""

MAX_NODES = 100_000
"""Scalars, lists and objects a value may consist of, shared ones counted each time."""

MAX_FAULTS = 100
"""Faults reported for one value: as many as a request's `lastRejection` holds."""

_EXPONENT_FROM = 1e21
"""From here on Kubernetes writes a number with an exponent."""

INT64_MIN, INT64_MAX = -(2**63), 2**63 - 1

Pointer = tuple[str | int, ...]
"""Where something is inside a JSON value: names of properties and indexes of items."""


def dotted(pointer: Pointer) -> str:
    """Return the path as people read it, such as `reviewers.0.name`; the root is `payload`."""
    return ".".join(str(segment) for segment in pointer) or "payload"


def json_faults(value: Any, max_depth: int = MAX_DEPTH, max_nodes: int = MAX_NODES) -> dict[Pointer, str]:
    """Return why `value` is no JSON value that Kubernetes can keep, by place; empty when it is one.

    An integer must fit in 64 bits, and a number such as `1e20`, between 2^63 and 10^21, is refused with them:
    Kubernetes writes it without the exponent, as an integer that does not fit.
    """
    faults: dict[Pointer, str] = {}
    stack: list[tuple[Pointer, Any]] = [((), value)]
    nodes = 0
    while stack and len(faults) < MAX_FAULTS:
        pointer, node = stack.pop()
        nodes += 1
        if nodes > max_nodes:
            return {(): f"has more than {max_nodes} parts"}
        if len(pointer) > max_depth:
            return {pointer[:8]: f"is nested more than {max_depth} levels deep"}
        if isinstance(node, dict):
            if any(_name_fault(name) for name in node):
                faults[pointer] = "has a name that is not text: put names in quotes"
            stack.extend(((*pointer, name), child) for name, child in node.items() if not _name_fault(name))
        elif isinstance(node, list):
            stack.extend(((*pointer, index), child) for index, child in enumerate(node))
        elif fault := _scalar_fault(node):
            faults[pointer] = fault
    return faults


def _name_fault(name: Any) -> str | None:
    return _scalar_fault(name) if isinstance(name, str) else "is not text"


def _scalar_fault(node: Any) -> str | None:
    if node is None or isinstance(node, bool):
        return None
    if isinstance(node, str):
        return None if is_unicode(node) else "is not valid Unicode text"
    if isinstance(node, int | float):
        return _number_fault(node)
    return f"is no JSON value but a {type(node).__name__}: put it in quotes"


def _number_fault(number: float) -> str | None:
    if isinstance(number, float) and not math.isfinite(number):
        return "must be a finite number"
    survives = INT64_MIN <= number <= INT64_MAX or (isinstance(number, float) and abs(number) >= _EXPONENT_FROM)
    return None if survives else "must fit in 64 bits"


def is_unicode(text: str) -> bool:
    """Return whether UTF-8 has words for a text: not for a lone half of a surrogate pair, which JSON can spell."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
