"""Who has started a run: known through the whole line of its parents, or said not to be."""

import pytest

from compozy.controllers.cache import Cache
from compozy.controllers.lineage import descendants, starters

pytestmark = pytest.mark.unit
OPERATOR = "system:serviceaccount:compozy-system:compozy-operator"


def run(name, by, parent=None):
    owner = {
        "apiVersion": "compozy.dev/v1alpha1",
        "kind": "PlanRun",
        "name": parent,
        "uid": parent,
        "controller": True,
    }
    metadata = {"namespace": "n", "name": name, "uid": name, "resourceVersion": "1"}
    references = {"ownerReferences": [owner]} if parent else {}
    return {"kind": "PlanRun", "metadata": {**metadata, **references}, "spec": {"startedBy": by}}


def started(child, *others):
    cache = Cache(operator=OPERATOR)
    for item in (child, *others):
        cache.put(item)
    return starters(cache, child)


def test_the_line_ends_with_who_began():
    assert started(run("child", OPERATOR, "parent"), run("parent", "alice")) == [OPERATOR, "alice"]


def test_a_parent_that_is_gone_leaves_in_doubt_who_began():
    assert started(run("child", OPERATOR, "parent")) == [OPERATOR, None]


def test_so_does_one_whose_child_was_left_an_orphan():
    """Who deletes the parent alone has its name taken from the child by the garbage collector."""
    assert started(run("child", OPERATOR)) == [OPERATOR, None]


def test_all_below_a_run_are_its_descendants():
    cache = Cache(operator=OPERATOR)
    for item in (run("a", "alice"), run("b", OPERATOR, "a"), run("c", OPERATOR, "a"), run("d", OPERATOR, "b")):
        cache.put(item)
    assert [item["metadata"]["name"] for item in descendants(cache, run("a", "alice"))] == ["b", "c", "d"]


def test_runs_that_somebody_made_own_each_other_are_found_once():
    cache, first = Cache(operator=OPERATOR), run("a", "alice", "b")
    for item in (first, run("b", "alice", "a")):
        cache.put(item)
    assert [item["metadata"]["name"] for item in descendants(cache, first)] == ["b", "a"]
