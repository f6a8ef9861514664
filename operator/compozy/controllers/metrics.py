"""Prometheus metrics of the operator. Labels take values of closed sets: never a name, never text of a run."""

from collections.abc import Callable, Iterable
from typing import get_args

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from compozy.api.humanrequest import RequestState
from compozy.engine.state import FINAL_PHASES
from compozy.requests.verdict import Code

BUCKETS = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 60)


class Metrics:
    """What the operator counts."""

    def __init__(self, open_requests: Callable[[], float]) -> None:
        self.registry = CollectorRegistry()
        gauge = Gauge("compozy_requests_open", "Questions that wait for people.", registry=self.registry)
        gauge.set_function(open_requests)
        states = [state for state in get_args(RequestState) if state != "Pending"]
        self.requests_closed = self._counter(
            "requests_closed", "Questions that closed, by state.", "state", states
        )
        self.requests_opened = Counter(
            "compozy_requests_opened", "Questions that were put.", registry=self.registry
        )
        self.answers_rejected = self._counter(
            "answers_rejected", "Answers handed back, by code.", "code", get_args(Code)
        )
        self.answers_reviewed = Counter(
            "compozy_answers_reviewed",
            "Answers the webhook was asked about, by what it said.",
            ["said"],
            registry=self.registry,
        )
        self.review_seconds = Histogram(
            "compozy_answer_review_seconds",
            "Seconds from having an answer's review to its verdict.",
            buckets=BUCKETS,
            registry=self.registry,
        )
        self.runs_finished = self._counter("runs_finished", "Runs that ended, by phase.", "phase", FINAL_PHASES)
        self.answer_to_resumed = Histogram(
            "compozy_answer_to_resumed_seconds",
            "Seconds from seeing an answer to the run having gone on.",
            buckets=BUCKETS,
            registry=self.registry,
        )
        self.conflicts = Counter(
            "compozy_write_conflicts",
            "Writes that lost a race and were decided again.",
            registry=self.registry,
        )

    def _counter(self, name: str, text: str, label: str, values: Iterable[str]) -> Counter:
        """A counter that shows every value of its label from the beginning."""
        counter = Counter(f"compozy_{name}", text, [label], registry=self.registry)
        for value in sorted(values):
            counter.labels(value)
        return counter
