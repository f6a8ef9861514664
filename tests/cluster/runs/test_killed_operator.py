"""Kill the operator at every write of a run in turn: nothing is lost, doubled or stuck."""

import contextlib
import json
import os
import signal
import threading

import pytest
import yaml

from localcluster.background import operator_of
from localcluster.operator import OperatorProcess
from support import plans
from support.apiserver import plan as plan_object
from support.interrupting_proxy import InterruptingProxy
from support.stage import eventually

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(900)]
MOST_WRITES = 20
MOST_WRITES_OF_A_GRAPH = 40
QUICK = """
graph: { nodes: [{ id: v, class: action, kind: transform, params: { map: { x: { value: [1, 2] } } } }] }
output: "{{ .nodes.v.output }}"
"""
GRAPH = """
graph:
  nodes:
    - { id: find, class: action, kind: run-loop, params: { loop: quick } }
    - id: each
      class: control
      kind: fan-out
      collection: "{{ .nodes.find.output.x }}"
      max_fan_out: 9
      max_parallel: 1
    - { id: say, class: control, kind: ask, params: { prompt: "{{ .item }}?", expect: { w: string } } }
    - { id: joined, class: control, kind: collect }
    - id: ship
      class: action
      kind: transform
      params: { map: { said: { from: nodes.say.items } } }
      review: {}
  edges:
    - { from: find, to: each }
    - { from: each, to: say }
    - { from: say, to: joined }
    - { from: joined, to: ship }
"""
LARGE = "w" * 20_000


@pytest.fixture(scope="module")
def proxy(operated, shared_operator):
    # The suite's own operator would finish what the killed one left: it rests meanwhile.
    shared_operator.stop()
    with InterruptingProxy(operated.cluster.server, operated.cluster.ca_file.read_text()) as proxy:
        yield proxy


@pytest.fixture(scope="module")
def through_proxy(operated, proxy, tmp_path_factory):
    """An operator, not started, that reaches the API server through the proxy."""
    directory = tmp_path_factory.mktemp("killed")
    direct = operator_of(operated.cluster, directory / "operator.log")
    config = yaml.safe_load(direct.kubeconfig.read_text())
    config["clusters"][0]["cluster"] = {"server": proxy.url}
    path = directory / "kubeconfig"
    path.write_text(json.dumps(config))
    return OperatorProcess(path, direct.log, direct.variables)


def steps_by_reference(stage):
    stage.author.create("plans", plan_object("release", **plans.spec(plans.STEPS))).object()
    return stage.start(None, plans.STEPS_INPUTS, planRef={"name": "release"})


def graph_inline(stage):
    return stage.start(plans.GRAPH, plans.GRAPH_INPUTS)


CASES = {
    "steps plan by reference, answered": (
        steps_by_reference,
        lambda stage, request: stage.answer(request, plans.STEPS_ANSWER),
    ),
    "graph plan inline, declined": (graph_inline, lambda stage, request: stage.decline(request)),
}


@pytest.mark.parametrize("moment", ["before", "after"])
@pytest.mark.parametrize("case", CASES)
def test_killed_at_every_write(case, moment, make_namespace, proxy, through_proxy):
    start, respond = CASES[case]
    expected = None
    for number in range(1, MOST_WRITES):
        proxy.arm(number, moment, lambda: os.kill(through_proxy.pid, signal.SIGKILL))
        with through_proxy, restarting(through_proxy, proxy):
            result = life(make_namespace(), start, respond)
            killed, writes = proxy.killed.is_set(), list(proxy.writes)
            proxy.disarm()
        expected = expected or result
        assert result == expected, f"killed {moment} {writes[-1]}"
        if not killed:
            # The life ended before this many writes: every one has been interrupted in turn.
            assert number > 4, writes
            return
    pytest.fail(f"more than {MOST_WRITES} writes for one run: {writes}")


def test_a_graph_is_killed_at_every_write(make_namespace, proxy, through_proxy):
    """Lanes, a run that it starts, a large output and a review; killed before and after writes by turns."""
    expected = None
    for number in range(1, MOST_WRITES_OF_A_GRAPH):
        proxy.arm(number, "before" if number % 2 else "after", lambda: os.kill(through_proxy.pid, signal.SIGKILL))
        with through_proxy, restarting(through_proxy, proxy):
            result = life_of_a_graph(make_namespace())
            killed, writes = proxy.killed.is_set(), list(proxy.writes)
            proxy.disarm()
        expected = expected or result
        assert result == expected, f"killed at {writes[-1]}"
        if not killed:
            assert number > 8, writes
            return
    pytest.fail(f"more than {MOST_WRITES_OF_A_GRAPH} writes for one run: {writes}")


def life_of_a_graph(stage):
    """One whole life of a graph; what it ended as."""
    stage.author.create("plans", plan_object("quick", **plans.spec(QUICK))).object()
    run = stage.start(GRAPH)
    for item in (0, 1):
        request = stage.question(run, "say")
        assert request["spec"]["item"] == item
        assert stage.answer(request, {"w": LARGE if item else "small"}).ok
        eventually(lambda request=request: stage.question_is_over(request), "the answer is taken")
    review = stage.question(run, "ship")
    decision = {"decision": "approve", "responder": stage.person.name}
    assert stage.person.patch("humanrequests", review["metadata"]["name"], {"response": decision}).ok
    status = stage.finished(run)
    assert [stage.resolved(item) for item in stage.requests(run)] == ["Answered"] * 3
    runs = stage.admin.call("GET", stage.admin.path("planruns")).object()["items"]
    assert len(runs) == 2, "one run was started"
    nodes = {
        name: (node.get("status"), {index: item["status"] for index, item in node.get("items", {}).items()})
        for name, node in status["nodes"].items()
    }
    kept = (
        status["nodes"]["ship"]["outputRef"]["bytes"],
        status["nodes"]["say"]["items"]["1"]["outputRef"]["bytes"],
    )
    return status["phase"], nodes, kept, status["stepsExecuted"]


def life(stage, start, respond):
    """One whole life of a run; what it ended as."""
    run = start(stage)
    eventually(lambda: stage.status(run).get("pendingRequests") == 1, "the run shows that it waits")
    request = stage.question(run)
    assert respond(stage, request).ok
    status = stage.finished(run)
    state = stage.resolved(request)
    assert [item["metadata"]["uid"] for item in stage.requests(run)] == [request["metadata"]["uid"]]
    nodes = {name: (node["status"], node.get("output")) for name, node in status["nodes"].items()}
    return status["phase"], nodes, status.get("exit"), status.get("output"), status["stepsExecuted"], state


@contextlib.contextmanager
def restarting(operator, proxy):
    """Start the operator again once it was killed, as its Deployment would."""
    over = threading.Event()

    def watch():
        while not over.is_set():
            if proxy.killed.wait(0.05):
                operator.kill()
                operator.start()
                over.wait()  # a process dies with the thread that started it

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
