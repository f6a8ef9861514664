"""One transaction wins among many answers, expiry and cancellation, and the others hear which."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from support.apiserver import APPLY, JSON_PATCH, MERGE, Answer, User

pytestmark = pytest.mark.cluster

ALREADY_ANSWERED = "Forbidden: request_already_answered"
Door = Callable[[User, str, Any], Answer]


def by_merge(user: User, name: str, response: Any) -> Answer:
    return user.patch("humanrequests", name, {"response": response}, MERGE)


def by_json_patch(user: User, name: str, response: Any) -> Answer:
    patch = [{"op": "add", "path": "/response", "value": response}]
    return user.patch("humanrequests", name, patch, JSON_PATCH)


def by_apply(user: User, name: str, response: Any) -> Answer:
    manifest = {
        "apiVersion": "compozy.dev/v1alpha1",
        "kind": "HumanRequest",
        "metadata": {"name": name},
        "response": response,
    }
    return user.patch("humanrequests", name, manifest, APPLY, fieldManager=user.name, force="true")


def by_replace(user: User, name: str, response: Any) -> Answer:
    """Read and replace, again when somebody else was quicker."""
    while True:
        found = user.get("humanrequests", name)
        answer = user.replace("humanrequests", found | {"response": response})
        if answer.status != 409:
            return answer


DOORS = [by_merge, by_json_patch, by_apply, by_replace]


def causes(answer: Answer) -> list[str]:
    return [cause["message"] for cause in answer.body["details"]["causes"]]


@pytest.mark.parametrize(
    "doors", [*([door] for door in DOORS), DOORS], ids=[*(door.__name__ for door in DOORS), "all_doors"]
)
def test_of_fifty_answers_one_is_admitted(workspace: Any, doors: list[Door]) -> None:
    users = [workspace.person(f"person-{number}") for number in range(10)]
    name = workspace.open()

    def answer(number: int) -> Answer:
        user, door = users[number % len(users)], doors[number % len(doors)]
        return door(user, name, {"responder": user.name, "payload": {"number": number}})

    with ThreadPoolExecutor(50) as pool:
        answers = list(pool.map(answer, range(50)))
    winners = [number for number, one in enumerate(answers) if one.ok]
    assert len(winners) == 1
    stored = workspace.alice.get("humanrequests", name)["response"]
    assert stored["payload"] == {"number": winners[0]}
    assert stored["responder"] == users[winners[0] % len(users)].name
    losers = [one for one in answers if not one.ok]
    assert [(one.status, causes(one)) for one in losers] == [(422, [ALREADY_ANSWERED])] * 49


@pytest.mark.parametrize("state", ["Expired", "Canceled"])
@pytest.mark.parametrize("attempt", range(10))
def test_an_answer_and_the_end_of_a_request_agree_on_one_outcome(workspace: Any, state: str, attempt: int) -> None:
    name = workspace.open()
    closing = {"status": {"state": state}}
    with ThreadPoolExecutor(4) as pool:
        closed = pool.submit(workspace.operator.patch, "humanrequests", name, closing, subresource="status")
        answers = [
            pool.submit(by_merge, user, name, {"responder": user.name})
            for user in (workspace.alice, workspace.bob, workspace.person("carol"))
        ]
    admitted = [one.result() for one in answers if one.result().ok]
    refused = [one.result() for one in answers if not one.result().ok]
    found = workspace.alice.get("humanrequests", name)
    if closed.result().ok:
        assert (admitted, found["status"]["state"], "response" in found) == ([], state, False)
        codes = {f"Forbidden: request_{state.lower()}"}
    else:
        assert causes(closed.result()) == [ALREADY_ANSWERED]
        assert (len(admitted), found["status"]["state"]) == (1, "Pending")
        codes = {ALREADY_ANSWERED}
    assert {text for one in refused for text in causes(one)} == codes


@pytest.mark.parametrize("state", ["Expired", "Canceled"])
@pytest.mark.parametrize("attempt", range(10))
def test_the_last_approval_and_the_end_of_a_request_agree_on_one_outcome(
    workspace: Any, state: str, attempt: int
) -> None:
    """Who comes late with an approval that would not decide hears the same."""
    policy = {"kind": "Review", "decisions": ["approve", "reject"], "responders": {"approvals": 2}}
    name, given = workspace.open(**policy), [{"responder": "alice"}]
    workspace.alice.patch("humanrequests", name, {"approvals": given}).object()
    closing = {"status": {"state": state}}
    with ThreadPoolExecutor(3) as pool:
        closed = pool.submit(workspace.operator.patch, "humanrequests", name, closing, subresource="status")
        decided = [
            pool.submit(by_merge, user, name, {"responder": user.name, "decision": "approve"})
            for user in (workspace.bob, workspace.person("carol"))
        ]
    admitted = [one.result() for one in decided if one.result().ok]
    codes = {text for one in decided if not one.result().ok for text in causes(one.result())}
    found = workspace.alice.get("humanrequests", name)
    assert found["approvals"] == given
    if closed.result().ok:
        assert (admitted, found["status"]["state"], "response" in found) == ([], state, False)
        assert codes == {f"Forbidden: request_{state.lower()}"}
        more = {"approvals": [*given, {"responder": "bob"}]}
        assert causes(workspace.bob.patch("humanrequests", name, more)) == [f"Forbidden: request_{state.lower()}"]
    else:
        assert causes(closed.result()) == [ALREADY_ANSWERED]
        assert (len(admitted), found["status"]["state"], codes) == (1, "Pending", {ALREADY_ANSWERED})


def test_handing_back_never_takes_another_answer(workspace: Any) -> None:
    name = workspace.open()
    seen = by_merge(workspace.alice, name, {"responder": "alice", "payload": 1}).object()
    back = {"metadata": {"resourceVersion": seen["metadata"]["resourceVersion"]}, "response": None}
    workspace.operator.patch("humanrequests", name, back).object()
    by_merge(workspace.bob, name, {"responder": "bob", "payload": 2}).object()
    assert workspace.operator.patch("humanrequests", name, back).status == 409
    assert workspace.bob.get("humanrequests", name)["response"]["payload"] == 2
