"""What the figures were measured on."""

import json
import os
import platform
from importlib.metadata import version
from pathlib import Path
from typing import Any

from localcluster.kubectl import kubectl

PACKAGES = ("compozy", "kopf", "aiohttp", "pydantic", "kubernetes")


def machine(kubeconfig: Path) -> dict[str, Any]:
    """Cores, memory, load and versions; nothing that names the machine or its owner."""
    served = json.loads(kubectl(kubeconfig, "version", "-o", "json").stdout)
    return {
        "cores": os.cpu_count(),
        "memory_gib": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1),
        "load_before": os.getloadavg()[0],
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "kube_apiserver": served["serverVersion"]["gitVersion"],
        "kubectl": served["clientVersion"]["gitVersion"],
        "packages": {name: version(name) for name in PACKAGES},
    }
