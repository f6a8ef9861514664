"""Plugin, webhook and operator hold every answer to its question alike: same code, same paths, same words."""

import pytest
from hypothesis import HealthCheck, example, given, settings

from compozy.cli.errors import CliError
from compozy.cli.gathering import check_answer
from compozy.controllers.cache import Cache
from compozy.requests.respond import same_answer
from compozy.requests.verdict import Identity, Refused, bounded
from support.answer_strategies import AGENT, answers, as_stored, is_json, is_sent_unchanged
from support.apiserver import request
from support.webhook import plugin_session, running, told_to_the_plugin

pytestmark = pytest.mark.unit

NAMESPACE, USER, GROUPS = "here", "alice", ("responders",)


SESSION = plugin_session(NAMESPACE, USER, *GROUPS)


@pytest.fixture(scope="module")
def webhook():
    cache = Cache()
    metadata = {"name": AGENT, "namespace": NAMESPACE, "uid": "1", "resourceVersion": "1"}
    cache.put({"kind": "Agent", "metadata": metadata})
    run = {"name": "release-7k2p", "namespace": NAMESPACE, "uid": "2", "resourceVersion": "1"}
    cache.put({"kind": "PlanRun", "metadata": run, "spec": {"startedBy": "erin"}})
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
