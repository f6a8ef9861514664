"""URL paths of the API server."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from compozy.api.base import GROUP, VERSION

PLURALS = {
    "Plan": "plans",
    "PlanRun": "planruns",
    "HumanRequest": "humanrequests",
    "Agent": "agents",
    "CatalogEntry": "catalogentries",
}


def all_of(kind: str) -> str:
    """The list of a kind in all namespaces."""
    return f"/apis/{GROUP}/{VERSION}/{PLURALS[kind]}"


def list_of(kind: str, namespace: str) -> str:
    """The list of a kind in a namespace."""
    return f"/apis/{GROUP}/{VERSION}/namespaces/{quote(namespace)}/{PLURALS[kind]}"


def path_of(item: Mapping[str, Any], subresource: str = "") -> str:
    """One object, or a subresource of it."""
    metadata = item["metadata"]
    path = f"{list_of(item['kind'], metadata['namespace'])}/{quote(metadata['name'])}"
    return f"{path}/{subresource}" if subresource else path


def revisions(namespace: str, name: str = "") -> str:
    """ControllerRevisions: the frozen copies of plans."""
    path = f"/apis/apps/v1/namespaces/{quote(namespace)}/controllerrevisions"
    return f"{path}/{quote(name)}" if name else path


def secrets(namespace: str, name: str = "") -> str:
    """Secrets of a namespace."""
    path = f"/api/v1/namespaces/{quote(namespace)}/secrets"
    return f"{path}/{quote(name)}" if name else path


def events(namespace: str) -> str:
    """Events of a namespace."""
    return f"/api/v1/namespaces/{quote(namespace)}/events"


def secret_path(namespace: str, name: str) -> str:
    """One Secret."""
    return f"/api/v1/namespaces/{quote(namespace)}/secrets/{quote(name)}"


def webhook_configuration_path(name: str) -> str:
    """One ValidatingWebhookConfiguration."""
    return f"/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/{quote(name)}"
