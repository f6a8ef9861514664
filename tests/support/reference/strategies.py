"""When a fan-out is decided."""

import math
from typing import Any


def is_met(strategy: tuple[str, Any], total: int, succeeded: int, failed: int) -> bool | None:
    """Whether a strategy is met; None while that is open.

    wait_all: all have ended, and succeeded. fail_fast: the first failure decides. race: the first success decides.
    best_effort: as soon as the threshold has succeeded, or not met when all have ended below it.
    """
    kind, threshold = strategy
    is_over = succeeded + failed == total
    if kind == "best_effort":
        return True if succeeded >= _required(threshold, total) else (False if is_over else None)
    if kind == "race":
        return True if succeeded else (False if is_over else None)
    if kind == "fail_fast" and failed:
        return False
    return failed == 0 if is_over else None


def _required(threshold: Any, total: int) -> int:
    """A count, or the share in percent rounded up; by default all."""
    if isinstance(threshold, int):
        return threshold
    return total if threshold is None else math.ceil(total * int(threshold.removesuffix("%")) / 100)
