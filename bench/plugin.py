"""How quickly the plugin starts: `kubectl compozy --help`, and a whole `kubectl compozy respond`.

What answering costs is compared with the least that it can: `kubectl patch` of the same answer, in turn with it;
both once more on the way to an API server that is not on the same machine.
"""

import asyncio
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from bench.calls import Call, timed
from bench.connection import connect
from bench.distance import distant
from bench.driver import clear, driving
from bench.sides import ANSWER, NAMESPACE, OURS
from bench.usage import until_quiet
from controlplane import ControlPlane

SAMPLES = 10
ROUND_TRIP = 0.02
"""Seconds to a distant API server and back: another city."""
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
    sent_far: list[Call] = field(default_factory=list)
    """As `respond_sent`, a `ROUND_TRIP` away."""
    patch_far: list[Call] = field(default_factory=list)
    """As `patch`, likewise."""


async def startup(cluster: ControlPlane, directory: Path) -> Startup:
    """Measure the plugin against the local API server, with the operator at work. Raises BenchFailed."""
    names = [f"plugin-{number}" for number in range(5 * (SAMPLES + 1))]
    measured = Startup()
    async with connect(cluster.kubeconfig) as connection:
        with OURS.operator(cluster, directory / "plugin.log") as operator:
            async with driving(OURS, connection) as driver:
                await driver.park(names)
                await until_quiet(operator)
                questions = iter([driver.request_of[name] for name in names])
                async with distant(cluster.kubeconfig, ROUND_TRIP, directory) as far:
                    for number in range(SAMPLES + 1):
                        for kind, kubeconfig, arguments in _calls(measured, cluster.kubeconfig, far, questions):
                            call = await asyncio.to_thread(timed, kubeconfig, "kubectl", *arguments)
                            if number:  # the first of each warms the page cache up
                                kind.append(call)
        await clear(OURS, connection)
    return measured


def _calls(
    measured: Startup, near: Path, far: Path, questions: Iterator[str]
) -> list[tuple[list[Call], Path, list[str]]]:
    """One call of each kind: where it is counted, how the API server is reached, its arguments."""
    return [
        (measured.help, near, _help()),
        (measured.respond, near, _respond(next(questions))),
        (measured.respond_sent, near, _sent(next(questions))),
        (measured.patch, near, _patch(next(questions))),
        (measured.sent_far, far, _sent(next(questions))),
        (measured.patch_far, far, _patch(next(questions))),
    ]


def _help() -> list[str]:
    return ["compozy", "--help"]


def _respond(question: str) -> list[str]:
    return ["compozy", "respond", question, "--payload", json.dumps(ANSWER), "-n", NAMESPACE]


def _sent(question: str) -> list[str]:
    return [*_respond(question), "--no-wait"]


def _patch(question: str) -> list[str]:
    patch = json.dumps({"response": _RESPONSE})
    return ["patch", "humanrequests.compozy.dev", question, "--type=merge", "-p", patch, "-n", NAMESPACE]
