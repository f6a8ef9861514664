"""Everything that is installed before the operator starts, in the order in which to install it."""

from typing import Any

from compozy.api.crds import KINDS, crd
from compozy.api.identity import OPERATOR_USER
from compozy.api.policies import all_policies
from compozy.api.rbac import operator_identity, operator_rights, people_roles
from compozy.api.webhook import webhook_manifests

Manifest = dict[str, Any]


def manifest_files(
    operator_user: str = OPERATOR_USER, webhook_url: str | None = None
) -> dict[str, list[Manifest]]:
    """Return the manifests by the name of the file that holds them, in installation order.

    `operator_user` is the operator as the API server names it: a ServiceAccount or any other user. With
    `webhook_url` the API server calls the operator's webhook there, else through its Service. Raises ValueError
    when the user is not a name that policies can hold.
    """
    files = {f"{kind.plural}.yaml": [crd(kind)] for kind in KINDS}
    files["rbac.yaml"] = [*operator_identity(), *operator_rights(operator_user), *people_roles()]
    files["policies.yaml"] = all_policies(operator_user)
    files["webhook.yaml"] = webhook_manifests(webhook_url)
    return files


def all_manifests(operator_user: str = OPERATOR_USER, webhook_url: str | None = None) -> list[Manifest]:
    """Return all manifests in installation order. See `manifest_files`."""
    files = manifest_files(operator_user, webhook_url)
    return [manifest for manifests in files.values() for manifest in manifests]
