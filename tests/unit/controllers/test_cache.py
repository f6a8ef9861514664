"""The cache takes what is newer, forgets what is gone, and mistakes no object for another of its name."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compozy.controllers.cache import Cache, Key, key_of, owner_uid
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


@st.composite
def changes(draw):
    """What becomes of a few objects with names in common: runs, and questions with owners and without."""
    kind = draw(st.sampled_from(["HumanRequest", "HumanRequest", "PlanRun"]))
    name, owner = draw(st.sampled_from("ab")), draw(st.sampled_from(["u1", "u2", None]))
    metadata = {"namespace": "n", "name": name, "uid": draw(st.sampled_from("xy")), "resourceVersion": "1"}
    metadata["creationTimestamp"] = f"2026-01-0{draw(st.integers(1, 3))}T00:00:00Z"
    metadata["ownerReferences"] = [] if owner is None else [{"uid": owner, "controller": True}]
    item = {"kind": kind, "metadata": metadata, "spec": {"run": draw(st.sampled_from("ab"))}}
    state = draw(st.sampled_from([None, "Pending", "Answered", "Canceled"]))
    return draw(st.sampled_from(["put", "put", "drop"])), item | ({"status": {"state": state}} if state else {})


@given(st.lists(changes(), max_size=12))
def test_what_it_finds_by_an_owner_is_what_a_look_at_everything_finds(drawn):
    cache = Cache()
    for version, (change, item) in enumerate(drawn):
        item["metadata"]["resourceVersion"] = str(version)
        getattr(cache, change)(item)
    questions = sorted(cache.all("HumanRequest"), key=key_of)
    pending = [item for item in questions if item.get("status", {}).get("state", "Pending") == "Pending"]
    for uid in ("u1", "u2"):
        owner = {"metadata": {"uid": uid}}
        assert cache.requests_of(owner) == [item for item in questions if owner_uid(item) == uid]
        assert cache.unresolved_of(owner) == [item for item in pending if owner_uid(item) == uid]
        runs = sorted(cache.all("PlanRun"), key=key_of)
        assert cache.children_of(owner) == [item for item in runs if owner_uid(item) == uid]
    for name in "ab":
        run = cache.get("PlanRun", Key("n", name))
        by_age = sorted(pending, key=lambda item: (item["metadata"]["creationTimestamp"], key_of(item)))
        assert cache.left_behind(Key("n", name)) == [
            item
            for item in by_age
            if item["spec"]["run"] == name and owner_uid(item) is None
            if run is None or item["metadata"]["creationTimestamp"] < run["metadata"]["creationTimestamp"]
        ]


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
