"""How deep the objects nest that the API server admits, which is deeper than Python reads by itself.

Where a schema says nothing about what is inside, an object may nest ten thousand levels deep. A watch that
cannot read one event can read no other either, so whoever may write one such object could stop the operator
for everybody.
"""

import sys

ADMITTED_DEPTH = 10_000
"""The deepest nesting that the API server admits."""

_RECURSION_LIMIT = 25_000
"""Enough for `json` to read and write such an object, and little enough for a thread's stack of 8 MiB."""


def read_deep_objects() -> None:
    """Let this process read whatever the API server admits; to be called once, at the start."""
    sys.setrecursionlimit(max(_RECURSION_LIMIT, sys.getrecursionlimit()))


def reads_deep_objects() -> bool:
    """Return whether that is so: early releases of Python 3.12 have a limit that nobody can raise."""
    import json

    try:
        json.loads("[" * ADMITTED_DEPTH + "]" * ADMITTED_DEPTH)
    except RecursionError:
        return False
    return True
