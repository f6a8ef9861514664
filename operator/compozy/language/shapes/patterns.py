r"""Regular expressions that people write into schemas, matched by RE2.

A pattern is written by one person and run by the operator on what another person typed. Python's own engine
can be kept busy for hours by a dozen characters (`(a+)+$`); RE2 takes time linear in the text, whatever the
pattern. The price is that look-around and back-references are not understood: such a pattern is refused when
the plan is checked.
"""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

_MAX_MEMORY = 1 << 20
"""Bytes that one pattern may take."""


@lru_cache(maxsize=512)
def _compiled(pattern: str) -> Any:
    # Only here: most schemas have no pattern, and the plugin would load RE2 at each start.
    import re2  # type: ignore[import-untyped]

    options = re2.Options()
    options.log_errors = False
    options.max_mem = _MAX_MEMORY
    return re2.compile(pattern, options)


def pattern_fault(pattern: str) -> str | None:
    """Return why `pattern` cannot be used, or None when it can."""
    import re2

    try:
        _compiled(pattern)
    except re2.error as error:
        reason = error.args[0] if error.args else "unknown"
        return reason.decode(errors="replace") if isinstance(reason, bytes) else str(reason)
    return None


def found(pattern: str, text: str) -> bool:
    """Return whether `pattern` occurs anywhere in `text`: JSON Schema patterns are not anchored."""
    return _compiled(pattern).search(text) is not None


def search_cost(pattern: str, characters: int) -> int:
    """Return how much work a search may be at worst: 10 ns for each unit."""
    cost: int = _compiled(pattern).programsize * characters
    return cost


def undeclared_names(schema: Mapping[str, Any], value: Mapping[str, Any]) -> list[str]:
    """Return the names in `value` that neither `properties` nor `patternProperties` of `schema` speak of."""
    patterns = schema.get("patternProperties", {})
    declared = schema.get("properties", {})
    return [
        name for name in value if name not in declared and not any(found(pattern, name) for pattern in patterns)
    ]
