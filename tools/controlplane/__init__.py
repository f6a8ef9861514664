"""A real Kubernetes control plane (etcd, kube-apiserver, kube-controller-manager) on this machine.

For tests, benchmarks and ``make run``. It needs no container engine, no root and no network once its
programs are built::

    from controlplane import ControlPlane

    with ControlPlane.start() as cluster:
        kubectl("--kubeconfig", cluster.user("alice", groups=["release-managers"]), "get", "plans")

It has no kubelet and no scheduler: Jobs get Pods, but nothing runs them.
"""

from controlplane.cluster import ControlPlane, prepare
from controlplane.errors import ControlPlaneError
from controlplane.progress import Progress

__all__ = ["ControlPlane", "ControlPlaneError", "Progress", "prepare"]
