"""What the measurements come to: one figure for each side, their ratio, and whether the target is met."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import mean, median, quantiles
from typing import Literal

from bench.calls import Call
from bench.life import Lives, Phase
from bench.lists import FirstPages
from bench.plugin import ROUND_TRIP, Startup
from bench.webhook import Reviews


@dataclass(frozen=True, slots=True)
class Target:
    """What a figure, or the ratio of two, should come to."""

    relation: Literal[">=", "<=", "<"]
    bound: float

    def is_met_by(self, value: float) -> bool:
        """Whether a value is good enough."""
        if self.relation == ">=":
            return value >= self.bound
        return value < self.bound if self.relation == "<" else value <= self.bound


@dataclass(frozen=True, slots=True)
class Figure:
    """One line of the table."""

    key: str
    title: str
    unit: str
    digits: int
    ours: float
    theirs: float | None = None
    ratio: float | None = None
    """The median of ours/theirs, each of one repetition."""
    target: Target | None = None
    on_ratio: bool = False

    @property
    def is_met(self) -> bool | None:
        """Whether the target is met; None where there is none, or nothing to compare with."""
        value = self.ratio if self.on_ratio else self.ours
        return None if self.target is None or value is None else self.target.is_met_by(value)


@dataclass(frozen=True, slots=True)
class _Measure:
    """How a figure follows from the lives of one repetition."""

    key: str
    title: str
    unit: str
    digits: int
    of: Callable[[Lives], float]
    target: Target | None = None


_MEASURES = (
    _Measure(
        "parked_per_second",
        "parked",
        "runs/s",
        1,
        lambda it: it.parking.runs / it.parking.seconds,
        Target(">=", 0.6),
    ),
    _Measure(
        "resumed_per_second",
        "resumed",
        "runs/s",
        1,
        lambda it: it.resuming.runs / it.resuming.seconds,
        Target(">=", 0.6),
    ),
    _Measure(
        "sent_p50", "one answer sent -> run finished, p50", "ms", 1, lambda it: sent(it, 50), Target("<=", 2.0)
    ),
    _Measure("sent_p95", "one answer sent -> run finished, p95", "ms", 1, lambda it: sent(it, 95)),
    _Measure("acknowledged_p50", "its acknowledgement -> finished, p50", "ms", 1, lambda it: acknowledged(it, 50)),
    _Measure("acknowledged_p95", "its acknowledgement -> finished, p95", "ms", 1, lambda it: acknowledged(it, 95)),
    _Measure("parking_settle", "operator busy after parking", "s", 2, lambda it: it.parking.settle_seconds),
    _Measure("resuming_settle", "operator busy after resuming", "s", 2, lambda it: it.resuming.settle_seconds),
    _Measure("operator_cpu", "operator CPU, whole life", "ms/run", 2, lambda it: each(it, "operator")),
    _Measure(
        "operator_cpu_parking",
        "  of it: parking",
        "ms/run",
        2,
        lambda it: 1000 * it.parking.cpu_seconds["operator"] / it.parking.runs,
    ),
    _Measure(
        "operator_cpu_resuming",
        "  of it: resuming",
        "ms/run",
        2,
        lambda it: 1000 * it.resuming.cpu_seconds["operator"] / it.resuming.runs,
    ),
    _Measure("apiserver_cpu", "API server CPU, whole life", "ms/run", 2, lambda it: each(it, "kube-apiserver")),
    _Measure("etcd_cpu", "etcd CPU, whole life", "ms/run", 2, lambda it: each(it, "etcd")),
    _Measure(
        "writes", "writes to the API server", "each run", 2, lambda it: sum(it.writes.values()) / it.parking.runs
    ),
    _Measure("operator_cpu_total", "operator CPU, all lives", "s", 2, lambda it: it.cpu_seconds("operator")),
    _Measure(
        "apiserver_cpu_total", "API server CPU, all lives", "s", 2, lambda it: it.cpu_seconds("kube-apiserver")
    ),
    _Measure("parked_memory", "operator memory, all parked", "MiB", 1, lambda it: it.parked_memory_mib),
    _Measure("peak_memory", "operator memory, peak", "MiB", 1, lambda it: it.peak_memory_mib),
    _Measure("other_cores", "other work meanwhile (noise)", "cores", 2, lambda it: mean(map(_others, it.phases))),
)


def figures(lives: Mapping[str, Sequence[Lives]], ours: str, theirs: str) -> list[Figure]:
    """The figures of whole lives, by side and repetition; medians over the repetitions."""
    found = []
    for measure in _MEASURES:
        own = [measure.of(one) for one in lives[ours]]
        other = [measure.of(one) for one in lives.get(theirs, ())]
        ratios = [mine / its for mine, its in zip(own, other, strict=False) if its]
        found.append(
            Figure(
                measure.key,
                measure.title,
                measure.unit,
                measure.digits,
                ours=median(own),
                theirs=median(other) if other else None,
                ratio=median(ratios) if ratios else None,
                target=measure.target,
                on_ratio=True,
            )
        )
    return found


def startup_figures(startup: Startup) -> list[Figure]:
    """The figures of the plugin; medians over its calls."""
    patched, sent_, responded = wall(startup.patch), wall(startup.respond_sent), wall(startup.respond)
    return [
        Figure("help_cpu", "kubectl compozy --help, CPU", "s", 3, cpu(startup.help), target=Target("<", 0.25)),
        Figure("help_wall", "kubectl compozy --help, by the clock", "s", 3, wall(startup.help)),
        Figure("respond_cpu", "kubectl compozy respond, CPU", "s", 3, cpu(startup.respond)),
        Figure(
            "respond_wall", "kubectl compozy respond, by the clock", "s", 3, responded, target=Target("<", 0.6)
        ),
        Figure("respond_sent_wall", "  of it: with --no-wait", "s", 3, sent_),
        Figure("patch_wall", "kubectl patch of the same answer", "s", 3, patched),
        Figure(
            "respond_sent_to_patch",
            "respond --no-wait / patch",
            "times",
            2,
            sent_ / patched,
            target=Target("<=", 1.5),
        ),
        Figure(
            "far_sent_to_patch",
            f"  {ROUND_TRIP * 1000:.0f} ms away: respond --no-wait / patch",
            "times",
            2,
            wall(startup.sent_far) / wall(startup.patch_far),
            target=Target("<=", 1.5),
        ),
        Figure("respond_to_patch", "respond, accepted / patch", "times", 2, responded / patched),
    ]


def webhook_figures(reviews: Reviews) -> list[Figure]:
    """The figures of the webhook: what a review takes, and what it adds to a patch."""
    review, patch = "webhook, review of a 16 KiB answer", "patch with a 16 KiB answer"
    slowest = _percentile(reviews.review, 99)
    return [
        Figure("review_p50", f"{review}, p50", "ms", 1, _percentile(reviews.review, 50)),
        Figure("review_p99", f"{review}, p99", "ms", 1, slowest, target=Target("<", 20.0)),
        Figure("patch_with_p50", f"{patch}, with it, p50", "ms", 1, _percentile(reviews.patch_with, 50)),
        Figure("patch_with_p99", f"{patch}, with it, p99", "ms", 1, _percentile(reviews.patch_with, 99)),
        Figure("patch_without_p50", f"{patch}, without, p50", "ms", 1, _percentile(reviews.patch_without, 50)),
        Figure("patch_without_p99", f"{patch}, without, p99", "ms", 1, _percentile(reviews.patch_without, 99)),
    ]


def list_figures(pages: FirstPages) -> list[Figure]:
    """The figures of long lists: medians over the calls; of memory the most."""
    soon, small = Target("<", 1.0), Target("<", 120)
    peak = max(call.peak_mib for call in pages.json)
    return [
        Figure("first_page", "first page of 10,000 pending", "s", 2, wall(pages.table), target=soon),
        Figure("first_page_json", "  with -o json", "s", 2, wall(pages.json), target=soon),
        Figure("run_page_json", "  of one run of 500, with -o json", "s", 2, wall(pages.of_run), target=soon),
        Figure("first_page_memory", "  memory of the plugin, peak", "MiB", 1, peak, target=small),
    ]


def wall(calls: Sequence[Call]) -> float:
    """Seconds by the clock, median."""
    return median(call.wall for call in calls)


def cpu(calls: Sequence[Call]) -> float:
    """CPU seconds, median."""
    return median(call.cpu for call in calls)


def sent(lives: Lives, percent: int) -> float:
    """Milliseconds from sending one answer to its run having finished."""
    return _percentile([latency.from_sending for latency in lives.latencies], percent)


def acknowledged(lives: Lives, percent: int) -> float:
    """Milliseconds from the acknowledgement of one answer to its run having finished."""
    return _percentile([latency.from_acknowledgement for latency in lives.latencies], percent)


def each(lives: Lives, process: str) -> float:
    """CPU milliseconds of a process for one whole life."""
    return 1000 * lives.cpu_seconds(process) / lives.parking.runs


def _percentile(seconds: Sequence[float], percent: int) -> float:
    return 1000 * quantiles(seconds, n=100, method="inclusive")[percent - 1]


def _others(phase: Phase) -> float:
    return phase.other_cores
