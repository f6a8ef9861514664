"""`make run`: both example plans on a real API server, from nothing to their results."""

import json
import shlex
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from controlplane import ControlPlane, Progress
from localcluster.background import operator_of
from localcluster.install import ROOT, install
from localcluster.kubectl import BIN, environment, kubectl

RELEASE = ("run", "-f", "examples/release.yaml", "--input", "version=1.4.0")
DEPLOY = ("run", "-f", "examples/deploy.yaml", "--input", "release=v1.4.0")
ANSWERS = {
    "channel": {"channel": "beta", "confirm": True},
    "choose": {"environment": "staging", "assignment": {"reviewer": "release-reviewer"}},
}
OPEN_SECONDS = 30.0
ERROR_GATE = 4
"""Exit code of a run that its plan ended with an error: here because somebody answered `n`."""


class DemoFailed(RuntimeError):
    """A command of the demonstration did not do what it should."""


def demo(progress: Progress) -> None:
    """Start a cluster of its own, run both plans, print their results, and leave nothing behind."""
    with tempfile.TemporaryDirectory(prefix="compozy-run-") as name:
        directory = Path(name)
        with ControlPlane.start(directory / "cluster", progress) as cluster:
            with progress.step("installing CRDs, policies and roles"):
                install(cluster)
            with progress.step("starting the operator"):
                operator = operator_of(cluster, directory / "operator.log").start()
            with operator:
                kubectl(cluster.kubeconfig, "apply", "-f", str(ROOT / "examples/agents.yaml"))
                _tour(cluster.kubeconfig)


def _tour(kubeconfig: Path) -> None:
    if sys.stdin.isatty() and sys.stderr.isatty():
        for arguments in (RELEASE, DEPLOY):
            _show(kubeconfig, *arguments)
    else:
        print("\n# Nobody is at this terminal, so an attached run is unattended: every ask is `unavailable`.")
        _show(kubeconfig, *RELEASE, "-o", "json")
        _show(kubeconfig, *DEPLOY, "-o", "json")
        print("\n# A detached run waits for a person, wherever that person is.")
        for arguments in (RELEASE, DEPLOY):
            _answered_from_elsewhere(kubeconfig, *arguments)
    _show(kubeconfig, "runs")
    print("\nBoth plans have finished.")


def _answered_from_elsewhere(kubeconfig: Path, *arguments: str) -> None:
    run = json.loads(_show(kubeconfig, *arguments, "--detach", "-o", "json"))["run"]
    request = _open_request(kubeconfig, run)
    _show(kubeconfig, "requests")
    payload = json.dumps(ANSWERS[request["node"]])
    _show(kubeconfig, "respond", request["name"], "--payload", payload)
    kubectl(kubeconfig, "wait", "--for=condition=Succeeded", f"planrun/{run}", "--timeout=30s")
    _show(kubeconfig, "describe", run)


def _open_request(kubeconfig: Path, run: str) -> dict[str, str]:
    deadline = time.monotonic() + OPEN_SECONDS
    selector = f"--field-selector=spec.run={run},status.state=Pending"
    while time.monotonic() < deadline:
        found = json.loads(kubectl(kubeconfig, "get", "hreq", selector, "-o", "json").stdout)["items"]
        if found:
            return {"name": found[0]["metadata"]["name"], "node": found[0]["spec"]["node"]}
        time.sleep(0.1)
    raise DemoFailed(f"the run {run} did not ask within {OPEN_SECONDS:.0f} s")


def _show(kubeconfig: Path, *arguments: str) -> str:
    """Print a command as one would type it, run it, and print what it prints."""
    print(f"\n$ kubectl compozy {shlex.join(arguments)}", flush=True)
    result = subprocess.run(
        [str(BIN / "kubectl"), "compozy", *arguments],
        env=environment(kubeconfig),
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    print(result.stdout, end="", flush=True)
    if result.returncode not in (0, ERROR_GATE):
        raise DemoFailed(f"`kubectl compozy {arguments[0]}` ended with {result.returncode}")
    return result.stdout
