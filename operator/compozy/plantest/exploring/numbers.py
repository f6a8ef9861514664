"""Numbers that conform to a schema."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

_TYPICAL = 1


def numbers(schema: Mapping[str, Any], kind: str, hints: Sequence[int | float]) -> list[int | float]:
    """A typical number, those at the bounds, and those that a plan compares with or next to them.

    Not all of them need conform.
    """
    step = _number(schema.get("multipleOf")) or (1 if kind == "integer" else None)
    near = step if step is not None else 0.5
    low, high = _lowest(schema, near), _highest(schema, near)
    if step is not None:
        low = None if low is None else math.ceil(low / step) * step
        high = None if high is None else math.floor(high / step) * step
    typical = low if low is not None else high if high is not None else (step or _TYPICAL)
    found: list[int | float] = [_TYPICAL] if _fits(_TYPICAL, low, high, step) else [typical]
    found += [bound for bound in (low, high) if bound is not None]
    found += [0, -near] if low is None else []
    for hint in hints:
        found += [hint, hint + near, hint - near]
    found += [near * 1000] if high is None else []
    kept = [_plain(value, kind) for value in found if _fits(value, low, high, step)]
    return list(dict.fromkeys(kept))


def _lowest(schema: Mapping[str, Any], near: float) -> float | None:
    bounds = [_number(schema.get("minimum"))]
    exclusive = _number(schema.get("exclusiveMinimum"))
    bounds.append(None if exclusive is None else exclusive + near)
    given = [bound for bound in bounds if bound is not None]
    return max(given) if given else None


def _highest(schema: Mapping[str, Any], near: float) -> float | None:
    bounds = [_number(schema.get("maximum"))]
    exclusive = _number(schema.get("exclusiveMaximum"))
    bounds.append(None if exclusive is None else exclusive - near)
    given = [bound for bound in bounds if bound is not None]
    return min(given) if given else None


def _fits(value: float, low: float | None, high: float | None, step: float | None) -> bool:
    whole = step is None or math.isclose(value / step, round(value / step), abs_tol=1e-9)
    return whole and (low is None or value >= low) and (high is None or value <= high)


def _number(value: Any) -> float | None:
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def _plain(value: float, kind: str) -> int | float:
    return int(value) if kind == "integer" or float(value).is_integer() else value
