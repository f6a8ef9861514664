"""The webhook that judges answers before they are stored: what the API server sends it, and where to.

It is asked about writes that bring a response, or an approval where several people must approve, and about
nothing else, and only so that a person hears at once what does not fit. Where it cannot be reached the write
goes through: the operator judges every answer again and hands back what does not fit.
"""

from typing import Any

from compozy.api.base import GROUP, VERSION
from compozy.api.identity import OPERATOR_ACCOUNT, OPERATOR_NAMESPACE

CONFIGURATION = "compozy-answers"
"""Name of the ValidatingWebhookConfiguration."""
SECRET = "compozy-webhook"  # noqa: S105 - the name of one
"""Name of the Secret with the certificates that the operator makes itself."""
SERVICE = "compozy-webhook"
PATH = "/answers"
"""Where the webhook answers."""
PORT = 9443
"""Port of the operator's pods that the Service leads to."""
TIMEOUT_SECONDS = 5

_ANSWERS = "has(object.response)"
_APPROVES = "object.approvals.size() > oldObject.approvals.size()"
"""The list is always there: the API server puts an empty one where there is none."""


def webhook_manifests(url: str | None = None) -> list[dict[str, Any]]:
    """Return the Secret, the Service and the configuration.

    With `url` the API server calls an operator outside of the cluster, and there is no Service.
    """
    where: dict[str, Any] = {
        "service": {"name": SERVICE, "namespace": OPERATOR_NAMESPACE, "path": PATH, "port": 443}
    }
    return [_secret(), *([] if url else [_service()]), _configuration({"url": url} if url else where)]


def _secret() -> dict[str, Any]:
    """Return the Secret, empty: so the operator needs no right to create any."""
    metadata = {"name": SECRET, "namespace": OPERATOR_NAMESPACE}
    return {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "type": "Opaque"}


def _service() -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": SERVICE, "namespace": OPERATOR_NAMESPACE},
        "spec": {
            "selector": {"app.kubernetes.io/name": OPERATOR_ACCOUNT},
            "ports": [{"name": "webhook", "port": 443, "targetPort": PORT}],
        },
    }


def _configuration(client: dict[str, Any]) -> dict[str, Any]:
    """Return the configuration. The CA bundle is left out: whoever makes the certificates adds it."""
    webhook = {
        "name": f"answers.{GROUP}",
        "clientConfig": client,
        "rules": [
            {
                "apiGroups": [GROUP],
                "apiVersions": [VERSION],
                "operations": ["UPDATE"],
                "resources": ["humanrequests"],
                "scope": "Namespaced",
            }
        ],
        "matchConditions": [
            {"name": "answers", "expression": f"!has(oldObject.response) && ({_ANSWERS} || {_APPROVES})"},
        ],
        "matchPolicy": "Equivalent",
        "failurePolicy": "Ignore",
        "sideEffects": "None",
        "timeoutSeconds": TIMEOUT_SECONDS,
        "admissionReviewVersions": ["v1"],
    }
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingWebhookConfiguration",
        "metadata": {"name": CONFIGURATION},
        "webhooks": [webhook],
    }
