"""The process that owns the servers: it starts them, watches them and leaves none of them behind.

Run by `controlplane.cluster`, as ``python -m controlplane.supervisor DIRECTORY ETCD APISERVER MANAGER``. It
writes one line of JSON to stdout, ``{"ready": true}`` or ``{"error": …, "hint": …, "log": …}``, and then
stays until its `Lifeline` ends or a server does. Should it be killed, Linux kills the servers.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from controlplane import servers
from controlplane.binaries import Binaries
from controlplane.errors import ControlPlaneError, disk_errors_explained
from controlplane.lifeline import Lifeline, StopRequestedError
from controlplane.processes import ProcessRecord, terminate
from controlplane.state import APISERVER, CONTROLLER_MANAGER, ETCD, SUPERVISOR, Layout, State

_READY_WITHIN_SECONDS = 120.0
_POLL_SECONDS = 0.1
_PORT_ATTEMPTS = 5
_DEFAULT_ACCOUNT = "/api/v1/namespaces/default/serviceaccounts/default"


class PortTakenError(Exception):
    """A port that was free a moment ago is not any more."""


class Supervisor:
    """Starts and stops the servers of one directory."""

    def __init__(self, layout: Layout, programs: Binaries, lifeline: Lifeline) -> None:
        self._layout = layout
        self._programs = programs
        self._lifeline = lifeline
        self._running: dict[str, subprocess.Popen[bytes]] = {}

    def start(self) -> None:
        """Start the servers and wait until they are ready; again with other ports when one was lost."""
        servers.write_credentials(self._layout)
        for _ in range(_PORT_ATTEMPTS):
            try:
                self._start_on(servers.Ports.free())
                return
            except PortTakenError:
                self.stop()
                shutil.rmtree(self._layout.data, ignore_errors=True)  # etcd keeps the address of its member in it
        raise ControlPlaneError(
            f"other processes took the ports of the control plane {_PORT_ATTEMPTS} times in a row",
            hint="run it again",
            log=self._layout.log(APISERVER),
        )

    def _start_on(self, ports: servers.Ports) -> None:
        servers.write_kubeconfigs(self._layout, ports.server)
        commands = servers.commands(self._programs, self._layout, ports)

        def run(name: str) -> None:
            self._running[name] = servers.start(commands[name], self._layout.log(name))
            self._write_state(ports.server)

        run(ETCD)
        run(APISERVER)
        self._wait_until(lambda: servers.answers(self._layout, ports.server, "/readyz"), APISERVER)
        run(CONTROLLER_MANAGER)  # not earlier: it gives up when there is no API server to wait for
        self._wait_until(lambda: servers.answers(self._layout, ports.server, _DEFAULT_ACCOUNT), CONTROLLER_MANAGER)

    def _write_state(self, server: str) -> None:
        pids = {SUPERVISOR: os.getpid()} | {name: child.pid for name, child in self._running.items()}
        records = {name: record for name, pid in pids.items() if (record := ProcessRecord.of(pid))}
        State("binaries", server, processes=records).write(self._layout.state)

    def _wait_until(self, ready: Callable[[], bool], culprit: str) -> None:
        deadline = time.monotonic() + _READY_WITHIN_SECONDS
        while not ready():
            self._lifeline.pause(_POLL_SECONDS)
            if ended := self._ended_server():
                if servers.lost_a_port(self._layout.log(ended).read_text(errors="replace")):
                    raise PortTakenError
                raise self._failure(ended)
            if time.monotonic() > deadline:
                raise ControlPlaneError(
                    f"{culprit} was not ready after {_READY_WITHIN_SECONDS:.0f} s",
                    hint="see its log; on a machine that is very busy, try again",
                    log=self._layout.log(culprit),
                )

    def watch(self) -> None:
        """Stay until asked to stop (`StopRequestedError`); raises `ControlPlaneError` when a server ends."""
        while True:
            self._lifeline.pause(None)
            if ended := self._ended_server():
                raise self._failure(ended)

    def _ended_server(self) -> str | None:
        ended = (name for name, child in self._running.items() if child.poll() is not None)
        return next(ended, None)

    def _failure(self, name: str) -> ControlPlaneError:
        log = self._layout.log(name)
        happened = f"{name} ended with {self._running[name].returncode}"
        said = log.read_text(errors="replace").strip()
        if "no space left on device" in said:
            return ControlPlaneError(
                f"{happened}: no space left on device", hint="free some space and start it again", log=log
            )
        last_words = said.rpartition("\n")[2][-300:]
        return ControlPlaneError(f"{happened}: {last_words}", hint="start it again", log=log)

    def stop(self) -> None:
        """End the servers; returns when none runs. Their data go too, so nothing is gained by patience."""
        children = list(self._running.values())
        records = [ProcessRecord.of(child.pid) for child in children]
        terminate(filter(None, records), grace_seconds=0)
        for child in children:
            child.wait()
        self._running.clear()


def main(arguments: list[str]) -> int:
    """Run the supervisor; the exit status is 0 when it was asked to stop."""
    directory, *programs = map(Path, arguments)
    layout = Layout(directory)
    supervisor = Supervisor(layout, Binaries(*programs), Lifeline(sys.stdin.fileno()))
    ready = False
    try:
        with disk_errors_explained(directory):
            supervisor.start()
            ready = True
            _answer({"ready": True})
            supervisor.watch()
    except StopRequestedError:
        return 0
    except ControlPlaneError as error:
        print(error.one_line(), file=sys.stderr)
        if not ready:
            _answer({"error": error.message, "hint": error.hint, "log": str(error.log) if error.log else None})
        return 1
    finally:
        supervisor.stop()
        layout.clear()
    return 0


def _answer(message: dict[str, object]) -> None:
    with suppress(BrokenPipeError):  # the parent is gone: the lifeline says so next
        os.write(sys.stdout.fileno(), json.dumps(message).encode() + b"\n")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
