"""Whether the API server asks the webhook: seen from outside, and switched off for a while."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from compozy.api.webhook import CONFIGURATION
from support.apiserver import Api, Object, request
from support.stage import eventually

CONFIGURATIONS = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"
NAMESPACE = "default"
PROBE = "probe-of-the-webhook"


def refuses_at_once(api: Api) -> bool:
    """Whether an answer that does not fit would be refused now. There must be a `probing` question."""
    response = {"decision": "respond", "responder": "admin", "payload": {}}
    tried = api.admin(NAMESPACE).patch("humanrequests", PROBE, {"response": response}, dryRun="All")
    return not tried.ok and "request_validation_failed" in tried.message


def of_no_run(api: Api, namespace: str, question: Object) -> Object:
    """A question that the namespace owns, so that the operator does not take it for one that a run left behind."""
    owner = api.admin("").call("GET", f"/api/v1/namespaces/{namespace}").object()["metadata"]
    reference = {
        "apiVersion": "v1",
        "kind": "Namespace",
        "name": namespace,
        "uid": owner["uid"],
        "controller": True,
    }
    return {**question, "metadata": {**question["metadata"], "ownerReferences": [reference]}}


@contextlib.contextmanager
def probing(api: Api) -> Iterator[None]:
    """A question of no run, to try answers on, while the block lasts."""
    operator = api.operator(NAMESPACE)
    operator.create("humanrequests", of_no_run(api, NAMESPACE, request(PROBE))).object()
    try:
        yield
    finally:
        operator.delete("humanrequests", PROBE)


@contextlib.contextmanager
def switched_off(api: Api) -> Iterator[None]:
    """The API server knows of no webhook while the block lasts."""
    admin = api.admin("")
    path = f"{CONFIGURATIONS}/{CONFIGURATION}"
    with probing(api):
        eventually(lambda: refuses_at_once(api), "the webhook is asked")
        before = admin.call("GET", path).object()
        admin.call("DELETE", path).object()
        eventually(lambda: not refuses_at_once(api), "the webhook is no longer asked")
        try:
            yield
        finally:
            again = {**before, "metadata": {"name": CONFIGURATION}}
            admin.call("POST", CONFIGURATIONS, again).object()
            eventually(lambda: refuses_at_once(api), "the webhook is asked again")
