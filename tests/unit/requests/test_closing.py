"""What a request tells its run, and whether the run has taken it."""

import pytest

from compozy.engine.events import RequestAnswered, RequestCanceled, RequestUnanswered
from compozy.requests.closing import event_of, status_in, was_taken
from compozy.requests.state import final_state_of, is_open

pytestmark = pytest.mark.unit


def request(state=None, node="E0", **response):
    item = {"spec": {"node": node}}
    if state is not None:
        item["status"] = {"state": state}
    if response:
        item["response"] = response
    return item


@pytest.mark.parametrize(
    ("item", "event"),
    [
        (request(), None),
        (request("Pending", decision="respond", payload=1), None),
        (request("Answered", decision="respond", payload=1), RequestAnswered("E0", "respond", 1)),
        (request("Answered", payload=1), RequestAnswered("E0", "respond", 1)),
        (request("Declined", decision="decline"), RequestUnanswered("E0", "declined")),
        (request("Declined", decision="unavailable"), RequestUnanswered("E0", "unavailable")),
        (request("Expired"), RequestUnanswered("E0", "expired")),
        (request("Canceled"), RequestCanceled("E0")),
    ],
)
def test_what_a_state_stands_for(item, event):
    assert event_of(item, "E0") == event


def test_a_request_without_a_status_is_open():
    assert is_open(request())
    assert not is_open(request("Pending", decision="decline"))
    assert not is_open(request("Expired"))


def test_the_state_that_a_decision_leads_to():
    assert {decision: final_state_of(decision) for decision in ("respond", "decline", "unavailable")} == {
        "respond": "Answered",
        "decline": "Declined",
        "unavailable": "Declined",
    }


def test_in_a_fan_out_the_item_says_whether_an_answer_was_taken():
    nodes = {"choose": {"items": {"3": {"status": "Succeeded"}, "4": {"status": "Waiting"}}}}
    taken = [was_taken({"spec": {"node": "choose", "item": item}}, status_in(nodes)) for item in (3, 4, 5)]
    assert taken == [True, False, False]


@pytest.mark.parametrize(
    ("node", "nodes", "taken"),
    [
        ("E0", {"E0": {"status": "Succeeded"}}, True),
        ("E0", {"E0": {"status": "Canceled"}}, False),
        ("E0", {}, False),
        ("E0/do.2/B0", {"E0": {"status": "Succeeded"}}, True),
        ("E0/do.2/B0", {"E0": {"status": "Running"}, "E0/do.2": {"status": "Succeeded"}}, True),
        ("E0/do.2/B0", {"E0": {"status": "Running"}}, False),
        ("E0/do.2/B0", {"E0": {"status": "Canceled"}}, False),
    ],
)
def test_the_nearest_step_says_whether_an_answer_was_taken(node, nodes, taken):
    assert was_taken(request(node=node), status_in(nodes)) is taken
