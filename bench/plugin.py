"""How quickly the plugin starts: `kubectl compozy --help`, and a whole `kubectl compozy respond`.

What answering costs is compared with the least that it can: `kubectl patch` of the same answer, in turn with it.
"""

import asyncio
import json
from dataclasses import dataclass, field
from pathlib import Path

from bench.calls import Call, timed
from bench.connection import connect
from bench.driver import clear, driving
from bench.sides import ANSWER, NAMESPACE, OURS
from bench.usage import until_quiet
from controlplane import ControlPlane

SAMPLES = 10
_RESPONSE = {"decision": "respond", "responder": "admin", "payload": ANSWER}


@dataclass(slots=True)
class Startup:
    """The calls, in their order; each kind as often as the others."""

    help: list[Call] = field(default_factory=list)
    respond: list[Call] = field(default_factory=list)
    """Until the operator has accepted the answer."""
    respond_sent: list[Call] = field(default_factory=list)
    """Until the API server has: `--no-wait`."""
    patch: list[Call] = field(default_factory=list)
    """A bare `kubectl patch`, which checks nothing and waits for nobody."""


async def startup(cluster: ControlPlane, directory: Path) -> Startup:
    """Measure the plugin against the local API server, with the operator at work. Raises BenchFailed."""
    names = [f"plugin-{number}" for number in range(3 * (SAMPLES + 1))]
    measured = Startup()
    async with connect(cluster.kubeconfig) as connection:
        with OURS.operator(cluster, directory / "plugin.log") as operator:
            async with driving(OURS, connection) as driver:
                await driver.park(names)
                await until_quiet(operator)
                questions = iter([driver.request_of[name] for name in names])
                for number in range(SAMPLES + 1):
                    calls = [_help(), _respond(next(questions)), _sent(next(questions)), _patch(next(questions))]
                    done = [await asyncio.to_thread(timed, cluster.kubeconfig, "kubectl", *one) for one in calls]
                    if number:  # the first of each warms the page cache up
                        kinds = (measured.help, measured.respond, measured.respond_sent, measured.patch)
                        for kind, call in zip(kinds, done, strict=True):
                            kind.append(call)
        await clear(OURS, connection)
    return measured


def _help() -> list[str]:
    return ["compozy", "--help"]


def _respond(question: str) -> list[str]:
    return ["compozy", "respond", question, "--payload", json.dumps(ANSWER), "-n", NAMESPACE]


def _sent(question: str) -> list[str]:
    return [*_respond(question), "--no-wait"]


def _patch(question: str) -> list[str]:
    patch = json.dumps({"response": _RESPONSE})
    return ["patch", "humanrequests.compozy.dev", question, "--type=merge", "-p", patch, "-n", NAMESPACE]
