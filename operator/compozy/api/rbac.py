"""Who may do what: the operator's identity and its rights, and roles for people.

The roles for people aggregate into Kubernetes' own `view`, `edit` and `admin`. Answering does not come with
`edit`: who may change deployments need not be who approves them. It comes with `admin`, because one can only
grant what one has.
"""

from collections.abc import Sequence
from typing import Any

from compozy.api import webhook
from compozy.api.base import GROUP
from compozy.api.identity import OPERATOR_ACCOUNT, OPERATOR_NAMESPACE, OPERATOR_USER, SERVICE_ACCOUNT_PREFIX

_RBAC = "rbac.authorization.k8s.io"
_READ = ("get", "list", "watch")
_WRITE = ("create", "update", "patch", "delete")
_CHANGE = ("get", "update", "patch")


def _rule(group: str, resources: Sequence[str], verbs: Sequence[str], names: Sequence[str] = ()) -> dict[str, Any]:
    """Return a rule; with `names`, for the objects of these names alone."""
    rule = {"apiGroups": [group], "resources": list(resources), "verbs": list(verbs)}
    return {**rule, "resourceNames": list(names)} if names else rule


_OPERATOR_RULES = [
    _rule(GROUP, ["plans", "agents", "catalogentries"], _READ),
    _rule(GROUP, ["planruns", "humanrequests"], [*_READ, *_WRITE]),
    _rule(GROUP, ["plans/status", "planruns/status", "humanrequests/status"], _CHANGE),
    # To name a run or plan as an owner whose deletion waits, where the API server asks for that right.
    _rule(GROUP, ["plans/finalizers", "planruns/finalizers"], ["update"]),
    _rule("apps", ["controllerrevisions"], [*_READ, "create", "delete"]),
    _rule("", ["events"], ["create", "patch"]),
    _rule("events.k8s.io", ["events"], ["create", "patch"]),
    _rule("", ["namespaces"], _READ),
    # kopf learns from these which resources there are.
    _rule("apiextensions.k8s.io", ["customresourcedefinitions"], _READ),
    # To tell the API server which certificates its webhook has.
    _rule(
        "admissionregistration.k8s.io",
        ["validatingwebhookconfigurations"],
        ["get", "update"],
        [webhook.CONFIGURATION],
    ),
]

_HOME_RULES = [
    _rule("coordination.k8s.io", ["leases"], [*_READ, "create", "update", "patch"]),
    # The exact parameters of actions that people decide over. It has no right to Secrets anywhere else.
    _rule("", ["secrets"], ["get", "list", "create", "delete"]),
    # To renew the certificates of its webhook: their Secret is installed empty.
    _rule("", ["secrets"], ["get", "update"], [webhook.SECRET]),
]
"""What the operator may do in its own namespace."""

_KINDS = ["plans", "planruns", "humanrequests", "agents", "catalogentries"]

# Where outputs and node statuses are kept that are too long for the status of a run, and frozen plans.
_READ_STORED = _rule("apps", ["controllerrevisions"], ["get", "list"])

_PEOPLE: Sequence[tuple[str, str, list[dict[str, Any]]]] = (
    ("compozy-view", "view", [_rule(GROUP, _KINDS, _READ), _READ_STORED]),
    (
        "compozy-edit",
        "edit",
        [
            _rule(GROUP, ["plans", "planruns"], [*_READ, *_WRITE]),
            _rule(GROUP, ["humanrequests"], _READ),
            _READ_STORED,
        ],
    ),
    (
        "compozy-responder",
        "admin",
        [
            _rule(GROUP, ["planruns"], _READ),
            _rule(GROUP, ["humanrequests"], [*_READ, "update", "patch"]),
            # What an answer may have to name. A secret is there by its name alone.
            _rule(GROUP, ["plans", "agents", "catalogentries"], ["get", "list"]),
            _READ_STORED,
        ],
    ),
    ("compozy-admin", "admin", [_rule(GROUP, ["agents", "catalogentries"], [*_READ, *_WRITE])]),
)
"""Name of a role, the role of Kubernetes that it is added to, and its rules."""


def operator_identity() -> list[dict[str, Any]]:
    """Return the operator's namespace and ServiceAccount."""
    return [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": OPERATOR_NAMESPACE}},
        {
            "apiVersion": "v1",
            "kind": "ServiceAccount",
            "metadata": {"name": OPERATOR_ACCOUNT, "namespace": OPERATOR_NAMESPACE},
        },
    ]


def operator_rights(operator_user: str = OPERATOR_USER) -> list[dict[str, Any]]:
    """Return the operator's roles and their bindings to `operator_user`."""
    metadata = {"name": OPERATOR_ACCOUNT}
    namespaced = {**metadata, "namespace": OPERATOR_NAMESPACE}
    return [
        _role("ClusterRole", metadata, _OPERATOR_RULES),
        _binding("ClusterRoleBinding", metadata, "ClusterRole", operator_user),
        _role("Role", namespaced, _HOME_RULES),
        _binding("RoleBinding", namespaced, "Role", operator_user),
    ]


def people_roles() -> list[dict[str, Any]]:
    """Return the roles for people: view, edit, respond, administer."""
    return [
        _role("ClusterRole", {"name": name, "labels": {f"{_RBAC}/aggregate-to-{target}": "true"}}, rules)
        for name, target, rules in _PEOPLE
    ]


def _role(kind: str, metadata: dict[str, Any], rules: list[dict[str, Any]]) -> dict[str, Any]:
    return {"apiVersion": f"{_RBAC}/v1", "kind": kind, "metadata": metadata, "rules": rules}


def _binding(kind: str, metadata: dict[str, Any], role_kind: str, user: str) -> dict[str, Any]:
    """Bind the role of the same name to a user."""
    return {
        "apiVersion": f"{_RBAC}/v1",
        "kind": kind,
        "metadata": metadata,
        "roleRef": {"apiGroup": _RBAC, "kind": role_kind, "name": metadata["name"]},
        "subjects": [_subject(user)],
    }


def _subject(user: str) -> dict[str, str]:
    """Return the subject of a binding for a user name, which may be that of a ServiceAccount."""
    if user.startswith(SERVICE_ACCOUNT_PREFIX):
        namespace, _, name = user.removeprefix(SERVICE_ACCOUNT_PREFIX).partition(":")
        return {"kind": "ServiceAccount", "name": name, "namespace": namespace}
    return {"apiGroup": _RBAC, "kind": "User", "name": user}
