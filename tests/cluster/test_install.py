"""The README's way into a cluster of one's own, followed to the letter."""

import re
import subprocess
from pathlib import Path

import pytest

from controlplane import ControlPlane
from localcluster.kubectl import environment
from localcluster.operator import OperatorProcess

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(300)]

ROOT = Path(__file__).parents[2]
WAYS = re.findall(r"```sh\n(.*?)```", (ROOT / "README.md").read_text().partition("## Install it")[2], re.DOTALL)


def test_a_cluster_of_ones_own(tmp_path):
    _, as_administrator, to_check, *_ = WAYS
    (tmp_path / "crds").symlink_to(ROOT / "crds")
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    start, *check = to_check.strip().splitlines()
    assert start.startswith("KUBECONFIG=operator.kubeconfig compozy-operator")
    with ControlPlane.start(tmp_path / "cluster") as cluster:

        def follow(lines: str) -> str:
            done = subprocess.run(
                ["bash", "-euo", "pipefail", "-c", lines],
                env=environment(cluster.kubeconfig),
                cwd=tmp_path,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                check=False,
            )
            assert done.returncode == 0, done.stderr
            return done.stdout

        follow(as_administrator)
        with OperatorProcess(tmp_path / "operator.kubeconfig", tmp_path / "log"):
            assert follow(check[0]) == "plan/release created\n"
            assert "True" in follow(check[1]).splitlines()[1].split()
            follow(check[2])
