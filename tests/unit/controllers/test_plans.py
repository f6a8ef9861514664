"""Plans that a run calls are found although the watch has not told of them yet."""

import asyncio

import pytest

from compozy.controllers.api_client import ApiError
from compozy.controllers.cache import Cache, Key
from compozy.controllers.plans import Plans
from compozy.controllers.secrecy import Secrecy
from compozy.controllers.store import Store
from compozy.controllers.watchdog import Watchdog
from support import plans as texts

pytestmark = pytest.mark.unit
CALLED = """
steps:
  - id: E0
    tool_name: ask
    input: { prompt: "Go?", output_schema: { type: object, properties: { ok: { type: boolean } } } }
"""
CALLER = "steps: [{ id: E0, tool_name: plan__called, input: {} }]"


class Server:
    """The API server, as far as it is asked for plans. `asked` is what it was asked for."""

    def __init__(self, **plans):
        self.plans = plans
        self.asked = []

    async def get(self, path):
        self.asked.append(path)
        found = self.plans.get(path.rpartition("/")[2])
        if found is None:
            raise ApiError(404, "NotFound", "there is none")
        return found

    async def ensure(self, path, body):
        """Whatever is stored is stored."""


def plan_object(name, text):
    metadata = {"namespace": "n", "name": name, "uid": name, "resourceVersion": "1", "generation": 1}
    return {"kind": "Plan", "metadata": metadata, "spec": texts.spec(text)}


def plans_of(server):
    cache = Cache()
    return Plans(server, Store(server, cache, Watchdog(), Secrecy()), cache), cache


def test_a_plan_that_the_watch_has_not_told_of_can_be_run_by_another():
    server = Server(called=plan_object("called", CALLED))
    plans, cache = plans_of(server)
    assert asyncio.run(plans.faults_of_call("n", "called", {})) is None
    assert cache.get("Plan", Key("n", "called")) is not None
    assert asyncio.run(plans.faults_of_call("n", "called", {})) is None
    assert len(server.asked) == 1


def test_a_plan_that_steps_call_is_looked_for_before_the_run_begins():
    server = Server(called=plan_object("called", CALLED))
    plans, _ = plans_of(server)
    run = {"metadata": {"namespace": "n"}, "spec": {"plan": texts.spec(CALLER)}}
    plan, _, revision = asyncio.run(plans.of_run(run, None))
    assert revision is not None
    assert plan.nodes["E0"].spec.plan is not None


@pytest.mark.parametrize("name", ["missing", "..", "a/b", "A", "", "x" * 300])
def test_what_is_not_there_is_said_and_only_names_of_objects_are_asked_for(name):
    server = Server()
    plans, _ = plans_of(server)
    fault = asyncio.run(plans.faults_of_call("n", name, {}))
    assert fault == ("plan_unknown", f"there is no Plan {name} in namespace n")
    assert len(server.asked) == (1 if name == "missing" else 0)
