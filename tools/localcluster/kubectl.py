"""kubectl and the plugin, called as a person would call them."""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

BIN = Path(sys.executable).parent


def environment(kubeconfig: Path, extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """The environment in which kubectl finds the cluster and the plugin."""
    path = f"{BIN}{os.pathsep}{os.environ.get('PATH', '')}"
    return {**os.environ, "PATH": path, "KUBECONFIG": str(kubeconfig), **(extra or {})}


def kubectl(
    kubeconfig: Path, *arguments: str, stdin: str | None = None, check: bool = True
) -> subprocess.CompletedProcess[str]:
    """Run kubectl. Raises CalledProcessError where it fails, unless `check` is false."""
    result = subprocess.run(
        [str(BIN / "kubectl"), *arguments],
        env=environment(kubeconfig),
        input=stdin,
        stdin=subprocess.DEVNULL if stdin is None else None,
        capture_output=True,
        text=True,
        check=False,
    )
    if check and result.returncode:
        raise subprocess.CalledProcessError(result.returncode, result.args, result.stdout, result.stderr)
    return result
