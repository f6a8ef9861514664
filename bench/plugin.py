"""How quickly the plugin starts: `kubectl compozy --help`, and a whole `kubectl compozy respond`."""

import asyncio
import json
import resource
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path

from bench.connection import connect
from bench.driver import clear, driving
from bench.errors import BenchFailed
from bench.sides import ANSWER, NAMESPACE, OURS
from bench.usage import until_quiet
from controlplane import ControlPlane
from localcluster.kubectl import BIN, environment

SAMPLES = 10


@dataclass(slots=True)
class Startup:
    """Of each call: CPU seconds of the child process, and seconds by the clock."""

    help_cpu: list[float] = field(default_factory=list)
    help_wall: list[float] = field(default_factory=list)
    respond_cpu: list[float] = field(default_factory=list)
    respond_wall: list[float] = field(default_factory=list)


async def startup(cluster: ControlPlane, directory: Path) -> Startup:
    """Measure the plugin against the local API server, with the operator at work. Raises BenchFailed."""
    names = [f"plugin-{number}" for number in range(SAMPLES + 1)]
    measured = Startup()
    async with connect(cluster.kubeconfig) as connection:
        with OURS.operator(cluster, directory / "plugin.log") as operator:
            async with driving(OURS, connection) as driver:
                await driver.park(names)
                await until_quiet(operator)
                for number, name in enumerate(names):
                    respond = ("respond", driver.request_of[name], "--payload", json.dumps(ANSWER))
                    helped = await asyncio.to_thread(_timed, cluster.kubeconfig, "--help")
                    responded = await asyncio.to_thread(_timed, cluster.kubeconfig, *respond, "-n", NAMESPACE)
                    if number:  # the first of each warms the page cache up
                        measured.help_cpu.append(helped[0])
                        measured.help_wall.append(helped[1])
                        measured.respond_cpu.append(responded[0])
                        measured.respond_wall.append(responded[1])
        await clear(OURS, connection)
    return measured


def _timed(kubeconfig: Path, *arguments: str) -> tuple[float, float]:
    """CPU seconds and seconds by the clock of one call; no other child of ours may end meanwhile."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    result = subprocess.run(
        [str(BIN / "kubectl"), "compozy", *arguments],
        env=environment(kubeconfig),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    wall, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    if result.returncode:
        raise BenchFailed(
            f"`kubectl compozy {arguments[0]}` ended with {result.returncode}: {result.stderr.strip()}"
        )
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, wall
