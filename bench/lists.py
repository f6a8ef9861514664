"""How quickly the first page of a very long list comes, and how much memory the plugin needs for it."""

import asyncio
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.calls import Call, timed
from bench.connection import connect
from bench.driver import by_connections
from compozy.api.identity import OPERATOR_USER
from controlplane import ControlPlane

QUESTIONS = 10_000
CONTEXT_BYTES = 16_000
SAMPLES = 7
NAMESPACE = "bench-lists"
_PATH = f"/apis/compozy.dev/v1alpha1/namespaces/{NAMESPACE}/humanrequests"
_LIST = ("compozy", "requests", "-n", NAMESPACE)


@dataclass(slots=True)
class FirstPages:
    """Calls of `requests`, each with its first page of 50."""

    table: list[Call] = field(default_factory=list)
    json: list[Call] = field(default_factory=list)
    of_run: list[Call] = field(default_factory=list)
    """The questions of one run among 500, as JSON: with the number of all that are pending."""


async def first_pages(cluster: ControlPlane) -> FirstPages:
    """Measure lists of many questions; the operator is not needed. Raises BenchFailed."""
    namespace = {"metadata": {"name": NAMESPACE}}
    async with connect(cluster.kubeconfig) as connection:
        await connection.call("POST", "/api/v1/namespaces", namespace)
    async with connect(cluster.user(OPERATOR_USER)) as connection:

        async def ask(name: str) -> None:
            await connection.call("POST", _PATH, _question(int(name)))

        await by_connections(ask, [str(number) for number in range(QUESTIONS)])
    return await asyncio.to_thread(_measure, cluster.kubeconfig)


def _measure(kubeconfig: Path) -> FirstPages:
    found = FirstPages()
    for number in range(SAMPLES + 1):
        done = [
            timed(kubeconfig, "kubectl", *_LIST),
            timed(kubeconfig, "kubectl", *_LIST, "-o", "json"),
            timed(kubeconfig, "kubectl", *_LIST, "-o", "json", "--run", "run-7"),
        ]
        if number:  # the first of each warms caches up
            for kind, call in zip((found.table, found.json, found.of_run), done, strict=True):
                kind.append(call)
    return found


def _question(number: int) -> dict[str, Any]:
    spec = {
        "run": f"run-{number % 500}",
        "generation": 1,
        "node": "ask",
        "item": number // 500,
        "kind": "Ask",
        "prompt": f"Should service {number} be deployed?",
        "context": {"log": "x" * CONTEXT_BYTES},
        "expect": {"type": "object", "properties": {"a": {"type": "integer"}}},
        "decisions": ["respond", "decline"],
    }
    if number % 3:
        spec["expiresAt"] = f"2099-01-{1 + number * 7 % 28:02}T00:00:00Z"
    metadata = {"name": f"question-{number:05}"}
    return {"apiVersion": "compozy.dev/v1alpha1", "kind": "HumanRequest", "metadata": metadata, "spec": spec}
