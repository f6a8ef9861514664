"""One call of a program: how long it took and what it used."""

import os
import subprocess
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from bench.errors import BenchFailed
from bench.usage import peak_memory_mib
from localcluster.kubectl import BIN, environment

_POLL_SECONDS = 0.002


@dataclass(frozen=True, slots=True)
class Call:
    """What one process took."""

    wall: float
    """Seconds by the clock."""
    cpu: float
    """CPU seconds."""
    peak_mib: float
    """The most memory that it had; of a plugin that kubectl has become, what the plugin had."""


def timed(kubeconfig: Path, program: str, *arguments: str) -> Call:
    """Call a program of ours to its end. Raises BenchFailed when it fails."""
    with tempfile.TemporaryFile() as output:
        began = time.perf_counter()
        process = subprocess.Popen(
            [str(BIN / program), *arguments],
            env=environment(kubeconfig),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
        )
        peak, ended = 0.0, 0
        # What the kernel tells at the end counts from before the program was loaded, when it was still ours.
        while not ended:
            with suppress(BenchFailed):
                peak = peak_memory_mib(process.pid)
            time.sleep(_POLL_SECONDS)
            ended, status, usage = os.wait4(process.pid, os.WNOHANG)
        wall = time.perf_counter() - began
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            output.seek(0)
            told = output.read(2000).decode(errors="replace").strip()
            raise BenchFailed(f"`{program} {' '.join(arguments[:2])}` ended with {process.returncode}: {told}")
    return Call(wall, usage.ru_utime + usage.ru_stime, peak)
