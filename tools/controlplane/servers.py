"""The three server processes: their command lines, files, and when they count as ready."""

from __future__ import annotations

import contextlib
import http.client
import os
import re
import socket
import ssl
import subprocess
from dataclasses import dataclass
from pathlib import Path

from controlplane import kubeconfigs
from controlplane.binaries import Binaries
from controlplane.credentials import (
    LOOPBACK,
    KeyPair,
    issue_client,
    issue_server,
    new_authority,
    write_signing_key,
)
from controlplane.processes import killed_with_parent
from controlplane.state import APISERVER, CONTROLLER_MANAGER, ETCD, Layout

_SERVICE_NETWORK = "10.96.0.0/16"
_SERVICE_HOSTS = ("10.96.0.1", "kubernetes", "kubernetes.default", "kubernetes.default.svc")
_ADMIN_GROUP = "system:masters"


@dataclass(frozen=True)
class Ports:
    """Three loopback ports."""

    etcd: int
    etcd_peer: int
    apiserver: int

    @classmethod
    def free(cls) -> Ports:
        """Three that are free now; another process may take one before we do: see `lost_a_port`."""
        sockets = [socket.socket() for _ in range(3)]
        try:
            for taken in sockets:
                taken.bind((LOOPBACK, 0))
            return cls(*(taken.getsockname()[1] for taken in sockets))
        finally:
            for taken in sockets:
                taken.close()

    @property
    def server(self) -> str:
        """The URL of the API server."""
        return f"https://{LOOPBACK}:{self.apiserver}"


def write_credentials(layout: Layout) -> None:
    """Make all certificates and keys of this run."""
    authority, store_authority = new_authority("compozy-control-plane"), new_authority("compozy-etcd")
    authority.write(layout.pki / "ca")
    store_authority.write(layout.pki / "etcd-ca")
    issue_server(authority, APISERVER, [LOOPBACK, "localhost", *_SERVICE_HOSTS]).write(layout.pki / "apiserver")
    issue_server(store_authority, ETCD, [LOOPBACK]).write(layout.pki / "etcd")
    issue_client(store_authority, APISERVER).write(layout.pki / "etcd-client")
    issue_client(authority, "admin", [_ADMIN_GROUP]).write(layout.pki / "admin")
    issue_client(authority, "system:kube-controller-manager", [_ADMIN_GROUP]).write(
        layout.pki / "controller-manager"
    )
    write_signing_key(layout.pki / "service-accounts")


def write_kubeconfigs(layout: Layout, server: str) -> None:
    """Write the administrator's kubeconfig and the controller manager's."""
    authority = KeyPair.read(layout.pki / "ca").certificate
    for name, path in (("admin", layout.kubeconfig), ("controller-manager", _manager_kubeconfig(layout))):
        pair = KeyPair.read(layout.pki / name)
        kubeconfigs.write(path, kubeconfigs.with_certificate(server, authority, name, pair))


def _manager_kubeconfig(layout: Layout) -> Path:
    return layout.pki / "controller-manager.kubeconfig"


def etcd_command(program: Path, layout: Layout, ports: Ports) -> list[str]:
    """etcd with one member, on loopback, for clients with a certificate of its own authority."""
    clients, peers = f"https://{LOOPBACK}:{ports.etcd}", f"https://{LOOPBACK}:{ports.etcd_peer}"
    files = [
        flag
        for prefix in ("", "peer-")
        for flag in (
            f"--{prefix}client-cert-auth",
            f"--{prefix}trusted-ca-file={layout.pki / 'etcd-ca.crt'}",
            f"--{prefix}cert-file={layout.pki / 'etcd.crt'}",
            f"--{prefix}key-file={layout.pki / 'etcd.key'}",
        )
    ]
    return [
        str(program),
        f"--data-dir={layout.data}",
        f"--listen-client-urls={clients}",
        f"--advertise-client-urls={clients}",
        f"--listen-peer-urls={peers}",
        f"--initial-advertise-peer-urls={peers}",
        f"--initial-cluster=default={peers}",
        "--log-level=warn",
        "--unsafe-no-fsync",  # the data need not survive a power cut
        *files,
    ]


def apiserver_command(program: Path, layout: Layout, ports: Ports) -> list[str]:
    """kube-apiserver with client certificates, ServiceAccount tokens and RBAC."""
    pki = layout.pki
    return [
        str(program),
        f"--etcd-servers=https://{LOOPBACK}:{ports.etcd}",
        f"--etcd-cafile={pki / 'etcd-ca.crt'}",
        f"--etcd-certfile={pki / 'etcd-client.crt'}",
        f"--etcd-keyfile={pki / 'etcd-client.key'}",
        f"--bind-address={LOOPBACK}",
        f"--advertise-address={LOOPBACK}",  # else it needs a default route
        f"--secure-port={ports.apiserver}",
        f"--cert-dir={pki}",
        f"--tls-cert-file={pki / 'apiserver.crt'}",
        f"--tls-private-key-file={pki / 'apiserver.key'}",
        f"--client-ca-file={pki / 'ca.crt'}",
        "--authorization-mode=Node,RBAC",
        "--service-account-issuer=https://kubernetes.default.svc.cluster.local",
        f"--service-account-key-file={pki / 'service-accounts.pub'}",
        f"--service-account-signing-key-file={pki / 'service-accounts.key'}",
        f"--service-cluster-ip-range={_SERVICE_NETWORK}",
        # A loopback address is not allowed in Endpoints, and nothing here could route to the Service.
        "--endpoint-reconciler-type=none",
        "--allow-privileged",
    ]


def controller_manager_command(program: Path, layout: Layout) -> list[str]:
    """kube-controller-manager alone (no leader election), without a port, quicker than its defaults."""
    return [
        str(program),
        f"--kubeconfig={_manager_kubeconfig(layout)}",
        "--leader-elect=false",
        "--secure-port=0",
        f"--flex-volume-plugin-dir={layout.pki / 'flexvolume'}",  # else it makes one under /usr
        f"--root-ca-file={layout.pki / 'ca.crt'}",
        f"--service-account-private-key-file={layout.pki / 'service-accounts.key'}",
        "--kube-api-qps=200",
        "--kube-api-burst=400",
    ]


def commands(programs: Binaries, layout: Layout, ports: Ports) -> dict[str, list[str]]:
    """The three command lines by process name, in the order to start them."""
    return {
        ETCD: etcd_command(programs.etcd, layout, ports),
        APISERVER: apiserver_command(programs.apiserver, layout, ports),
        CONTROLLER_MANAGER: controller_manager_command(programs.controller_manager, layout),
    }


def start(command: list[str], log: Path) -> subprocess.Popen[bytes]:
    """Start a server that dies with this process, its output in ``log``."""
    with log.open("wb") as output:
        return subprocess.Popen(
            command,
            cwd=log.parent,
            # A proxy of the shell must not stand between the servers and their webhooks on loopback.
            env={name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            preexec_fn=killed_with_parent(),
        )


def lost_a_port(log: str) -> bool:
    """Whether a server ended because another process was quicker to take its port."""
    return bool(re.search(r"bind: address already in use", log))


def answers(layout: Layout, server: str, path: str) -> bool:
    """Whether the API server answers 200 to the administrator's GET of ``path``."""
    try:
        context = ssl.create_default_context(cafile=str(layout.pki / "ca.crt"))
        context.load_cert_chain(layout.pki / "admin.crt", layout.pki / "admin.key")
        connection = http.client.HTTPSConnection(server.removeprefix("https://"), timeout=5, context=context)
        with contextlib.closing(connection):
            connection.request("GET", path)
            return connection.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False
