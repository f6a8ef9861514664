"""What an answer can name in a namespace: agents, plans, namespaces, catalog entries, as far as this user sees."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from compozy.cli.kube.client import Client, Object
from compozy.cli.kube.errors import ApiError, UnreachableError
from compozy.cli.kube.resources import AGENTS, CATALOG_ENTRIES, NAMESPACES, PLANS, Resource

if TYPE_CHECKING:
    from compozy.requests.choices import Choice, Names

NAMED_OBJECTS: Mapping[str, Resource] = {"agent": AGENTS, "loop": PLANS, "workspace": NAMESPACES}
"""Kinds that are objects of their own; the others are catalog entries."""


def name_of_entry(entry: Object) -> str:
    """The name by which an answer gives a catalog entry."""
    return str(entry["spec"].get("name") or entry["metadata"]["name"])


def names_in(client: Client, namespace: str) -> "Names":
    """Looks names up for a form. What this user may not read, or the API server does not tell, is not known."""

    def names(kind: str) -> "Sequence[Choice] | None":
        try:
            return sorted(_names(client, namespace, kind), key=lambda choice: str(choice.value))
        except (ApiError, UnreachableError):
            return None

    return names


def _names(client: Client, namespace: str, kind: str) -> "list[Choice]":
    # Only here: an answer is held to names without any form.
    from compozy.requests.choices import Choice

    if kind in NAMED_OBJECTS:
        resource = NAMED_OBJECTS[kind]
        return [Choice(name) for name in client.names(resource, namespace if resource.namespaced else None)]
    entries = [entry for entry in client.list(CATALOG_ENTRIES, namespace).items if entry["spec"]["kind"] == kind]
    return [Choice(name_of_entry(entry), str(entry["spec"].get("description") or "")) for entry in entries]
