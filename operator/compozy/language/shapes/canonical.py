"""One text for one JSON value: what equality and digests of answers are decided on."""

import json
from typing import Any

from compozy.language.shapes.bounds import INT64_MAX, INT64_MIN


def canonical_json(value: Any) -> str:
    """Return compact JSON with sorted names, the same for values that are equal as JSON: 1 and 1.0 are.

    Expects a JSON value (`compozy.language.shapes.bounds.json_faults` finds nothing).
    """
    return json.dumps(_plain(value), ensure_ascii=False, separators=(",", ":"), sort_keys=True, allow_nan=False)


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _plain(child) for name, child in value.items()}
    if isinstance(value, list):
        return [_plain(child) for child in value]
    if isinstance(value, float) and value.is_integer() and INT64_MIN <= value <= INT64_MAX:
        return int(value)  # as Kubernetes writes it
    return value
