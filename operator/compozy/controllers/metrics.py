"""Prometheus metrics of the operator."""

from collections.abc import Callable

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

BUCKETS = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 60)


class Metrics:
    """What the operator counts."""

    def __init__(self, open_requests: Callable[[], float]) -> None:
        self.registry = CollectorRegistry()
        gauge = Gauge("compozy_requests_open", "Questions that wait for people.", registry=self.registry)
        gauge.set_function(open_requests)
        self.requests_closed = Counter(
            "compozy_requests_closed", "Questions that closed, by state.", ["state"], registry=self.registry
        )
        self.requests_opened = Counter(
            "compozy_requests_opened", "Questions that were put.", registry=self.registry
        )
        self.answers_rejected = Counter(
            "compozy_answers_rejected", "Answers handed back, by code.", ["code"], registry=self.registry
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
        self.runs_finished = Counter(
            "compozy_runs_finished", "Runs that ended, by phase.", ["phase"], registry=self.registry
        )
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
