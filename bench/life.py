"""Whole lives of many runs on one side: started, parked, answered, finished; and what that took and cost."""

import time
from dataclasses import dataclass, field
from pathlib import Path

from bench.connection import Connection, connect
from bench.driver import Driver, Latency, clear, driving
from bench.sides import Side
from bench.usage import (
    SERVER_QUIET_CPU_SECONDS,
    cpu_of,
    machine_cpu_seconds,
    memory_mib,
    peak_memory_mib,
    until_quiet,
)
from bench.writes import writes_so_far
from controlplane import ControlPlane

SINGLE_ANSWERS = 30
WARM_UP_RUNS = 20
SERVERS = ("kube-apiserver", "etcd", "kube-controller-manager")


@dataclass(slots=True)
class Phase:
    """One phase of all lives, with what it brought on: it counts until the operator is quiet again."""

    runs: int
    seconds: float = 0.0
    """From its beginning to the last run having got there."""
    settle_seconds: float = 0.0
    """From then until the operator was quiet, or until it was no longer waited for."""
    cpu_seconds: dict[str, float] = field(default_factory=dict)
    """By process: operator, kube-apiserver, etcd, kube-controller-manager."""
    other_cores: float = 0.0
    """How many cores others used meanwhile: everything but those processes and the driver."""


@dataclass(slots=True)
class Lives:
    """What was measured on one side in one repetition."""

    parking: Phase
    single: Phase
    resuming: Phase
    latencies: list[Latency] = field(default_factory=list)
    parked_memory_mib: float = 0.0
    """The operator's resident memory with all runs parked."""
    peak_memory_mib: float = 0.0
    writes: dict[str, int] = field(default_factory=dict)
    """By verb and resource: what the API server took, the driver's own two for each run among it."""

    @property
    def phases(self) -> tuple[Phase, Phase, Phase]:
        """The phases in their order."""
        return self.parking, self.single, self.resuming

    def cpu_seconds(self, process: str) -> float:
        """CPU of a process over whole lives, in seconds."""
        return sum(phase.cpu_seconds[process] for phase in self.phases)


class _Meter:
    """Takes the time and the CPU of one phase after the other."""

    def __init__(self, cluster: ControlPlane, operator: int) -> None:
        self._operator = operator
        self._pids = {"operator": operator} | {name: cluster.pids[name] for name in SERVERS}
        self._cpu, self._others, self._moment = cpu_of(self._pids), self._others_so_far(), time.perf_counter()

    async def finish(self, phase: Phase) -> None:
        """Wait until the operator is quiet, and write into the phase what it has cost since the last."""
        phase.settle_seconds = await until_quiet(self._operator)
        before, self._cpu = self._cpu, cpu_of(self._pids)
        phase.cpu_seconds = {name: self._cpu[name] - before[name] for name in self._pids}
        others, moment = self._others_so_far(), time.perf_counter()
        phase.other_cores = (others - self._others) / (moment - self._moment)
        self._others, self._moment = others, moment

    def _others_so_far(self) -> float:
        return machine_cpu_seconds() - sum(cpu_of(self._pids).values()) - time.process_time()


async def live(side: Side, cluster: ControlPlane, runs: int, directory: Path) -> Lives:
    """Measure whole lives of this many runs, with a fresh operator. Raises BenchFailed."""
    async with connect(cluster.kubeconfig) as connection:
        with side.operator(cluster, directory / f"{side.name}.log") as operator:
            async with driving(side, connection) as driver:
                await _warm_up(driver, operator)
                before = await writes_so_far(connection)
                lives = await _measure(driver, _Meter(cluster, operator), operator, runs)
                lives.writes = dict(await writes_so_far(connection) - before)
        await _clean(side, cluster, connection)
    return lives


async def _warm_up(driver: Driver, operator: int) -> None:
    """Some whole lives, so that connections, caches and compiled rules are there; and the operator is."""
    names = [f"warm-{number}" for number in range(WARM_UP_RUNS)]
    await driver.park(names)
    await driver.answer_all(names)
    await until_quiet(operator)


async def _measure(driver: Driver, meter: _Meter, operator: int, runs: int) -> Lives:
    names = [f"run-{number}" for number in range(runs)]
    singles, others = names[:SINGLE_ANSWERS], names[SINGLE_ANSWERS:]
    lives = Lives(Phase(runs), Phase(len(singles)), Phase(len(others)))

    lives.parking.seconds = await driver.park(names)
    await meter.finish(lives.parking)
    lives.parked_memory_mib = memory_mib(operator)

    for name in singles:
        lives.latencies.append(await driver.answer_one(name))
    lives.single.seconds = sum(latency.from_sending for latency in lives.latencies)
    await meter.finish(lives.single)

    lives.resuming.seconds = await driver.answer_all(others)
    await meter.finish(lives.resuming)
    lives.peak_memory_mib = peak_memory_mib(operator)
    return lives


async def _clean(side: Side, cluster: ControlPlane, connection: Connection) -> None:
    await clear(side, connection)
    for server in SERVERS:
        await until_quiet(cluster.pids[server], SERVER_QUIET_CPU_SECONDS)
