"""The operator as a process beside the cluster."""

import contextlib
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

from controlplane.processes import killed_with_parent
from localcluster.kubectl import BIN, environment

START_SECONDS = 60.0
STOP_SECONDS = 15.0


class OperatorFailed(RuntimeError):
    """The operator did not start."""


class OperatorProcess:
    """One operator process; its output goes to a log file."""

    def __init__(self, kubeconfig: Path, log: Path, variables: Mapping[str, str] | None = None) -> None:
        self.kubeconfig = kubeconfig
        self.log = log
        self.variables = dict(variables or {})
        self.process: subprocess.Popen[bytes] | None = None
        self.url = ""

    @property
    def pid(self) -> int:
        """Process id of a started operator."""
        if self.process is None:
            raise OperatorFailed("the operator was not started")
        return self.process.pid

    def start(self, outlives_us: bool = False) -> "OperatorProcess":
        """Start it and wait until it watches; it dies with us unless told otherwise. Raises OperatorFailed."""
        offset = self.log.stat().st_size if self.log.exists() else 0
        with self.log.open("ab") as output:
            self.process = subprocess.Popen(
                [str(BIN / "compozy-operator")],
                env=environment(self.kubeconfig, self.variables),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
                preexec_fn=None if outlives_us else killed_with_parent(),
            )
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline:
            if self.process.poll() is not None:
                raise OperatorFailed(f"the operator ended at once; its log is {self.log}")
            self.url = self.url or self._url_in_log(offset)
            if self.url and self._is_healthy():
                return self
            time.sleep(0.05)
        self.kill()
        raise OperatorFailed(f"the operator was not ready in {START_SECONDS:.0f} s; its log is {self.log}")

    def _url_in_log(self, offset: int) -> str:
        with self.log.open(encoding="utf-8") as lines:
            lines.seek(offset)
            for line in lines:
                if "healthz and metrics at " in line and line.endswith("\n"):
                    return line.split("healthz and metrics at ")[1].strip()
        return ""

    def _is_healthy(self) -> bool:
        with contextlib.suppress(URLError, OSError), urlopen(f"{self.url}/healthz", timeout=2) as answer:
            return bool(answer.status == 200)
        return False

    def metrics(self) -> str:
        """The Prometheus metrics as text."""
        with urlopen(f"{self.url}/metrics", timeout=5) as answer:
            return str(answer.read().decode())

    def kill(self) -> None:
        """SIGKILL: as when a node dies."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()
        self.process, self.url = None, ""

    def stop(self) -> None:
        """SIGTERM, and SIGKILL where that does not end it."""
        if self.process is None:
            return
        self.process.terminate()
        try:
            self.process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.kill()
        self.process, self.url = None, ""

    def __enter__(self) -> "OperatorProcess":
        return self.start()

    def __exit__(self, *exc_info: object) -> None:
        self.stop()
