"""The supervisor as its parent sees it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from controlplane.binaries import Binaries
from controlplane.errors import ControlPlaneError
from controlplane.lifeline import DETACH
from controlplane.state import SUPERVISOR, Layout

_STOPPED_WITHIN_SECONDS = 15.0
_PACKAGE_ROOT = Path(__file__).resolve().parents[1]


class Supervised:
    """A running supervisor, tied to this process until `detach`."""

    def __init__(self, layout: Layout, programs: Binaries) -> None:
        self._log = layout.log(SUPERVISOR)
        paths = (layout.directory, programs.etcd, programs.apiserver, programs.controller_manager)
        search = os.pathsep.join(filter(None, (str(_PACKAGE_ROOT), os.environ.get("PYTHONPATH"))))
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "controlplane.supervisor", *(str(path.resolve()) for path in paths)],
                env={**os.environ, "PYTHONPATH": search},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                # Ctrl-C in the terminal is for the parent, which then stops the servers in order.
                start_new_session=True,
            )

    def wait_until_ready(self) -> None:
        """Wait for its one line of answer; raises `ControlPlaneError` when it could not start the servers."""
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise ControlPlaneError(
                "the supervisor of the control plane ended unexpectedly", hint="see its log", log=self._log
            )
        answer = json.loads(line)
        if "error" in answer:
            log = Path(answer["log"]) if answer["log"] else None
            raise ControlPlaneError(answer["error"], hint=answer["hint"], log=log)

    def detach(self) -> None:
        """Let it outlive this process."""
        assert self._process.stdin is not None
        self._process.stdin.write(DETACH)
        self._close_pipes()

    def stop(self) -> None:
        """Ask it to stop its servers and itself, and wait until it did."""
        if self._process.poll() is None:
            self._process.terminate()
        self._close_pipes()
        try:
            self._process.wait(_STOPPED_WITHIN_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()  # the kernel ends its servers with it
            self._process.wait()

    def _close_pipes(self) -> None:
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()
