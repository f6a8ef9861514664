"""`python -m bench`: measure, print a table, write `bench/results.json`.

Exits with 1 where the benchmark could not be run; a missed target is printed and exits with 0.
"""

import argparse
import asyncio
import signal
import subprocess
import sys
from pathlib import Path

from bench.connection import CONNECTIONS
from bench.errors import BenchFailed
from bench.figures import figures, list_figures, startup_figures, webhook_figures
from bench.graphs import graph_figures
from bench.language import language_figures
from bench.life import SINGLE_ANSWERS
from bench.prototype import prototype_in
from bench.redaction import redaction_figures
from bench.report import table, verdict, write
from bench.session import Results, Settings, measure
from bench.sides import OURS
from bench.usage import LONGEST_SETTLE_SECONDS
from controlplane import ControlPlaneError, Progress
from localcluster.install import ROOT
from localcluster.operator import OperatorFailed

RESULTS = Path(__file__).with_name("results.json")
PROTOTYPE = "prototype"


def main() -> int:
    """Run the benchmark; 0 where it could be run."""
    settings, folder = _options()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    sides = [side for side in (OURS, prototype_in(folder)) if side is not None]
    try:
        _report(settings, asyncio.run(measure(sides, settings, Progress())))
    except KeyboardInterrupt:
        print("interrupted; nothing was left running", file=sys.stderr)
        return 128 + signal.SIGINT
    except subprocess.CalledProcessError as error:
        print(f"error: {' '.join(map(str, error.cmd))}: {error.stderr.strip()}", file=sys.stderr)
        return 1
    except (BenchFailed, ControlPlaneError, OperatorFailed) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


def _options() -> tuple[Settings, Path]:
    parser = argparse.ArgumentParser(prog="python -m bench", description="Benchmarks of this repository.")
    parser.add_argument("--runs", type=int, default=500, metavar="N", help="runs of each life (default 500)")
    parser.add_argument("--repeat", type=int, default=2, metavar="R", help="repetitions of each side (default 2)")
    parser.add_argument(
        "--minutes", type=float, default=8.0, metavar="M", help="leave repetitions out after so long (default 8)"
    )
    parser.add_argument(
        "--prototype",
        type=Path,
        default=ROOT.parent / "shared" / "prototype",
        metavar="DIR",
        help="what to compare with; left out where it is not there (default ../shared/prototype)",
    )
    given = parser.parse_args()
    if given.runs <= SINGLE_ANSWERS:
        parser.error(f"--runs must be more than {SINGLE_ANSWERS}: so many are answered one by one")
    if given.repeat < 1:
        parser.error("--repeat must be at least 1")
    return Settings(given.runs, given.repeat, given.minutes * 60), given.prototype


def _report(settings: Settings, results: Results) -> None:
    found = figures(results.lives, OURS.name, PROTOTYPE) + startup_figures(results.startup)
    found += list_figures(results.pages) + webhook_figures(results.reviews)
    found += language_figures() + graph_figures() + redaction_figures()
    repeated = len(results.lives[OURS.name])
    used = {
        "runs": settings.runs,
        "connections": CONNECTIONS,
        "single_answers": SINGLE_ANSWERS,
        "repetitions": repeated,
        "seconds": round(results.seconds, 1),
    }
    write(RESULTS, used, results.machine, found, results.lives, results.startup, results.pages)
    print(
        f"{settings.runs} runs of one question, {CONNECTIONS} connections, {results.machine['cores']} cores; "
        f"medians of {repeated} repetition{'s' if repeated > 1 else ''}, ratios taken within each\n"
    )
    print(table(found, OURS.name, PROTOTYPE))
    if _was_restless(results):
        print(
            f"\nAn operator was still at work {LONGEST_SETTLE_SECONDS:.0f} s after a phase: what it did later "
            "is counted with the next one."
        )
    print(f"\n{verdict(found)} Everything is in bench/results.json.")


def _was_restless(results: Results) -> bool:
    phases = (phase for lives in results.lives.values() for one in lives for phase in one.phases)
    return any(phase.settle_seconds >= LONGEST_SETTLE_SECONDS for phase in phases)


if __name__ == "__main__":
    sys.exit(main())
