"""`make cluster-up` and `make cluster-down`: control plane and operator in the background."""

import json
from dataclasses import asdict
from pathlib import Path

from controlplane import ControlPlane, Progress, background
from controlplane.processes import ProcessRecord, terminate
from localcluster.install import OPERATOR_ACCOUNT, OPERATOR_NAMESPACE, install
from localcluster.operator import STOP_SECONDS, OperatorFailed, OperatorProcess
from localcluster.webhook import variables as webhook_variables

TOKEN_SECONDS = 7 * 24 * 3600


def operator_of(cluster: ControlPlane, log: Path, **variables: str) -> OperatorProcess:
    """An operator, not yet started, that acts as the ServiceAccount we ship, with its rights and no more.

    It serves the webhook where the API server was told of one on this machine.
    """
    kubeconfig = cluster.service_account(OPERATOR_NAMESPACE, OPERATOR_ACCOUNT, lifetime_seconds=TOKEN_SECONDS)
    webhook = webhook_variables(cluster.kubeconfig)
    return OperatorProcess(kubeconfig, log, {"COMPOZY_NAMESPACE": OPERATOR_NAMESPACE, **webhook, **variables})


def up(directory: Path, progress: Progress) -> ControlPlane:
    """Start both, or find them. Raises ControlPlaneError or OperatorFailed."""
    cluster = background.up(directory, progress)
    with progress.step("installing CRDs, policies and roles"):
        install(cluster)
    record, server = _record(directory)
    if record is not None and record.is_running():
        if server == cluster.server:
            progress.note(f"the operator is already up (its log: {directory / 'operator.log'})")
            return cluster
        with progress.step("stopping the operator of an earlier control plane"):
            terminate([record], grace_seconds=STOP_SECONDS)
    with progress.step("starting the operator"):
        operator = operator_of(cluster, directory / "operator.log").start(outlives_us=True)
    started = ProcessRecord.of(operator.pid)
    if started is None:
        raise OperatorFailed(f"the operator ended at once; its log is {operator.log}")
    _record_path(directory).write_text(json.dumps({**asdict(started), "server": cluster.server}))
    return cluster


def down(directory: Path, progress: Progress) -> None:
    """Stop both. Idempotent."""
    record, _ = _record(directory)
    if record is not None:
        with progress.step("stopping the operator"):
            terminate([record], grace_seconds=STOP_SECONDS)
        _record_path(directory).unlink(missing_ok=True)
    background.down(directory, progress)


def _record_path(directory: Path) -> Path:
    return directory / "operator.json"


def _record(directory: Path) -> tuple[ProcessRecord | None, str]:
    """The operator that was started here, and the API server it was started for."""
    path = _record_path(directory)
    if not path.exists():
        return None, ""
    data = json.loads(path.read_text())
    server = data.pop("server", "")
    return ProcessRecord(**data), server
