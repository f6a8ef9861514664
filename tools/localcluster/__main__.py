"""`python -m localcluster run|up|down`."""

import argparse
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from controlplane import ControlPlaneError, Progress
from localcluster.background import down, up
from localcluster.demo import DemoFailed, demo
from localcluster.install import ROOT
from localcluster.operator import OperatorFailed

DIRECTORY = ROOT / ".cluster"


def main() -> int:
    """Run one command; 0 where it did what it says."""
    parser = argparse.ArgumentParser(prog="python -m localcluster", description=__doc__)
    parser.add_argument("command", choices=("run", "up", "down"))
    command = parser.parse_args().command
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    progress = Progress()
    try:
        _COMMANDS[command](progress)
    except ControlPlaneError as error:
        print(f"error: {error.one_line()}", file=sys.stderr)
        return 1
    except (DemoFailed, OperatorFailed) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except subprocess.CalledProcessError as error:
        print(f"error: {' '.join(map(str, error.cmd))}: {error.stderr.strip()}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("interrupted; nothing was left running", file=sys.stderr)
        return 128 + signal.SIGINT
    return 0


def _up(progress: Progress) -> None:
    cluster = up(DIRECTORY, progress)
    path = os.path.relpath(cluster.kubeconfig, Path.cwd())
    print(f"export KUBECONFIG=$PWD/{path} PATH=$PWD/.venv/bin:$PATH")


_COMMANDS: dict[str, Callable[[Progress], None]] = {
    "run": demo,
    "up": _up,
    "down": lambda progress: down(DIRECTORY, progress),
}

if __name__ == "__main__":
    sys.exit(main())
