"""Install the CRDs, policies, roles and the webhook in a cluster."""

from pathlib import Path

import yaml

from compozy.api.webhook import webhook_manifests
from controlplane import ControlPlane
from localcluster.kubectl import kubectl
from localcluster.webhook import installed_url, new_url

ROOT = Path(__file__).parents[2]
OPERATOR_NAMESPACE = "compozy-system"
OPERATOR_ACCOUNT = "compozy-operator"
CRDS = ("plans", "planruns", "humanrequests", "agents", "catalogentries")
WEBHOOK = "webhook.yaml"

_APPLY = ("apply", "--server-side", "--force-conflicts")


def install(cluster: ControlPlane) -> None:
    """Apply everything in `crds/` and wait until the API server serves it.

    The operator runs on this machine, so its webhook is installed where the API server does too.
    """
    kubeconfig = cluster.kubeconfig
    files = [path for path in sorted((ROOT / "crds").glob("*.yaml")) if path.name != WEBHOOK]
    kubectl(kubeconfig, *_APPLY, *(f"--filename={path}" for path in files))
    names = [f"crd/{plural}.compozy.dev" for plural in CRDS]
    kubectl(kubeconfig, "wait", "--for=condition=Established", "--timeout=60s", *names)
    if cluster.owns_servers:
        manifests = webhook_manifests(installed_url(kubeconfig) or new_url())
        kubectl(kubeconfig, *_APPLY, "-f", "-", stdin=yaml.safe_dump_all(manifests))
