"""Answering: what is said about an answer is true, whatever happens on the way."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

from compozy.cli import answering
from compozy.cli.answering import TRIES, VERSIONED_TRIES, Answer, submit
from compozy.cli.errors import CliError
from compozy.cli.flags import Flags
from compozy.cli.gathering import check_answer
from compozy.cli.kube import watch
from compozy.cli.kube.client import Identity
from compozy.cli.kube.errors import ApiError, Cause, UnreachableError
from compozy.cli.kube.watch import Change
from compozy.cli.provenance import provenance
from compozy.cli.session import Session

pytestmark = pytest.mark.unit

Object = dict[str, Any]
YES = Answer("respond", {"channel": "beta"})


class Server:
    """One request and what surrounds it, kept as the API server keeps it: writes compare versions."""

    def __init__(self, **spec: Any) -> None:
        self.request: Object = {
            "metadata": {"name": "q", "namespace": "team", "uid": "u", "resourceVersion": "1"},
            "spec": {
                "run": "rel",
                "generation": 1,
                "node": "E0",
                "kind": "Ask",
                "prompt": "?",
                "expect": {
                    "type": "object",
                    "required": ["channel"],
                    "properties": {
                        "channel": {"enum": ["stable", "beta"]},
                        "who": {"type": "string", "x-compozy-kind": "agent"},
                    },
                },
                "decisions": ["respond", "decline"],
                **spec,
            },
        }
        self.objects: dict[tuple[str, str], Object] = {}
        self.entries: list[Object] = []
        self.before_write: list[Callable[[], None]] = []
        self.after_write: list[Callable[[], None]] = []
        self.writes = 0
        self.managers: list[str] = []

    def touch(self, **parts: Any) -> None:
        """Somebody else writes."""
        self.request |= parts
        self.request["metadata"] = {
            **self.request["metadata"],
            "resourceVersion": str(int(self.request["metadata"]["resourceVersion"]) + 1),
        }

    def get(self, resource: Any, _namespace: str | None, name: str) -> Object:
        if resource.kind == "HumanRequest":
            return copy.deepcopy(self.request)
        found = self.objects.get((resource.kind, name))
        if found is None:
            raise ApiError(404, "NotFound", f"no {name}")
        if "forbidden" in found:
            raise ApiError(403, "Forbidden", "not yours")
        return found

    def list(self, *_: Any, **__: Any) -> Any:
        return type("Listed", (), {"items": self.entries})

    def json_patch(
        self, _resource: Any, _namespace: str, _name: str, operations: Any, manager: str = ""
    ) -> Object:
        self.writes += 1
        if self.before_write:
            self.before_write.pop(0)()
        self.managers.append(manager)
        guard, change = operations
        known = self.request["metadata"][guard["path"].removeprefix("/metadata/")]
        if guard["value"] != known:
            raise ApiError(409, "Conflict", "the object has been modified")
        field, value = change["path"].removeprefix("/"), change["value"]
        if field == "approvals/-":
            field, value = "approvals", [*self.request["approvals"], value]
            needed = self.request["spec"]["responders"]["approvals"]
            if len(value) >= needed:
                text = "request_validation_failed: no more `approvals` are needed"
                raise ApiError(422, "Invalid", text, (Cause("FieldValueInvalid", text, "approvals"),))
        self.touch(**{field: value})
        written = copy.deepcopy(self.request)
        if self.after_write:
            self.after_write.pop(0)()
        return written


class FakeSession(Session):
    """A session of one user with the fake server."""

    def __init__(self, server: Server, user: str = "alice", *groups: str) -> None:
        super().__init__(Flags(), {})
        self.__dict__ |= {"client": server, "identity": Identity(user, groups)}

    namespace = "team"


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answering.time, "sleep", lambda _seconds: None)


def answer(server: Server, what: Answer = YES, user: str = "alice") -> Object:
    return submit(FakeSession(server, user), copy.deepcopy(server.request), what, wait=False)


def refused(server: Server, what: Answer = YES, user: str = "alice") -> CliError:
    with pytest.raises(CliError) as caught:
        answer(server, what, user)
    return caught.value


def recorded(by: str = "alice", **fields: Any) -> Object:
    return {"decision": "respond", "payload": {"channel": "beta"}, "responder": by, **fields}


def test_an_answer_is_written_on_the_version_that_was_read() -> None:
    server = Server()
    written = answer(server, Answer("respond", {"channel": "beta"}, "a note"))
    assert written["response"] == recorded(note="a note")
    assert server.writes == 1


def test_a_decision_without_a_payload_sends_none() -> None:
    server = Server()
    assert answer(server, Answer("decline", {"left": "out"}))["response"] == {
        "decision": "decline",
        "responder": "alice",
    }


def test_a_change_that_decides_nothing_is_read_again() -> None:
    server = Server()
    server.before_write = [server.touch, server.touch]
    assert answer(server)["response"]["responder"] == "alice"
    assert server.writes == 3


def test_endless_conflicts_end() -> None:
    def conflict() -> None:
        raise ApiError(409, "Conflict", "the object has been modified")

    server = Server()
    server.before_write = [conflict] * 100
    assert refused(server).code == "conflict"
    assert server.writes == TRIES


def test_an_answer_gets_through_although_the_request_never_rests() -> None:
    server = Server()
    server.before_write = [server.touch] * 100
    assert answer(server)["response"]["responder"] == "alice"


@pytest.mark.parametrize(
    ("meanwhile", "code"),
    [
        ({"response": recorded("bob")}, "request_already_answered"),
        ({"response": recorded("bob"), "status": {"state": "Answered"}}, "request_already_answered"),
        ({"status": {"state": "Expired"}}, "request_expired"),
        ({"status": {"state": "Canceled"}}, "request_canceled"),
    ],
)
def test_a_lost_race_hears_who_won(meanwhile: Object, code: str) -> None:
    server = Server()
    server.before_write = [lambda: server.touch(**meanwhile)]
    error = refused(server)
    assert error.code == code
    assert server.request.get("response", {}).get("responder") != "alice"
    if code == "request_already_answered":
        assert "by bob" in error.message
        assert error.details == {"recorded_decision": "respond"}


@pytest.mark.parametrize(
    ("by", "what", "same"),
    [
        ("alice", YES, True),
        ("alice", Answer("respond", {"channel": "beta"}, "another note"), True),
        ("alice", Answer("respond", {"channel": "stable"}), False),
        ("alice", Answer("decline"), False),
        ("bob", YES, False),
    ],
)
def test_only_the_same_answer_of_the_same_person_is_a_repetition(by: str, what: Answer, same: bool) -> None:
    server = Server()
    server.touch(response=recorded("alice"), status={"state": "Answered", "resolvedAt": "2026-01-01T00:00:00Z"})
    if same:
        assert answer(server, what, by)["response"] == recorded("alice")
    else:
        assert refused(server, what, by).code == "request_already_answered"
    assert server.writes == 0


@pytest.mark.parametrize("arrived", [True, False])
def test_a_lost_acknowledgement_is_looked_up(arrived: bool) -> None:
    server = Server()

    def lose() -> None:
        raise UnreachableError("cannot reach")

    (server.after_write if arrived else server.before_write).append(lose)
    if arrived:
        assert answer(server)["response"] == recorded("alice")
    else:
        with pytest.raises(UnreachableError):
            answer(server)
    assert server.writes == 1


def test_a_refusal_by_rule_is_decided_by_what_the_object_says() -> None:
    """A webhook or a rule may refuse before our copy shows why."""
    server = Server()

    def refuse() -> None:
        server.touch(response=recorded("bob"))
        cause = Cause("FieldValueForbidden", "Forbidden: request_already_answered", "response")
        raise ApiError(422, "Invalid", "response: Forbidden: request_already_answered", (cause,))

    server.before_write = [refuse]
    assert "by bob" in refused(server).message


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (ApiError(403, "Forbidden", 'User "alice" cannot patch'), "respond_not_permitted"),
        (ApiError(403, "Forbidden", "denied request: respond_self_denied: own run"), "respond_self_denied"),
        (ApiError(422, "Invalid", "request_validation_failed: no"), "request_validation_failed"),
        (ApiError(404, "NotFound", "gone"), "request_not_found"),
        (ApiError(503, "ServiceUnavailable", "later"), "unreachable"),
    ],
)
def test_other_refusals_end_it(error: ApiError, code: str) -> None:
    server = Server()

    def refuse() -> None:
        raise error

    server.before_write = [refuse]
    assert refused(server).code == code
    assert server.writes == 1


@pytest.mark.parametrize(
    ("payload", "code", "details"),
    [
        ({}, "request_validation_failed", ["channel"]),
        ({"channel": "x"}, "request_validation_failed", ["channel"]),
        (None, "request_validation_failed", ["payload"]),
        ({"channel": "beta", "who": "nobody"}, "input_validation", ["who"]),
        ({"channel": "beta", "who": "../x"}, "input_validation", ["who"]),
    ],
)
def test_what_does_not_fit_is_not_sent(payload: Any, code: str, details: list[str]) -> None:
    server = Server()
    error = refused(server, Answer("respond", payload))
    assert (error.code, list(error.details)) == (code, details)
    assert server.writes == 0
    if code == "input_validation":
        assert (error.extra["origin"], error.extra["field"]) == ("response", "who")


@pytest.mark.parametrize("found", [{}, {"forbidden": True}])
def test_an_entity_that_is_there_or_that_we_may_not_read(found: Object) -> None:
    """What we may not read is left to the operator."""
    server = Server()
    server.objects["Agent", "ann"] = found
    assert answer(server, Answer("respond", {"channel": "beta", "who": "ann"}))["response"]


def test_entries_of_the_catalog_go_by_kind_and_name() -> None:
    expect = {"type": "object", "properties": {"key": {"type": "string", "x-compozy-kind": "secret"}}}
    server = Server(expect=expect)
    server.entries = [
        {"metadata": {"name": "a"}, "spec": {"kind": "secret", "name": "vault/a"}},
        {"metadata": {"name": "b"}, "spec": {"kind": "skill"}},
        {"metadata": {"name": "c"}, "spec": {"kind": "secret"}},
    ]
    session = FakeSession(server)
    for name, there in (("vault/a", True), ("c", True), ("a", False), ("b", False)):
        response = {"decision": "respond", "responder": "alice", "payload": {"key": name}}
        if there:
            check_answer(session, server.request, response)
        else:
            with pytest.raises(CliError, match="key"):
                check_answer(session, server.request, response)


BOT = "system:serviceaccount:team:bot"


def run_object(starter: str | None, parent: str | None = None) -> Object:
    owner = [{"kind": "PlanRun", "apiVersion": "compozy.dev/v1alpha1", "name": parent}] if parent else []
    return {"metadata": {"ownerReferences": owner}, "spec": {"startedBy": starter}}


@pytest.mark.parametrize(
    ("agents", "runs", "code"),
    [
        ("deny", {"rel": run_object("ann")}, "respond_not_permitted"),
        ("allow", {"rel": run_object("ann")}, None),
        ("allow", {"rel": run_object(BOT)}, "respond_self_denied"),
        ("allow", {"rel": run_object("ann", "top"), "top": run_object(BOT)}, "respond_self_denied"),
        ("allow", {"rel": run_object("ann", "top"), "top": run_object("ann")}, None),
        ("allow", {"rel": run_object("ann", "gone")}, "respond_self_denied"),
        ("allow", {"rel": run_object(None)}, "respond_self_denied"),
        ("allow", {}, "respond_self_denied"),
        ("allow", {"rel": run_object("ann", "rel")}, "respond_self_denied"),
    ],
)
def test_an_agent_never_answers_its_own_run(agents: str, runs: dict[str, Object], code: str | None) -> None:
    server = Server(responders={"agents": agents})
    server.objects = {("PlanRun", name): run for name, run in runs.items()}
    if code is None:
        assert answer(server, YES, BOT)["response"]["responder"] == BOT
    else:
        assert refused(server, YES, BOT).code == code


@pytest.fixture
def changes(monkeypatch: pytest.MonkeyPatch) -> list[Change]:
    """What the watch after a write tells."""
    told: list[Change] = []
    monkeypatch.setattr(watch, "watch_object", lambda *_, **__: iter(told))
    return told


def waited(server: Server) -> Object:
    return submit(FakeSession(server), copy.deepcopy(server.request), YES)


def later(server: Server, deleted: bool = False, **parts: Any) -> Change:
    return Change(deleted, {**server.request, "response": recorded(), **parts})


def test_it_waits_until_the_operator_has_accepted(changes: list[Change]) -> None:
    server = Server()
    changes += [later(server), later(server, status={"state": "Answered", "resolvedAt": "t"})]
    after = waited(server)
    assert after["status"]["state"] == "Answered"
    assert provenance(after, "alice") == {"responder": "alice", "answeredAt": "t"}


def test_without_an_operator_the_answer_is_recorded_all_the_same(changes: list[Change]) -> None:
    assert changes == []
    assert waited(Server())["response"] == recorded()


@pytest.mark.parametrize(
    ("paused", "owner", "held_by"), [("rel", None, "rel"), ("parent", "parent", "parent"), ("", "parent", None)]
)
def test_nobody_waits_for_a_run_that_is_paused(
    monkeypatch: pytest.MonkeyPatch, paused: str, owner: str | None, held_by: str | None
) -> None:
    server, waits = Server(), []
    monkeypatch.setattr(watch, "watch_object", lambda *_, **__: iter(waits.append("watched") or ()))
    for name, starter in (("rel", owner), ("parent", None)):
        owners = [{"apiVersion": "compozy.dev/v1alpha1", "kind": "PlanRun", "name": starter}] if starter else []
        metadata = {"name": name, "ownerReferences": owners}
        server.objects["PlanRun", name] = {"metadata": metadata, "spec": {"paused": name == paused}}
    written = waited(server)
    assert written["response"] == recorded()
    assert waits == ([] if held_by else ["watched"])
    told = answering.still_open_because(FakeSession(server), written)
    assert (f"kubectl compozy resume {held_by} -n team" in told) is (held_by is not None)


@pytest.mark.parametrize("fault", [ApiError(500, "InternalError", "broken"), UnreachableError("gone")])
def test_an_answer_stands_though_the_run_cannot_be_read_after_it(
    monkeypatch: pytest.MonkeyPatch, changes: list[Change], fault: Exception
) -> None:
    server, asked_for = Server(), []
    read = server.get

    def breaks(resource: Any, namespace: str | None, name: str) -> Object:
        if resource.kind != "PlanRun" or "response" not in server.request:
            return read(resource, namespace, name)
        asked_for.append(name)
        raise fault

    monkeypatch.setattr(server, "get", breaks)
    written = waited(server)
    assert written["response"] == recorded()
    assert "has not taken it up" in answering.still_open_because(FakeSession(server), written)
    assert asked_for == ["rel", "rel"]


def rejection(by: str, code: str = "request_validation_failed", **fields: str) -> Object:
    return {"state": "Pending", "lastRejection": {"code": code, "by": by, "fields": fields, "at": "t"}}


@pytest.mark.parametrize(
    ("parts", "code", "exit_code"),
    [
        ({"response": None, "status": rejection("alice", channel="no")}, "request_validation_failed", 78),
        ({"response": None, "status": rejection("alice", "input_validation", who="no")}, "input_validation", 78),
        ({"response": None, "status": rejection("alice", "respond_self_denied")}, "respond_self_denied", 77),
        ({"response": recorded("bob"), "status": rejection("alice")}, "request_validation_failed", 78),
        ({"response": recorded("bob"), "status": rejection("eve")}, "request_already_answered", 65),
        ({"response": None, "status": {"state": "Expired"}}, "request_expired", 69),
        ({"response": None, "status": {"state": "Pending"}}, "conflict", 65),
        ({"deleted": True}, "request_canceled", 69),
    ],
)
def test_an_answer_that_was_handed_back_is_an_error(
    changes: list[Change], parts: Object, code: str, exit_code: int
) -> None:
    server = Server()
    changes.append(later(server, **parts))
    with pytest.raises(CliError) as caught:
        waited(server)
    assert (caught.value.code, caught.value.exit_code) == (code, exit_code)
    if code == "input_validation":
        assert (caught.value.extra, caught.value.details) == (
            {"origin": "response", "field": "who"},
            {"who": "no"},
        )


def test_when_it_was_written_is_known_before_it_is_accepted() -> None:
    managed = [
        {"fieldsV1": {"f:spec": {}}, "time": "early"},
        {"fieldsV1": {"f:response": {}}, "time": "then"},
    ]
    request = {"metadata": {"managedFields": managed}, "response": recorded()}
    assert provenance(request, "alice") == {"responder": "alice", "answeredAt": "then"}


APPROVE = Answer("approve", None, "fine")


def reviewed(approvals: int = 3, *people: str, **responders: Any) -> Server:
    policy = {**responders, "approvals": approvals}
    server = Server(kind="Review", decisions=["approve", "reject"], responders=policy)
    server.request["approvals"] = [{"responder": name} for name in people]
    return server


class TestSeveralMustApprove:
    def test_an_approval_is_added_until_the_last_decides(self) -> None:
        server = reviewed()
        for user in ("alice", "bob"):
            assert "response" not in answer(server, APPROVE, user)
        assert [entry["responder"] for entry in server.request["approvals"]] == ["alice", "bob"]
        assert server.request["approvals"][0] == {"responder": "alice", "note": "fine"}
        assert answer(server, APPROVE, "carol")["response"]["responder"] == "carol"
        assert len(set(server.managers)) == 3

    def test_a_repetition_changes_nothing(self) -> None:
        server = reviewed(3, "alice")
        assert len(answer(server, APPROVE)["approvals"]) == 1
        assert server.writes == 0

    def test_who_has_approved_hears_how_it_ended(self) -> None:
        server = reviewed(2, "alice")
        server.request |= {"response": {"decision": "approve", "responder": "bob"}}
        assert answer(server, APPROVE)["response"]["responder"] == "bob"
        server.request |= {"response": {"decision": "reject", "responder": "bob"}}
        assert refused(server, APPROVE).code == "request_already_answered"
        server.request |= {"response": None, "status": {"state": "Expired"}}
        assert refused(server, APPROVE).code == "request_expired"

    def test_they_may_change_their_mind(self) -> None:
        server = reviewed(3, "alice")
        assert answer(server, Answer("reject"))["response"] == {"decision": "reject", "responder": "alice"}

    def test_who_comes_between_makes_it_the_last(self) -> None:
        server = reviewed(2)
        server.before_write = [lambda: server.touch(approvals=[{"responder": "bob"}])]
        assert answer(server, APPROVE)["response"]["responder"] == "alice"

    def test_one_gets_through_although_the_request_never_rests(self) -> None:
        server = reviewed(3)
        server.before_write = [server.touch for _ in range(TRIES)]
        assert answer(server, APPROVE)["approvals"] == [{"responder": "alice", "note": "fine"}]

    def test_who_comes_between_makes_it_the_last_even_then(self) -> None:
        server = reviewed(2)
        server.before_write = [server.touch for _ in range(VERSIONED_TRIES)]
        server.before_write.append(lambda: server.touch(approvals=[{"responder": "bob"}]))
        assert answer(server, APPROVE)["response"]["responder"] == "alice"

    @pytest.mark.parametrize("arrived", [True, False])
    def test_a_lost_acknowledgement_is_looked_up(self, arrived: bool) -> None:
        server = reviewed()

        def lose() -> None:
            raise UnreachableError("cannot reach")

        (server.after_write if arrived else server.before_write).append(lose)
        if arrived:
            assert len(answer(server, APPROVE)["approvals"]) == 1
        else:
            with pytest.raises(UnreachableError):
                answer(server, APPROVE)

    def test_what_would_not_count_is_not_sent(self) -> None:
        server = reviewed(initiator="deny")
        server.objects["PlanRun", "rel"] = run_object("alice")
        assert refused(server, APPROVE).code == "respond_self_denied"
        assert server.writes == 0

    def test_what_only_the_webhook_knows_is_told_at_once(self) -> None:
        """It blames `approvals` as the API server does for one that came too late, and means another thing."""
        server = reviewed()

        def refuse() -> None:
            text = "somebody other than who started the run must answer"
            causes = [Cause("FieldValueInvalid", part, "approvals") for part in ("respond_self_denied", text)]
            raise ApiError(403, "Forbidden", f"denied the request: respond_self_denied: {text}", tuple(causes))

        server.before_write = [refuse]
        error = refused(server, APPROVE)
        assert (error.code, error.exit_code, server.writes) == ("respond_self_denied", 77, 1)

    def test_where_an_earlier_one_did_not_count_it_is_given_anew(self, changes: list[Change]) -> None:
        """The operator hands the decision back with what it rested on: it becomes an approval."""
        server = reviewed(2, "mallory")

        def hand_back() -> None:
            server.touch(response=None, approvals=[], status=rejection("alice", "approvals_missing"))
            changes.append(Change(False, copy.deepcopy(server.request)))

        server.after_write = [hand_back]
        written = submit(FakeSession(server), copy.deepcopy(server.request), APPROVE)
        assert written["approvals"] == [{"responder": "alice", "note": "fine"}]
        assert not written["response"]


def test_the_groups_that_let_somebody_answer_are_told_and_the_uid() -> None:
    identity = Identity("alice", ("ops", "leads", "system:authenticated"), "u-1")
    request = {"spec": {"responders": {"groups": ["leads", "others", "ops"], "users": ["alice"]}}}
    told = Answer("approve").as_response(identity, request)
    assert told == {"decision": "approve", "responder": "alice", "uid": "u-1", "groups": ["leads", "ops"]}
    assert "groups" not in Answer("approve").as_response(identity, {"spec": {"responders": {"users": ["alice"]}}})


def test_when_each_of_several_has_approved() -> None:
    managed = [
        {"fieldsV1": {"f:approvals": {".": {}, 'k:{"responder":"bob"}': {}}}, "time": "early"},
        {"fieldsV1": {"f:approvals": {'k:{"responder":"alice"}': {}}}, "time": "then"},
    ]
    request = {"metadata": {"managedFields": managed}, "approvals": []}
    assert provenance(request, "alice") == {"responder": "alice", "answeredAt": "then"}
    assert provenance(request, "carol") == {"responder": "carol", "answeredAt": None}
