"""The webhook over HTTPS: what it takes, what it refuses, and that nothing makes it fail."""

import asyncio
import json
import ssl
import threading
from concurrent.futures import ThreadPoolExecutor, as_completed
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from compozy.controllers.cache import Cache
from compozy.controllers.webhook import server
from compozy.controllers.webhook.certificates import FromDirectory
from compozy.controllers.webhook.issuing import make_issue
from compozy.controllers.webhook.reviewer import MOST_OF_ONE
from compozy.controllers.webhook.server import MAX_BODY
from compozy.controllers.webhook.tls import Tls
from support.answer_strategies import ANYTHING
from support.apiserver import request
from support.webhook import review_of, review_of_approval, review_of_write, running, told_to_the_plugin

pytestmark = pytest.mark.unit

NAMESPACE = "here"
BOT = "system:serviceaccount:here:bot"
SCHEMA = {
    "type": "object",
    "required": ["environment"],
    "properties": {
        "environment": {"enum": ["staging"]},
        "reviewer": {"type": "string", "x-compozy-kind": "agent"},
        "others": {"type": "array", "items": {"type": "string", "x-compozy-kind": "agent"}},
    },
}


@pytest.fixture(scope="module")
def webhook():
    cache = Cache()
    for name, starter in (("of-erin", "erin"), ("of-bot", BOT), ("of-nobody", None)):
        metadata = {"name": name, "namespace": NAMESPACE, "uid": name, "resourceVersion": "1"}
        cache.put({"kind": "PlanRun", "metadata": metadata, "spec": {"startedBy": starter}})
    with running(cache) as webhook:
        yield webhook


def question(**spec):
    found = request("q", **{"run": "of-erin", "expect": SCHEMA, **spec})
    found["metadata"]["namespace"] = NAMESPACE
    return {**found, "status": {"state": "Pending"}}


def response(payload=None, decision="respond", **more):
    return {"decision": decision, "responder": "alice", "payload": payload, **more}


def test_an_answer_that_fits_goes_through(webhook):
    reply = webhook.review(question(), response({"environment": "staging"}), "alice")
    assert reply == {"uid": "705ab4f5-6393-11e8-b7cc-42010a800002", "allowed": True}


def test_every_fault_is_a_cause_with_its_path_and_the_message_begins_with_the_code(webhook):
    reply = webhook.review(question(), response({"environment": "moon", "others": "all"}), "alice")
    status = reply["status"]
    assert (reply["allowed"], status["code"], status["reason"]) == (False, 422, "Invalid")
    assert status["message"].startswith("request_validation_failed: ")
    assert status["details"]["causes"] == [
        {"reason": "FieldValueInvalid", "field": "response", "message": "request_validation_failed"},
        {
            "reason": "FieldValueInvalid",
            "field": "response.payload.environment",
            "message": 'must be one of "staging"',
        },
        {"reason": "FieldValueInvalid", "field": "response.payload.others", "message": "must be a list"},
    ]


@pytest.mark.parametrize(
    ("asked", "given", "who", "code", "exit_code", "details"),
    [
        (
            question(),
            response({"environment": "staging", "others": ["x", "y"]}),
            "alice",
            "input_validation",
            78,
            {"others.0": "there is no agent 'x' here", "others.1": "there is no agent 'y' here"},
        ),
        (question(), response(decision="approve"), "alice", "request_validation_failed", 78, {"decision"}),
        (question(), response(["no object"]), "alice", "request_validation_failed", 78, {"payload"}),
        (question(), response({}), BOT, "respond_not_permitted", 77, {}),
        (question(responders={"agents": "allow"}, run="of-bot"), response({}), BOT, "respond_self_denied", 77, {}),
        (
            question(responders={"agents": "allow"}, run="of-nobody"),
            response({}),
            BOT,
            "respond_self_denied",
            77,
            {},
        ),
        (question(responders={"initiator": "deny"}), response({}), "erin", "respond_self_denied", 77, {}),
        (question(responders={"groups": ["keepers"]}), response({}), "alice", "respond_not_permitted", 77, {}),
        ({**question(), "status": {"state": "Expired"}}, response({}), "alice", "request_expired", 69, {}),
    ],
    ids=str,
)
def test_the_plugin_makes_the_same_error_of_it(webhook, asked, given, who, code, exit_code, details):
    error = told_to_the_plugin(webhook.review(asked, given, who, "team"))
    assert (error.code, error.exit_code, error.details.keys()) == (code, exit_code, {*details})
    if isinstance(details, dict):
        assert error.details == details
    if code == "input_validation":
        assert error.extra == {"origin": "response", "field": "others.0", "reason": "unknown_reference"}


def several(run="of-erin", **responders):
    """A question that several people must approve."""
    policy = {"approvals": 3, **responders}
    asked = question(run=run, kind="Review", decisions=["approve", "reject"], responders=policy)
    return {**asked, "approvals": []}


def test_an_approval_that_counts_goes_through(webhook):
    asked = {**several(initiator="deny"), "approvals": [{"responder": "bob"}]}
    assert webhook.reply(review_of_approval(asked, "alice"))["allowed"]


@pytest.mark.parametrize(
    ("asked", "who", "code"),
    [
        (several(initiator="deny"), "erin", "respond_self_denied"),
        (several(), BOT, "respond_not_permitted"),
        (several(run="of-bot", agents="allow"), BOT, "respond_self_denied"),
        (several(users=["bob"]), "alice", "respond_not_permitted"),
        (several(groups=["keepers"]), "alice", "respond_not_permitted"),
    ],
    ids=str,
)
def test_an_approval_that_does_not_count_is_refused_with_its_code(webhook, asked, who, code):
    reply = webhook.reply(review_of_approval(asked, who, "team"))
    status = reply["status"]
    assert (reply["allowed"], status["code"], status["reason"]) == (False, 403, "Forbidden")
    first, second = status["details"]["causes"]
    assert first == {"reason": "FieldValueInvalid", "field": "approvals", "message": code}
    assert (second["field"], f"{code}: {second['message']}") == ("approvals", status["message"])
    error = told_to_the_plugin(reply)
    assert (error.code, error.exit_code) == (code, 77)


def test_what_takes_an_approval_away_is_let_through(webhook):
    asked = {**several(initiator="deny"), "approvals": [{"responder": "erin"}]}
    assert webhook.reply(review_of_write(asked, {**asked, "approvals": []}, "erin"))["allowed"]


def test_an_approval_that_comes_with_a_decision_is_judged_as_the_decision(webhook):
    """The API server admits no such thing."""
    asked = several(initiator="deny")
    new = {**asked, "approvals": [{"responder": "erin"}], "response": response(decision="reject")}
    error = told_to_the_plugin(webhook.reply(review_of_write(asked, new, "erin")))
    assert error.code == "respond_self_denied"


def test_what_brings_no_answer_is_let_through(webhook):
    asked, given = question(), response({"environment": "moon"})
    for old, new, operation in (
        ({**asked, "response": given}, {**asked, "response": given}, "UPDATE"),
        ({**asked, "response": given}, asked, "UPDATE"),
        (asked, asked, "UPDATE"),
        (None, asked, "CREATE"),
        (asked, None, "DELETE"),
    ):
        review = review_of(asked, given, "alice")
        review["request"] |= {"object": new, "oldObject": old, "operation": operation}
        told = webhook.post(json.dumps(review).encode())
        assert json.loads(told.data)["response"]["allowed"], (old, new, operation)


def test_what_a_newer_version_adds_does_not_matter(webhook):
    asked = {**question(), "spec": {**question()["spec"], "news": 1}, "more": {}}
    assert webhook.review(asked, response({"environment": "staging"}, uid="1"), "alice")["allowed"]


def test_a_run_that_is_gone_leaves_open_who_started_it(webhook):
    asked = question(run="gone", responders={"initiator": "deny"})
    error = told_to_the_plugin(webhook.review(asked, response({"environment": "staging"}), "alice"))
    assert error.code == "respond_self_denied"


def test_where_the_api_server_cannot_be_read_nothing_is_said(webhook):
    review = review_of(question(run="unreadable"), response({"environment": "staging"}), "alice")
    assert webhook.post(json.dumps(review).encode()).status == 503


# -- many at once --------------------------------------------------------------------------------------------


class SlowCache(Cache):
    """Knows agents of any name; whoever looks for the one that is `slow` waits."""

    def __init__(self):
        super().__init__()
        self.looked_for, self.is_held, self.go_on = [], threading.Event(), threading.Event()

    def get(self, kind, key):
        if kind != "Agent":
            return super().get(kind, key)
        self.looked_for.append(key.name)
        if key.name == "slow":
            self.is_held.set()
            assert self.go_on.wait(60)
        return {}


@pytest.fixture
def slow():
    """A webhook on which mallory has an answer that takes long: what it knows, and what becomes of that answer."""
    cache = SlowCache()
    metadata = {"name": "of-erin", "namespace": NAMESPACE, "uid": "1", "resourceVersion": "1"}
    cache.put({"kind": "PlanRun", "metadata": metadata, "spec": {"startedBy": "erin"}})
    with running(cache) as webhook, ThreadPoolExecutor(32) as pool:
        try:
            first = pool.submit(ask, webhook, "mallory", "slow")
            assert cache.is_held.wait(30)
            yield webhook, cache, pool, first
        finally:
            cache.go_on.set()


def naming(agent):
    return response({"environment": "staging", "reviewer": agent})


def ask(webhook, user, agent):
    """The status of the reply to an answer that names an agent."""
    return webhook.post(json.dumps(review_of(question(), naming(agent), user)).encode()).status


def given_up(webhook, user, agent):
    """Ask about an answer, on a connection that closes before there is a reply."""
    body = json.dumps(review_of(question(), naming(agent), user)).encode()
    lines = ("POST /answers HTTP/1.1", "Host: x", "Content-Type: application/json", f"Content-Length: {len(body)}")
    head = "".join(f"{line}\r\n" for line in (*lines, ""))
    with webhook.connect() as connection:
        connection.sendall(head.encode() + body)
        # What came after it has been read, so it has been too.
        assert ask(webhook, "alice", "any") == 200
    assert ask(webhook, "alice", "any") == 200


def test_nobody_waits_for_the_answers_of_somebody_else(slow):
    webhook, cache, pool, first = slow
    others = [pool.submit(ask, webhook, "mallory", "slow") for _ in range(9)]
    assert ask(webhook, "alice", "any") == 200
    assert cache.looked_for.count("slow") == 1, "those of one user are judged one at a time"
    cache.go_on.set()
    assert [one.result() for one in (first, *others)] == [200] * 10


def test_what_nobody_waits_for_any_more_is_not_begun(slow):
    webhook, cache, _, first = slow
    given_up(webhook, "mallory", "given-up")
    cache.go_on.set()
    assert (first.result(), ask(webhook, "mallory", "last")) == (200, 200)
    assert [name for name in cache.looked_for if name != "any"] == ["slow", "last"]


def test_what_is_older_than_the_api_server_waits_is_not_begun(slow, monkeypatch):
    webhook, cache, _, first = slow
    monkeypatch.setattr(server, "SECONDS", 0.2)
    assert ask(webhook, "mallory", "too-old") == 503
    monkeypatch.undo()
    cache.go_on.set()
    assert (first.result(), ask(webhook, "mallory", "last")) == (200, 200)
    assert cache.looked_for == ["slow", "last"]


def test_what_is_being_judged_counts_until_it_is_over_whoever_still_waits(slow, monkeypatch):
    webhook, cache, *_ = slow
    monkeypatch.setattr(server, "SECONDS", 0.2)
    for _ in range(3):
        assert ask(webhook, "mallory", "slow") == 503
    monkeypatch.undo()
    assert ask(webhook, "alice", "any") == 200
    assert cache.looked_for == ["slow", "any"]


def test_the_answers_of_one_user_leave_room_for_others(slow):
    webhook, cache, pool, _ = slow
    bodies = [json.dumps(review_of(question(), naming("slow"), "mallory")).encode()] * MOST_OF_ONE
    answers = [pool.submit(webhook.post, body) for body in bodies]
    refused = next(as_completed(answers)).result()
    assert (refused.status, b"too many" in refused.data) == (503, True)
    assert ask(webhook, "alice", "any") == 200
    cache.go_on.set()
    assert sorted(one.result().status for one in answers) == [200] * (MOST_OF_ONE - 1) + [503]


# -- what is no review ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["GET", "HEAD", "PUT", "DELETE", "PATCH", "OPTIONS"])
def test_nothing_but_post_is_taken(webhook, method):
    assert webhook.send(method, webhook.url).status == 405


@pytest.mark.parametrize("path", ["", "/", "/answers/", "/answer", "/healthz", "/metrics", "/answers/../../etc"])
def test_nothing_is_elsewhere(webhook, path):
    url = webhook.url.removesuffix("/answers") + path
    assert webhook.send("POST", url, b"{}", **{"Content-Type": "application/json"}).status == 404


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"\xff\xfe\x00",
        b"null",
        b"[]",
        b"NaN",
        b'{"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview"}',
        b'{"apiVersion": "admission.k8s.io/v1beta1", "kind": "AdmissionReview", "request": {"uid": "1"}}',
        b"[" * 100_000,
        b"1" * 100_000,
    ],
    ids=lambda body: str(body[:60]),
)
def test_what_is_no_review_is_a_bad_request(webhook, body):
    told = webhook.post(body)
    assert told.status == 400
    assert told.data.strip()


@pytest.mark.parametrize("name", ["../compozy-webhook", "a/b", "..", "\ud800", "A", "", 1])
@pytest.mark.parametrize("where", ["namespace", "run"])
def test_names_that_no_object_has_are_asked_of_nobody(webhook, name, where):
    asked = question(**({"run": name} if where == "run" else {}))
    if where == "namespace":
        asked["metadata"]["namespace"] = name
    told = webhook.post(json.dumps(review_of(asked, response({"environment": "staging"}), "alice")).encode())
    assert told.status == 400, told.data


def test_other_media_types_are_refused(webhook):
    assert webhook.post(b"{}", content_type="application/yaml").status == 415


def test_a_body_that_is_too_large_is_refused(webhook):
    assert webhook.post(b'"' + b"x" * MAX_BODY + b'"').status == 413
    assert webhook.review(question(), response({"environment": "staging"}), "alice")["allowed"]


@pytest.mark.parametrize("depth", [100, 400, 850])
def test_a_payload_that_nests_deep_is_refused(webhook, depth):
    payload = json.loads('{"a":' * depth + "1" + "}" * depth)
    error = told_to_the_plugin(webhook.review(question(expect={"type": "object"}), response(payload), "alice"))
    assert error.code == "request_validation_failed"


def parts(value, at=()):
    """Every place in a value."""
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [at, *(place for key, child in children for place in parts(child, (*at, key)))]


def replaced(value, at, part):
    if not at:
        return part
    copied = value.copy()
    copied[at[0]] = replaced(value[at[0]], at[1:], part)
    return copied


REVIEW = review_of(
    question(responders={"agents": "allow", "groups": ["team"]}), response({"environment": "x"}), BOT
)


@settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.sampled_from([REVIEW, review_of_approval(several(groups=["team"]), BOT)]),
    st.lists(st.tuples(st.integers(0, 10**6), ANYTHING), min_size=1, max_size=2),
)
def test_a_damaged_review_is_answered_or_a_bad_request(webhook, review, damages):
    for number, part in damages:
        places = parts(review)
        review = replaced(review, places[number % len(places)], part)
    told = webhook.post(json.dumps(review).encode())
    assert told.status in (200, 400), told.data
    if told.status == 200:
        reply = json.loads(told.data)["response"]
        assert reply["allowed"] or reply["status"]["message"]


def test_a_hostile_schema_is_given_up(webhook):
    defs = {f"d{n}": {"allOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(40)} | {
        "d40": {"type": "object"}
    }
    asked = question(expect={"$ref": "#/$defs/d0", "$defs": defs})
    error = told_to_the_plugin(webhook.review(asked, response({"a": 1}), "alice"))
    assert (error.code, "too many steps" in error.details["payload"]) == ("request_validation_failed", True)


# -- certificates in a directory -----------------------------------------------------------------------------


def served_by(tls: Tls) -> bytes:
    """The certificate that a client is shown, in memory."""
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    client_context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    client_context.check_hostname, client_context.verify_mode = False, ssl.CERT_NONE
    client = client_context.wrap_bio(incoming, outgoing, server_side=False)
    server = tls.context.wrap_bio(outgoing, incoming, server_side=True)
    for side in (client, server) * 3:
        try:
            side.do_handshake()
        except ssl.SSLWantReadError:
            continue
    shown = client.getpeercert(binary_form=True)
    assert shown is not None
    return ssl.DER_cert_to_PEM_cert(shown).encode()


def test_a_directory_is_read_again_and_what_is_broken_there_does_not_count(tmp_path):
    tls, source, now = Tls(), FromDirectory(tmp_path), datetime.now(UTC)
    asyncio.run(source.refresh(tls))
    first, second = (make_issue(["localhost"], now, timedelta(days=1)) for _ in range(2))
    (tmp_path / "tls.crt").write_bytes(first.certificate)
    (tmp_path / "tls.key").write_bytes(first.key)
    asyncio.run(source.refresh(tls))
    assert served_by(tls) == first.certificate
    (tmp_path / "tls.crt").write_bytes(second.certificate)  # the key is still that of the first
    asyncio.run(source.refresh(tls))
    assert served_by(tls) == first.certificate
    (tmp_path / "tls.key").write_bytes(second.key)
    asyncio.run(source.refresh(tls))
    assert served_by(tls) == second.certificate
    (tmp_path / "tls.key").unlink()
    asyncio.run(source.refresh(tls))
    assert served_by(tls) == second.certificate
