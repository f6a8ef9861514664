"""Processes named so that a reused process id is never mistaken for them."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

_PR_SET_PDEATHSIG = 1
_POLL_SECONDS = 0.02
# Loaded here, not in the forked child: after fork only what needs no lock is safe to call.
_libc = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None


@dataclass(frozen=True)
class ProcessRecord:
    """A process: its id and a mark of the moment it started, which a later process of that id has not."""

    pid: int
    started: str

    @classmethod
    def of(cls, pid: int) -> ProcessRecord | None:
        """Record a process that runs now; None when none of this id does."""
        started = start_mark(pid)
        return None if started is None else cls(pid, started)

    def is_running(self) -> bool:
        """Whether this very process still runs; a zombie does not."""
        return start_mark(self.pid) == self.started


def start_mark(pid: int) -> str | None:
    """A text that changes when the process of this id is another one; None when none runs.

    Linux: boot id and start time in clock ticks (field 22 of ``/proc/PID/stat``). Elsewhere what ``ps`` says.
    """
    if sys.platform == "linux":
        return _start_mark_from_proc(pid)
    shown = subprocess.run(
        ["ps", "-o", "state=,lstart=", "-p", str(pid)], capture_output=True, text=True, check=False
    ).stdout.strip()
    return None if not shown or shown.startswith("Z") else shown.partition(" ")[2].strip()


def _start_mark_from_proc(pid: int) -> str | None:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except (FileNotFoundError, ProcessLookupError):
        return None
    # The command, field 2, may itself hold spaces and parentheses: count from the last one that closes.
    state, *rest = stat.rpartition(")")[2].split()
    return None if state in "ZX" else f"{boot}/{rest[18]}"


def killed_with_parent() -> Callable[[], None] | None:
    """A ``preexec_fn`` after which the kernel kills the child when the *thread* that started it ends.

    None where the kernel cannot do that (it is a Linux call).
    """
    libc = _libc
    if libc is None:
        return None
    parent = os.getpid()

    def ask_kernel() -> None:
        libc.prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)
        if os.getppid() != parent:  # it died before the call
            os._exit(1)

    return ask_kernel


def terminate(records: Iterable[ProcessRecord], *, grace_seconds: float) -> None:
    """End processes: SIGTERM, then SIGKILL for those that still run after ``grace_seconds``.

    Returns when none of them runs. A record whose process is gone, or whose id is another process by now,
    is left alone.
    """
    wanted = list(records)
    for sent, seconds in ((signal.SIGTERM, grace_seconds), (signal.SIGKILL, 10.0)):
        for record in wanted:
            if record.is_running():
                _send(record.pid, sent)
        deadline = time.monotonic() + seconds
        while any(record.is_running() for record in wanted):
            if time.monotonic() > deadline:
                break
            time.sleep(_POLL_SECONDS)
        else:
            return
    left = [record.pid for record in wanted if record.is_running()]
    if left:
        raise TimeoutError(f"processes {left} still run after SIGKILL")


def _send(pid: int, number: signal.Signals) -> None:
    with suppress(ProcessLookupError):  # it ended in between, which is what was wanted
        os.kill(pid, number)
