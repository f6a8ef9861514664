"""A reused process id is another process."""

from __future__ import annotations

import dataclasses
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest

from controlplane.processes import ProcessRecord, terminate

pytestmark = pytest.mark.unit

IGNORES_SIGTERM = (
    "import signal, time; signal.signal(15, signal.SIG_IGN); print('ready', flush=True); time.sleep(600)"
)


@pytest.fixture
def process() -> Iterator[subprocess.Popen[str]]:
    """A process that ends only when it is killed."""
    child = subprocess.Popen([sys.executable, "-c", IGNORES_SIGTERM], stdout=subprocess.PIPE, text=True)
    with child:
        assert child.stdout is not None
        child.stdout.readline()
        yield child
        child.kill()


def record_of(process: subprocess.Popen[str]) -> ProcessRecord:
    record = ProcessRecord.of(process.pid)
    assert record is not None
    return record


def test_a_process_is_recognised(process: subprocess.Popen[str]) -> None:
    assert record_of(process).is_running()
    assert record_of(process) == record_of(process)


def test_a_reused_process_id_is_left_alone(process: subprocess.Popen[str]) -> None:
    earlier = dataclasses.replace(record_of(process), started="at another time")

    terminate([earlier], grace_seconds=0)

    assert not earlier.is_running()
    assert process.poll() is None


def test_what_ignores_sigterm_is_killed(process: subprocess.Popen[str]) -> None:
    terminate([record_of(process)], grace_seconds=0.05)
    assert process.wait() == -9


def test_a_zombie_does_not_run(process: subprocess.Popen[str]) -> None:
    record = record_of(process)
    process.kill()
    while record.is_running():
        time.sleep(0.01)
    # Not waited for yet: its id is still taken.
    assert ProcessRecord.of(process.pid) is None


def test_terminating_nothing_is_no_error() -> None:
    terminate([], grace_seconds=0)
