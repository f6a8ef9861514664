"""The strategies of a fan-out: when it is decided, and what the join gives out."""

import math
from dataclasses import dataclass
from typing import Any

from compozy.language.compiled import Strategy


@dataclass(frozen=True, slots=True)
class Count:
    """How many lanes there are, and what has become of them so far."""

    total: int
    succeeded: int
    failed: int

    @property
    def is_over(self) -> bool:
        """Whether every lane has ended."""
        return self.succeeded + self.failed == self.total


@dataclass(frozen=True, slots=True)
class Settlement:
    """That a fan-out is decided."""

    met: bool
    """Whether its strategy is met."""
    partial: bool = False
    """Whether it is met although not every lane has succeeded."""


def settle(strategy: Strategy, count: Count) -> Settlement | None:
    """Whether what is known decides; None while it does not. No lanes at all are well."""
    if count.total == 0:
        return Settlement(met=True)
    match strategy.kind:
        case "fail_fast" if count.failed:
            return Settlement(met=False)
        case "race" if count.succeeded:
            return Settlement(met=True)
        case "best_effort" if count.succeeded >= required(strategy, count.total):
            return Settlement(met=True, partial=count.succeeded < count.total)
        case "best_effort" if count.is_over:
            return Settlement(met=False)
    return Settlement(met=count.succeeded == count.total) if count.is_over else None


def required(strategy: Strategy, total: int) -> int:
    """How many lanes of a `best_effort` must succeed."""
    if strategy.count is not None:
        return strategy.count
    return math.ceil(total * strategy.percent / 100) if strategy.percent is not None else total


def coverage(count: Count, settlement: Settlement) -> dict[str, Any]:
    """What a collect gives out."""
    rate = round(count.succeeded / count.total, 2) if count.total else 0
    return {
        "total": count.total,
        "succeeded": count.succeeded,
        "failed": count.failed,
        "canceled": count.total - count.succeeded - count.failed,
        "coverage_rate": rate,
        "partial": settlement.partial,
    }
