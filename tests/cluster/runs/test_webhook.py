"""The webhook on a real API server: what does not fit is refused at once, and nothing depends on it."""

import base64
import itertools
import json
import ssl
import subprocess
import threading
import time

import pytest
import urllib3
from cryptography import x509
from hypothesis import HealthCheck, given, settings

from compozy.api.manifests import all_manifests
from compozy.api.webhook import CONFIGURATION, SECRET
from compozy.cli.errors import CliError
from compozy.cli.failures import of_refused_response
from compozy.cli.gathering import check_answer
from compozy.cli.kube.errors import ApiError
from localcluster.background import operator_of
from support import plans
from support.answer_strategies import answers, as_stored, is_json, is_sent_unchanged
from support.apiserver import JSON_PATCH, request, run
from support.reviews import CONFIGURATIONS, of_no_run, probing, refuses_at_once
from support.stage import eventually
from support.webhook import plugin_session, review_of

pytestmark = pytest.mark.cluster

CONFIGURATION_PATH = f"{CONFIGURATIONS}/{CONFIGURATION}"
SECRET_PATH = f"/api/v1/namespaces/compozy-system/secrets/{SECRET}"
_numbers = itertools.count(1)
WRONG = {"channel": "loud", "confirm": "yes"}
GRAPH = """
graph:
  nodes:
    - id: a
      class: control
      kind: ask
      params: { prompt: A?, expect: { x: string }, responders: { agents: allow } }
"""


@pytest.fixture
def question(stage):
    return stage.question(stage.start(plans.STEPS, plans.STEPS_INPUTS))


def as_now(stage, request):
    return stage.admin.get("humanrequests", request["metadata"]["name"])


def told(answer):
    """What the plugin makes of a refusal of the API server."""
    assert not answer.ok, "it went through"
    return of_refused_response(ApiError.from_status(answer.status, answer.body))


def test_kubectl_hears_at_once_what_does_not_fit(stage, question):
    patch = {"response": {"decision": "respond", "responder": "alice", "payload": WRONG}}
    name = question["metadata"]["name"]
    refused = stage.person.kubectl("patch", "hreq", name, "--type=merge", "-p", json.dumps(patch))
    assert refused.returncode == 1
    for line in (
        "response: request_validation_failed",
        'response.payload.channel: must be one of "stable", "beta", "nightly"',
        "response.payload.confirm: must be true or false",
    ):
        assert line in refused.stderr
    assert as_now(stage, question)["metadata"]["resourceVersion"] == question["metadata"]["resourceVersion"]


def test_what_fits_goes_through_and_the_run_goes_on(stage, operator, question):
    before = reviewed(operator, "allowed")
    assert stage.answer(question, plans.STEPS_ANSWER).ok
    assert stage.resolved(question) == "Answered"
    assert reviewed(operator, "allowed") == before + 1, "the webhook is asked about the answer, and nothing else"


def reviewed(operator, outcome):
    marker = f'compozy_answers_reviewed_total{{said="{outcome}"}} '
    lines = (line for line in operator.metrics().splitlines() if line.startswith(marker))
    return float(next(lines, "x 0").split()[-1])


def test_what_only_the_cluster_knows_is_told_at_once_and_the_plugin_hands_it_on(stage):
    request = stage.question(stage.start(plans.GRAPH, plans.GRAPH_INPUTS))
    payload = {"environment": "staging", "assignment": {"reviewer": "nobody-here"}}
    error = told(stage.answer(request, payload))
    assert (error.code, error.details) == (
        "input_validation",
        {"assignment.reviewer": "there is no agent 'nobody-here' here"},
    )
    # The person may not read agents: the plugin lets the answer pass, and hears it from the webhook.
    done = stage.plugin("respond", request["metadata"]["name"], "--payload", json.dumps(payload), "-o", "json")
    body = json.loads(done.stdout)
    assert (done.returncode, body["code"], body["details"]) == (78, error.code, error.details)
    assert (body["origin"], body["field"], body["reason"]) == (
        "response",
        "assignment.reviewer",
        "unknown_reference",
    )
    assert "lastRejection" not in as_now(stage, request)["status"]


@pytest.mark.parametrize("starter", ["itself", "a person"])
def test_an_agent_hears_at_once_that_a_run_is_its_own(stage, starter):
    bot = stage.api.user(
        f"system:serviceaccount:{stage.namespace}:bot", stage.namespace, ["responders", "authors"]
    )
    who = bot if starter == "itself" else stage.author
    who.create("planruns", run("own", plan=plans.spec(GRAPH), startedBy=who.name)).object()
    answered = stage.answer(stage.question("own"), {"x": "1"}, bot)
    if starter == "itself":
        assert (answered.status, told(answered).code) == (403, "respond_self_denied")
    else:
        assert answered.ok


def test_without_the_operator_the_answer_is_stored_and_handed_back_with_the_same_words(stage, operator, question):
    at_once = told(stage.answer(question, WRONG))
    operator.kill()
    assert stage.answer(question, WRONG).ok
    operator.start()
    eventually(lambda: "response" not in as_now(stage, question), "the answer is handed back")
    last = as_now(stage, question)["status"]["lastRejection"]
    assert (last["code"], last["fields"]) == (at_once.code, at_once.details)
    assert stage.answer(question, plans.STEPS_ANSWER).ok
    assert stage.resolved(question) == "Answered"


def test_without_the_webhook_it_is_handed_back_with_the_same_words(without_webhook, stage, question):
    assert stage.answer(question, WRONG).ok
    eventually(lambda: "response" not in as_now(stage, question), "the answer is handed back")
    last = as_now(stage, question)["status"]["lastRejection"]
    assert (last["code"], set(last["fields"])) == ("request_validation_failed", set(WRONG))


@pytest.mark.parametrize("depth", [150, 900])
def test_a_payload_that_nests_too_deep_never_gets_to_the_run(stage, question, depth):
    payload = json.loads('{"a":' * depth + "1" + "}" * depth)
    if stage.answer(question, payload).ok:  # deeper than the webhook can read
        eventually(lambda: "response" not in as_now(stage, question), "the answer is handed back")
    assert stage.state(question) == "Pending"
    assert stage.answer(question, plans.STEPS_ANSWER).ok
    assert stage.resolved(question) == "Answered"


def test_nothing_that_anybody_can_send_changes_anything(stage, operator, operated, question):
    """Nobody says who they are here: only the API server's own writes count."""
    pool, url = caller(operated)
    response = {"decision": "respond", "responder": "alice", "payload": plans.STEPS_ANSWER}
    review = json.dumps(review_of(question, response, "alice")).encode()
    base = url.removesuffix("/answers")
    statuses = {}
    for method in ("GET", "HEAD", "POST", "PUT", "DELETE"):
        for path in ("/answers", "/", "/apis"):
            answer = pool.request(method, base + path, body=review, headers={"Content-Type": "application/json"})
            statuses[method, path] = answer.status
    assert statuses.pop(("POST", "/answers")) == 200
    assert set(statuses.values()) == {404, 405}
    for method in ("GET", "HEAD", "POST"):
        for path in ("/healthz", "/metrics"):
            assert urllib3.request(method, operator.url + path).status == (405 if method == "POST" else 200)
    assert as_now(stage, question) == question


def caller(operated):
    """A client that trusts what the API server trusts, and where it calls."""
    client = operated.admin("").call("GET", CONFIGURATION_PATH).object()["webhooks"][0]["clientConfig"]
    context = ssl.create_default_context(cadata=base64.b64decode(client["caBundle"]).decode())
    return urllib3.PoolManager(ssl_context=context, retries=False), client["url"]


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(answer=answers())
def test_the_api_server_says_what_the_plugin_says(stage, answer):
    schema, payload = answer
    operator, name = stage.api.operator(stage.namespace), f"asked-{next(_numbers)}"
    context = {"value": payload if is_json(payload) else None}
    wanted = of_no_run(stage.api, stage.namespace, request(name, expect=schema, context=context))
    asked = operator.create("humanrequests", wanted).object()
    response = {"decision": "respond", "responder": stage.person.name, "payload": payload}
    add = [{"op": "add", "path": "/response", "value": response}]
    tried = stage.person.patch("humanrequests", name, add, JSON_PATCH, dryRun="All")
    operator.delete("humanrequests", name).object()
    error = plugin_error(stage, asked, response)
    if is_json(payload):
        assert_same(asked["spec"]["context"]["value"], as_stored(payload))
    if is_json(payload) and is_sent_unchanged(payload):
        outcome = None if tried.ok else told(tried)
        assert (outcome and (outcome.code, outcome.details)) == (error and (error.code, error.details))
    else:
        assert error is not None, "what is stored would not be what was meant"
        assert tried.status != 400 or not is_json(payload)


def plugin_error(stage, asked, response):
    try:
        check_answer(plugin_session(stage.namespace, stage.person.name, "responders"), asked, response)
    except CliError as error:
        return error
    return None


def assert_same(found, expected):
    assert json.dumps(found, sort_keys=True) == json.dumps(expected, sort_keys=True)


# -- certificates --------------------------------------------------------------------------------------------


@pytest.fixture
def resting(operated, shared_operator):
    """The suite's own operator rests, and there are no certificates: those that a test makes, it makes alone."""
    shared_operator.stop()
    forget_certificates(operated)
    yield
    forget_certificates(operated)
    shared_operator.start()


def forget_certificates(operated):
    secret = operated.admin("").call("GET", SECRET_PATH).object()
    operated.admin("").call("PUT", SECRET_PATH, {**secret, "data": {}}).object()


def trusted_now(operated):
    """The authorities that the API server trusts."""
    client = operated.admin("").call("GET", CONFIGURATION_PATH).object()["webhooks"][0]["clientConfig"]
    return x509.load_pem_x509_certificates(base64.b64decode(client["caBundle"]))


def shown_now(operated):
    """The serial number of the certificate that whoever connects is shown, and holds to what is trusted."""
    pool, url = caller(operated)
    with pool:
        answer = pool.request("GET", url, preload_content=False)
        shown = answer.connection.sock.getpeercert()["serialNumber"]
        answer.read()
    return shown


def test_answers_keep_being_judged_while_certificates_change(resting, operated, tmp_path):
    """One life of a certificate is 36 s here: the next is made after 24 s, served after 27 s, alone after 30 s."""
    log = tmp_path / "operator.log"
    shown, bundles, missed, over = set(), set(), [], threading.Event()
    lifetime = {"COMPOZY_WEBHOOK_CERTIFICATE_LIFETIME": "36s"}
    with operator_of(operated.cluster, log, **lifetime), probing(operated):
        eventually(lambda: refuses_at_once(operated), "the webhook is asked")

        def answer():
            while not over.is_set():
                if not refuses_at_once(operated):
                    missed.append(time.monotonic())

        thread = threading.Thread(target=answer)
        thread.start()
        try:
            deadline = time.monotonic() + 60
            while (len(shown), max(bundles, default=0)) < (2, 2) or len(trusted_now(operated)) > 1:
                assert time.monotonic() < deadline, (shown, bundles, log.read_text())
                bundles.add(len(trusted_now(operated)))
                shown.add(shown_now(operated))
                time.sleep(0.1)
        finally:
            over.set()
            thread.join()
    assert bundles == {1, 2}
    assert missed == [], log.read_text()


def test_replicas_that_start_together_serve_one_certificate(resting, operated, tmp_path):
    replicas = [operator_of(operated.cluster, tmp_path / f"{number}.log") for number in range(3)]
    threads = [threading.Thread(target=replica.start, kwargs={"outlives_us": True}) for replica in replicas]
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert all(replica.process for replica in replicas), "all have started"
        assert len({shown_now(operated) for _ in range(30)}) == 1
        assert len(trusted_now(operated)) == 1
        with probing(operated):
            eventually(lambda: refuses_at_once(operated), "the webhook is asked")
    finally:
        for replica in replicas:
            replica.stop()


def test_the_operator_may_do_no_more_than_that(operated):
    namespace = "--namespace=compozy-system"
    operator = operated.operator("compozy-system")

    def may(*what):
        return operator.kubectl("auth", "can-i", *what, namespace).stdout.strip() == "yes"

    assert may("get", f"secret/{SECRET}")
    assert may("update", f"secret/{SECRET}")
    assert may("update", f"validatingwebhookconfiguration/{CONFIGURATION}")
    for refused in (
        ("update", "secret/other"),
        ("patch", "secret/other"),
        ("watch", "secrets"),
        ("update", "validatingwebhookconfiguration/other"),
        ("create", "validatingwebhookconfigurations"),
        ("delete", f"validatingwebhookconfiguration/{CONFIGURATION}"),
    ):
        assert not may(*refused), refused
    # What it keeps at home it may make, read and delete there, and nowhere else.
    for verb in ("get", "list", "create", "delete"):
        assert may(verb, "secrets")
        elsewhere = operator.kubectl("auth", "can-i", verb, "secrets", "--namespace=default")
        assert elsewhere.stdout.strip() == "no"


def test_applying_the_manifests_again_keeps_the_certificates(operator, operated):
    before = trusted_now(operated)
    url = operated.admin("").call("GET", CONFIGURATION_PATH).object()["webhooks"][0]["clientConfig"]["url"]
    text = "---\n".join(json.dumps(manifest) + "\n" for manifest in all_manifests(webhook_url=url))
    applied: subprocess.CompletedProcess[str] = operated.admin("").kubectl(
        "apply", "--server-side", "--force-conflicts", "-f", "-", stdin=text
    )
    assert applied.returncode == 0, applied.stderr
    assert trusted_now(operated) == before
    assert operated.admin("").call("GET", SECRET_PATH).object()["data"]
