"""One run of the benchmark: control planes of its own, the sides alternately, then the plugin."""

import asyncio
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.errors import BenchFailed
from bench.life import Lives, live
from bench.lists import QUESTIONS, FirstPages, first_pages
from bench.machine import machine
from bench.plugin import Startup, startup
from bench.sides import OURS, Side
from bench.webhook import Reviews, reviews
from controlplane import ControlPlane, Progress, prepare

PLUGIN_SECONDS = 165.0
"""Kept free for the plugin, its lists and the webhook when another repetition is thought of."""
_LOG_LINES = 10


@dataclass(frozen=True, slots=True)
class Settings:
    """How much is measured."""

    runs: int
    repetitions: int
    seconds: float
    """How long everything may take, not counting a first build of the servers."""


@dataclass(slots=True)
class Results:
    """Everything that was measured."""

    machine: dict[str, Any]
    startup: Startup
    reviews: Reviews
    pages: FirstPages
    lives: dict[str, list[Lives]] = field(default_factory=dict)
    """By side, in the order of the repetitions."""
    seconds: float = 0.0


async def measure(sides: Sequence[Side], settings: Settings, progress: Progress) -> Results:
    """Measure everything. Raises BenchFailed, ControlPlaneError or OperatorFailed."""
    prepare(progress)
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="compozy-bench-") as name, ExitStack() as stack:
        directory = Path(name)
        clusters = {}
        for side in sides:
            clusters[side.name] = stack.enter_context(ControlPlane.start(directory / side.name, progress))
            _refuse_others_servers(clusters[side.name])
            with progress.step(f"installing {side.name}"):
                side.install(clusters[side.name])
        results = Results(machine(clusters[OURS.name].kubeconfig), Startup(), Reviews(), FirstPages())
        with _failures_explained(directory, settings.seconds):
            async with asyncio.timeout(settings.seconds - (time.monotonic() - began)):
                results.lives = await _alternately(sides, clusters, settings, directory, progress, began)
                with progress.step("plugin"):
                    results.startup = await startup(clusters[OURS.name], directory)
                with progress.step("webhook"):
                    results.reviews = await reviews(clusters[OURS.name], directory)
                with progress.step(f"lists of {QUESTIONS:,} questions"):
                    results.pages = await first_pages(clusters[OURS.name])
    results.seconds = time.monotonic() - began
    return results


async def _alternately(
    sides: Sequence[Side],
    clusters: dict[str, ControlPlane],
    settings: Settings,
    directory: Path,
    progress: Progress,
    began: float,
) -> dict[str, list[Lives]]:
    lives: dict[str, list[Lives]] = {side.name: [] for side in sides}
    longest = 0.0
    for number in range(1, settings.repetitions + 1):
        left = settings.seconds - (time.monotonic() - began) - PLUGIN_SECONDS
        if left < longest:
            progress.note(f"no time for repetition {number} of {settings.repetitions}: give more --minutes")
            break
        repetition_began = time.monotonic()
        # In turn first and last, so that a machine that grows slower or faster is unfair to none.
        for side in sides if number % 2 else reversed(sides):
            with progress.step(f"{side.name}, {settings.runs} whole lives, {number} of {settings.repetitions}"):
                lives[side.name].append(await live(side, clusters[side.name], settings.runs, directory))
        longest = max(longest, time.monotonic() - repetition_began)
    return lives


def _refuse_others_servers(cluster: ControlPlane) -> None:
    if not cluster.owns_servers:
        raise BenchFailed(
            "the benchmark measures servers of its own: unset COMPOZY_CONTEXT, and set KUBEBUILDER_ASSETS "
            "or stop the Docker engine so that no kind cluster is made"
        )


@contextmanager
def _failures_explained(directory: Path, seconds: float) -> Iterator[None]:
    """Take one reason out of a group of tasks that ended, and show what the operators logged before it."""
    try:
        yield
    except TimeoutError:
        raise BenchFailed(f"not done in {seconds / 60:g} minutes: give more --minutes or fewer --runs") from None
    except ExceptionGroup as group:
        _show_logs(directory)
        reasons = group.subgroup(BenchFailed)
        if reasons is None:
            raise
        raise _first(reasons) from group


def _show_logs(directory: Path) -> None:
    for log in sorted(directory.glob("*.log")):
        for line in log.read_text(errors="replace").splitlines()[-_LOG_LINES:]:
            print(f"{log.stem}: {line}", file=sys.stderr)


def _first(error: BaseException) -> BaseException:
    return _first(error.exceptions[0]) if isinstance(error, BaseExceptionGroup) else error
