"""One text for one JSON value: what equality and digests of answers are decided on."""

import json
from decimal import Decimal
from typing import Any

from compozy.language.shapes.bounds import INT64_MAX, INT64_MIN


def canonical_json(value: Any) -> str:
    """Return compact JSON with sorted names, the same for values that are equal as JSON: 1 and 1.0 are.

    Expects a JSON value (`compozy.language.shapes.bounds.json_faults` finds nothing).
    """
    plain = as_given_back(value)
    return json.dumps(plain, ensure_ascii=False, separators=(",", ":"), sort_keys=True, allow_nan=False)


def as_given_back(value: Any) -> Any:
    """Return what Kubernetes gives back of a JSON value: a number without a fraction is an integer.

    Beyond 2^53 that integer has the digits that tell the number from its neighbours, and zeros: another one
    than Python makes of it.
    """
    if isinstance(value, dict):
        return {name: as_given_back(child) for name, child in value.items()}
    if isinstance(value, list):
        return [as_given_back(child) for child in value]
    if isinstance(value, float) and value.is_integer() and INT64_MIN <= value <= INT64_MAX:
        return int(Decimal(repr(value)))
    return value
