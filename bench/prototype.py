"""The prototype as a side of the benchmark: its manifests and its operator, run by kopf.

Its operator has the server's address and a token built in. It runs here from a copy in which these two
constants are replaced: the control plane's address, and the token of a ServiceAccount, since our operator too
is a ServiceAccount (the API server then authenticates, authorizes and queues both alike). Nothing else of it
is changed. `--quiet` spares it kopf's log line for each event, as our operator's settings do.
"""

import subprocess
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path

import yaml

from bench.errors import BenchFailed
from bench.sides import NAMESPACE, Side, until_served
from controlplane import ControlPlane
from controlplane.processes import killed_with_parent
from localcluster.kubectl import BIN, environment, kubectl

BUILT_IN_SERVER = "https://127.0.0.1:6443"
BUILT_IN_TOKEN = "admin-token"
ACCOUNT = "prototype"
_STOP_SECONDS = 15.0


def prototype_in(folder: Path) -> Side | None:
    """The prototype of a folder; None where there is none."""
    if not (folder / "operator.py").exists():
        return None
    return Side(
        name="prototype",
        runs=f"/apis/bench.dev/v1/namespaces/{NAMESPACE}/things",
        run={"apiVersion": "bench.dev/v1", "kind": "Thing", "spec": {"i": 0}},
        finished="Done",
        install=partial(_install, folder),
        operator=partial(_operator, folder),
    )


def _install(folder: Path, cluster: ControlPlane) -> None:
    files = [argument for path in sorted(folder.glob("*.yaml")) for argument in ("-f", str(path))]
    kubectl(cluster.kubeconfig, "apply", *files)
    crds = ("things.bench.dev", "humanrequests.compozy.dev")
    names = [f"crd/{name}" for name in crds]
    kubectl(cluster.kubeconfig, "wait", "--for=condition=Established", "--timeout=60s", *names)
    until_served(cluster, *crds)
    kubectl(cluster.kubeconfig, "create", "serviceaccount", ACCOUNT, "-n", NAMESPACE)
    subject = f"--serviceaccount={NAMESPACE}:{ACCOUNT}"
    kubectl(cluster.kubeconfig, "create", "clusterrolebinding", ACCOUNT, "--clusterrole=cluster-admin", subject)


def _patched(source: str, server: str, token: str) -> str:
    for constant in (BUILT_IN_SERVER, BUILT_IN_TOKEN):
        if constant not in source:
            raise BenchFailed(f"the prototype's operator.py does not hold {constant!r}, which is to be replaced")
    return source.replace(BUILT_IN_SERVER, server).replace(BUILT_IN_TOKEN, token)


def _operator(folder: Path, cluster: ControlPlane, log: Path) -> AbstractContextManager[int]:
    kubeconfig = cluster.service_account(NAMESPACE, ACCOUNT)
    token = yaml.safe_load(kubeconfig.read_text())["users"][0]["user"]["token"]
    copy = log.parent / "prototype.py"
    copy.touch(mode=0o600)  # it holds the token
    copy.write_text(_patched((folder / "operator.py").read_text(), cluster.server, token))
    return _process(kubeconfig, copy, log)


@contextmanager
def _process(kubeconfig: Path, operator: Path, log: Path) -> Iterator[int]:
    with log.open("ab") as output:
        process = subprocess.Popen(
            [str(BIN / "kopf"), "run", "--quiet", "--standalone", "--all-namespaces", str(operator)],
            env={name: value for name, value in environment(kubeconfig).items() if name != "BW"},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
            preexec_fn=killed_with_parent(),
        )
    try:
        yield process.pid
    finally:
        process.terminate()
        try:
            process.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
