"""The cache takes what is newer, forgets what is gone, and mistakes no object for another of its name."""

import pytest

from compozy.controllers.cache import Cache, Key
from compozy.controllers.watchdog import STALE_SECONDS, Watchdog

pytestmark = pytest.mark.unit


def run(version, uid="u1"):
    return {
        "kind": "PlanRun",
        "metadata": {"namespace": "n", "name": "r", "uid": uid, "resourceVersion": str(version)},
    }


def request(owner, name="q", version=1):
    reference = {"kind": "PlanRun", "name": "r", "uid": owner, "controller": True}
    metadata = {"namespace": "n", "name": name, "uid": f"{name}-{owner}", "resourceVersion": str(version)}
    return {"kind": "HumanRequest", "metadata": {**metadata, "ownerReferences": [reference]}, "spec": {"run": "r"}}


def test_what_is_older_is_not_taken():
    cache = Cache()
    assert cache.put(run(10))
    assert not cache.put(run(9))
    assert cache.get("PlanRun", Key("n", "r"))["metadata"]["resourceVersion"] == "10"
    assert cache.put(run(100))


def test_another_object_of_the_same_name_is_taken_whatever_its_version():
    cache = Cache()
    cache.put(run(10))
    assert cache.put(run(3, uid="u2"))


def test_the_deletion_of_an_earlier_object_does_not_drop_a_later_one():
    cache = Cache()
    cache.put(run(10, uid="u2"))
    cache.drop(run(4, uid="u1"))
    assert cache.get("PlanRun", Key("n", "r")) is not None
    cache.drop(run(10, uid="u2"))
    assert cache.get("PlanRun", Key("n", "r")) is None


def test_a_run_has_the_requests_that_it_owns_and_no_others():
    cache = Cache()
    cache.put(request("u1"))
    cache.put(request("u2", name="p"))
    assert [item["metadata"]["name"] for item in cache.requests_of(run(1, uid="u1"))] == ["q"]
    cache.drop(request("u1"))
    assert cache.requests_of(run(1, uid="u1")) == []


def test_a_watch_that_does_not_bring_back_what_was_written_is_noticed():
    now = [0.0]
    watchdog = Watchdog(lambda: now[0])
    watchdog.wrote(run(10))
    now[0] = STALE_SECONDS - 1
    assert watchdog.is_alive
    now[0] = STALE_SECONDS + 1
    assert not watchdog.is_alive
    watchdog.seen(run(9))
    assert not watchdog.is_alive
    watchdog.seen(run(12))
    assert watchdog.is_alive
