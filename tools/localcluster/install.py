"""Install the CRDs, policies and roles in a cluster."""

from pathlib import Path

from localcluster.kubectl import kubectl

ROOT = Path(__file__).parents[2]
OPERATOR_NAMESPACE = "compozy-system"
OPERATOR_ACCOUNT = "compozy-operator"
CRDS = ("plans", "planruns", "humanrequests", "agents", "catalogentries")


def install(kubeconfig: Path) -> None:
    """Apply everything in `crds/` and wait until the API server serves it."""
    kubectl(kubeconfig, "apply", "--server-side", "--force-conflicts", "-f", str(ROOT / "crds"))
    names = [f"crd/{plural}.compozy.dev" for plural in CRDS]
    kubectl(kubeconfig, "wait", "--for=condition=Established", "--timeout=60s", *names)
