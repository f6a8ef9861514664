"""Plugin, webhook and operator hold every answer to its question alike: same code, same paths, same words."""

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from compozy.cli.errors import CliError
from compozy.cli.gathering import check_answer, check_approval
from compozy.controllers.cache import Cache, Key
from compozy.controllers.lineage import starters
from compozy.requests.respond import judge_approval, same_answer
from compozy.requests.verdict import Identity, Refused, bounded
from support.answer_strategies import AGENT, answers, as_stored, is_json, is_sent_unchanged
from support.apiserver import request
from support.webhook import plugin_session, review_of_approval, running, told_to_the_plugin

pytestmark = pytest.mark.unit

NAMESPACE, USER, GROUPS = "here", "alice", ("responders",)
BOT = "system:serviceaccount:here:bot"


SESSION = plugin_session(NAMESPACE, USER, *GROUPS)


@pytest.fixture(scope="module")
def cache():
    cache = Cache()
    metadata = {"name": AGENT, "namespace": NAMESPACE, "uid": "1", "resourceVersion": "1"}
    cache.put({"kind": "Agent", "metadata": metadata})
    for name, starter in (("release-7k2p", "erin"), ("of-bot", BOT), ("of-nobody", None)):
        run = {"name": name, "namespace": NAMESPACE, "uid": name, "resourceVersion": "1"}
        cache.put({"kind": "PlanRun", "metadata": run, "spec": {"startedBy": starter}})
    return cache


@pytest.fixture(scope="module")
def webhook(cache):
    with running(cache) as webhook:
        yield webhook


def question(schema):
    found = request("q", expect=schema)
    found["metadata"] |= {"namespace": NAMESPACE}
    return {**found, "status": {"state": "Pending"}}


def of_plugin(asked, response):
    try:
        check_answer(SESSION, asked, response)
    except CliError as error:
        return error
    return None


def of_operator(webhook, asked, response):
    verdict = webhook.wait_for(webhook.judges.verdict(asked, response, Identity.of_user(USER), ["erin"]))
    return (verdict.code, bounded(verdict.details)) if isinstance(verdict, Refused) else None


def outcome(error):
    return None if error is None else (error.code, error.details)


@settings(max_examples=500, deadline=None, suppress_health_check=list(HealthCheck))
@given(answers())
@example(({"type": "object", "properties": {"a": {"type": "number"}}}, {"a": 1e20}))
@example(({"type": "object", "properties": {"a": {"type": "integer"}}}, {"a": 2**63}))
@example(({"type": "object", "properties": {"a": {"const": 1}}}, {"a": True}))
@example(({"type": "object", "properties": {"a": {"multipleOf": 1000}}}, {"a": 1.2345678901234567e18}))
@example(({"type": "object", "properties": {"a": {"const": 9007199254740994}}}, {"a": 2.0**53 + 2}))
@example(({"type": "object", "properties": {"payload": {"type": "string"}}}, {"payload": 1}))
@example(({"type": "object", "properties": {"decision": {"type": "string"}}}, {"decision": 1}))
@example(({"type": "object", "properties": {"a": {"uniqueItems": True}}}, {"a": [1e17, 10**17]}))
def test_all_three_agree(webhook, answer):
    schema, payload = answer
    asked = question(schema)
    response = {"decision": "respond", "responder": USER, "payload": payload}
    plugin = of_plugin(asked, response)
    if not is_json(payload):
        assert outcome(plugin)[0] == "request_validation_failed", "it could not even be sent"
        return
    stored = {**response, "payload": as_stored(payload)}
    told = told_to_the_plugin(webhook.review(asked, stored, USER, *GROUPS))
    assert outcome(told) == of_operator(webhook, asked, stored)
    if is_sent_unchanged(payload):
        assert outcome(told) == outcome(plugin)
        assert told is None or (told.exit_code, told.extra.keys()) == (plugin.exit_code, plugin.extra.keys())
        assert told or same_answer({**asked, "response": stored}, response), (
            "it is known again when it is repeated"
        )
    else:
        assert plugin is not None, "what is stored is not what was meant"


POLICIES = st.fixed_dictionaries(
    {"approvals": st.integers(2, 4)},
    optional={
        "users": st.lists(st.sampled_from([USER, "erin", BOT]), max_size=2, unique=True),
        "groups": st.just([*GROUPS]),  # whoever is stored: the API server has held them to it
        "agents": st.sampled_from(["allow", "deny"]),
        "initiator": st.sampled_from(["allow", "deny"]),
    },
)


@settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    policy=POLICIES,
    user=st.sampled_from([USER, "erin", BOT]),
    run=st.sampled_from(["release-7k2p", "of-bot", "of-nobody", "gone"]),
    decisions=st.sampled_from([["approve", "reject"], ["reject"]]),
    state=st.sampled_from(["Pending", "Expired", "Canceled", "Answered"]),
)
def test_all_three_agree_on_an_approval(webhook, cache, policy, user, run, decisions, state):
    asked = request("q", kind="Review", run=run, decisions=decisions, responders=policy)
    asked["metadata"]["namespace"] = NAMESPACE
    asked |= {"approvals": [{"responder": "zoe"}], "status": {"state": state}}
    known = cache.get("PlanRun", Key(NAMESPACE, run))
    started_by = [None] if known is None else starters(cache, known)
    refused = judge_approval(asked, Identity.of_user(user), started_by)
    reply = webhook.reply(review_of_approval(asked, user, *GROUPS))
    told, plugin = told_to_the_plugin(reply), None
    try:
        check_approval(plugin_session(NAMESPACE, user, *GROUPS, cache=cache), asked)
    except CliError as error:
        plugin = error
    if refused is None:
        assert (told, plugin) == (None, None)
        return
    # As the operator hands it back: the code, and what is wrong with `approvals`.
    causes = [(cause["field"], cause["message"]) for cause in reply["status"]["details"]["causes"]]
    assert causes == [("approvals", refused.code), ("approvals", refused.message)]
    for error in (told, plugin):
        assert (error.code, error.message) == (refused.code, refused.message)
    assert told.exit_code == plugin.exit_code
