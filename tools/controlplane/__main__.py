"""``python -m controlplane build|up|down|status``."""

from __future__ import annotations

import argparse
import os
import signal
import sys
from pathlib import Path
from types import FrameType

from controlplane import background
from controlplane.binaries import ensure_built
from controlplane.cluster import ControlPlane
from controlplane.errors import ControlPlaneError
from controlplane.progress import Progress
from controlplane.state import SUPERVISOR, Layout

_INTERRUPTED = 128 + signal.SIGINT


def main(arguments: list[str] | None = None) -> int:
    """Run one command. Exit status: 0 done, 1 failed (``status``: nothing is up, or it is not healthy)."""
    options = _parser().parse_args(arguments)
    signal.signal(signal.SIGTERM, _interrupt)  # so that it cleans up as on Ctrl-C
    try:
        return _run(options.command, options)
    except ControlPlaneError as error:
        print(f"controlplane: {error.one_line()}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("controlplane: interrupted; nothing was left running or half built", file=sys.stderr)
        return _INTERRUPTED


def _run(command: str, options: argparse.Namespace) -> int:
    progress = Progress()
    match command:
        case "build":
            for path in ensure_built(progress).values():
                print(path)
        case "up":
            _show(background.up(options.dir, progress))
        case "down":
            background.down(options.dir, progress)
        case _:
            return _status(options.dir)
    return 0


def _status(directory: Path) -> int:
    cluster = ControlPlane.attach(directory)
    if cluster is None:
        print(f"nothing is up in {directory}")
        if last_words := _last_words(Layout(directory).log(SUPERVISOR)):
            print(f"the last one ended: {last_words}")
        return 1
    _show(cluster)
    healthy = cluster.is_healthy()
    print(f"healthy     {'yes' if healthy else 'no: see the logs in ' + str(directory)}")
    return 0 if healthy else 1


def _last_words(log: Path) -> str:
    """What a supervisor wrote when it ended for another reason than being asked to; else nothing."""
    return log.read_text(errors="replace").strip().rpartition("\n")[2] if log.exists() else ""


def _show(cluster: ControlPlane) -> None:
    name = f" {cluster.state.name}" if cluster.state.name else ""
    print(f"source      {cluster.state.source}{name}")
    print(f"server      {cluster.server}")
    print(f"kubeconfig  {os.path.relpath(cluster.kubeconfig)}")
    for process, pid in cluster.pids.items():
        print(f"process     {process} {pid}")


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m controlplane", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("build", help="build the server programs into the cache and print their paths")
    for name, text in (
        ("up", "start the control plane in the background; no-op when it is up"),
        ("down", "stop it; no-op when it is not up"),
        ("status", "say what is up; exit 1 when nothing is or it is not healthy"),
    ):
        command = commands.add_parser(name, help=text)
        command.add_argument("--dir", type=Path, default=Path(".cluster"), help="its directory (.cluster)")
    return parser


if __name__ == "__main__":
    sys.exit(main())
