"""CPU time and memory of processes, from Linux' `/proc`."""

import asyncio
import os
import time
from collections.abc import Mapping
from pathlib import Path

from bench.errors import BenchFailed

QUIET_WINDOW_SECONDS = 2.0
"""Longer than any pause after which an operator goes on by itself."""
QUIET_CPU_SECONDS = 0.011
"""What an operator may use in one such window and still count as quiet: one tick. One that writes now and
then is not quiet: what it still has to do would be counted as the next phase."""
SERVER_QUIET_CPU_SECONDS = 0.4
"""The same of a server, which is never quite idle."""
LONGEST_SETTLE_SECONDS = 40.0
_POLL_SECONDS = 0.25
_KIB_PER_MIB = 1024


def cpu_seconds(pid: int) -> float:
    """User and system time of a process so far, in seconds (to 1/100)."""
    # The command, field 2, may itself hold spaces and parentheses: count from the last one that closes.
    fields = _read(pid, "stat").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def memory_mib(pid: int) -> float:
    """Resident memory of a process now, in MiB."""
    return _status_mib(pid, "VmRSS:")


def peak_memory_mib(pid: int) -> float:
    """The most resident memory that a process ever had, in MiB."""
    return _status_mib(pid, "VmHWM:")


def cpu_of(pids: Mapping[str, int]) -> dict[str, float]:
    """CPU seconds so far of several processes, by their names."""
    return {name: cpu_seconds(pid) for name, pid in pids.items()}


def machine_cpu_seconds() -> float:
    """CPU seconds of all processes of this machine so far, with what its hypervisor took."""
    user, nice, system, _, _, irq, softirq, steal = map(int, Path("/proc/stat").read_text().split()[1:9])
    return (user + nice + system + irq + softirq + steal) / os.sysconf("SC_CLK_TCK")


async def until_quiet(pid: int, cpu_seconds_per_window: float = QUIET_CPU_SECONDS) -> float:
    """Wait until a process has hardly worked for a whole window.

    Returns the seconds from now to when it last worked, to a quarter of a second. Stops waiting after
    `LONGEST_SETTLE_SECONDS` and returns them.
    """
    began = time.perf_counter()
    samples = [(0.0, cpu_seconds(pid))]
    while samples[-1][0] < LONGEST_SETTLE_SECONDS:
        await asyncio.sleep(_POLL_SECONDS)
        samples.append((time.perf_counter() - began, cpu_seconds(pid)))
        moment, cpu = samples[-1]
        before = [sample for sample in samples if sample[0] <= moment - QUIET_WINDOW_SECONDS]
        if before and cpu - before[-1][1] <= cpu_seconds_per_window:
            return before[-1][0]
    return LONGEST_SETTLE_SECONDS


def _read(pid: int, name: str) -> str:
    try:
        return Path(f"/proc/{pid}/{name}").read_text()
    except OSError as error:
        raise BenchFailed(
            f"the process {pid} to be measured is not there (or this is not Linux): {error}"
        ) from None


def _status_mib(pid: int, field: str) -> float:
    for line in _read(pid, "status").splitlines():
        if line.startswith(field):
            return int(line.split()[1]) / _KIB_PER_MIB
    raise BenchFailed(f"the process {pid} has ended")
