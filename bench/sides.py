"""What is measured: our operator and, where it is there, a prototype. The driver treats both alike."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from controlplane import ControlPlane
from localcluster.background import operator_of
from localcluster.install import install
from localcluster.kubectl import kubectl

NAMESPACE = "default"
REQUESTS = f"/apis/compozy.dev/v1alpha1/namespaces/{NAMESPACE}/humanrequests"
ANSWER = {"a": 1}
PLAN = "one-ask"

_OUR_PLAN = """
apiVersion: compozy.dev/v1alpha1
kind: Plan
metadata: { name: one-ask }
spec:
  graph:
    nodes:
      - id: question
        class: control
        kind: ask
        params:
          prompt: x
          expect: { type: object, properties: { a: { type: integer } } }
"""


@dataclass(frozen=True)
class Side:
    """One implementation: a run of one question, its operator, and how a finished run looks.

    Both name their questions `HumanRequest`, with the run's name in `spec.run`, and take the same answer.
    """

    name: str
    runs: str
    """Path of the runs' collection."""
    run: Mapping[str, Any]
    """A run, without its metadata."""
    finished: str
    """`status.phase` of a run that has ended well."""
    install: Callable[[ControlPlane], None]
    operator: Callable[[ControlPlane, Path], AbstractContextManager[int]]
    """An operator process while the block lasts, its output in a file; gives its process id."""

    def run_named(self, name: str) -> dict[str, Any]:
        """A run to create."""
        return {**self.run, "metadata": {"name": name}}


def until_served(cluster: ControlPlane, *resources: str) -> None:
    """Wait until new resources can be read: an established CRD may still answer 429, which kubectl retries."""
    kubectl(cluster.kubeconfig, "get", ",".join(resources), "-n", NAMESPACE)


@contextmanager
def _operator(cluster: ControlPlane, log: Path) -> Iterator[int]:
    with operator_of(cluster, log) as process:
        yield process.pid


def _install(cluster: ControlPlane) -> None:
    install(cluster)
    kubectl(cluster.kubeconfig, "apply", "-n", NAMESPACE, "-f", "-", stdin=_OUR_PLAN)
    until_served(cluster, "planruns.compozy.dev", "humanrequests.compozy.dev")


OURS = Side(
    name="compozy",
    runs=f"/apis/compozy.dev/v1alpha1/namespaces/{NAMESPACE}/planruns",
    run={"apiVersion": "compozy.dev/v1alpha1", "kind": "PlanRun", "spec": {"planRef": {"name": PLAN}}},
    finished="Succeeded",
    install=_install,
    operator=_operator,
)
