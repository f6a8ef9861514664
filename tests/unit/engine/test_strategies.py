"""When a fan-out is decided, and what its join gives out."""

import pytest

from compozy.engine.strategies import Count, Settlement, coverage, settle
from compozy.language.compiled import Strategy

pytestmark = pytest.mark.unit
MET, UNMET, PARTIAL = Settlement(met=True), Settlement(met=False), Settlement(met=True, partial=True)


@pytest.mark.parametrize(
    ("strategy", "total", "succeeded", "failed", "settlement"),
    [
        (Strategy(), 0, 0, 0, MET),
        (Strategy(), 3, 2, 0, None),
        (Strategy(), 3, 3, 0, MET),
        (Strategy(), 3, 1, 1, None),
        (Strategy(), 3, 2, 1, UNMET),
        (Strategy("fail_fast"), 3, 2, 0, None),
        (Strategy("fail_fast"), 3, 0, 1, UNMET),
        (Strategy("fail_fast"), 3, 3, 0, MET),
        (Strategy("race"), 3, 0, 2, None),
        (Strategy("race"), 3, 1, 0, MET),
        (Strategy("race"), 3, 0, 3, UNMET),
        (Strategy("race"), 0, 0, 0, MET),
        (Strategy("best_effort"), 3, 2, 0, None),
        (Strategy("best_effort"), 3, 3, 0, MET),
        (Strategy("best_effort"), 3, 2, 1, UNMET),
        (Strategy("best_effort", percent=50), 3, 1, 1, None),
        (Strategy("best_effort", percent=50), 3, 2, 0, PARTIAL),
        (Strategy("best_effort", percent=100), 3, 3, 0, MET),
        (Strategy("best_effort", count=1), 3, 1, 0, PARTIAL),
        (Strategy("best_effort", count=5), 3, 2, 1, UNMET),
        (Strategy("best_effort", count=5), 3, 3, 0, UNMET),
    ],
)
def test_when_a_fan_out_is_decided(strategy, total, succeeded, failed, settlement):
    assert settle(strategy, Count(total, succeeded, failed)) == settlement


@pytest.mark.parametrize(
    ("count", "canceled", "rate"), [(Count(3, 1, 1), 1, 0.33), (Count(3, 2, 0), 1, 0.67), (Count(0, 0, 0), 0, 0)]
)
def test_the_coverage_of_a_join(count, canceled, rate):
    told = coverage(count, PARTIAL)
    assert (told["total"], told["succeeded"], told["failed"]) == (count.total, count.succeeded, count.failed)
    assert (told["canceled"], told["coverage_rate"], told["partial"]) == (canceled, rate, True)
