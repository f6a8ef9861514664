"""Whether a named agent, skill, loop, worktree, session, workspace or secret reference exists."""

from typing import Any

from compozy.controllers.api_client import ApiClient
from compozy.controllers.cache import Cache, Key
from compozy.controllers.paths import list_of

KINDS = {"agent": "Agent", "loop": "Plan"}
"""Annotated kinds that are resources of their own; `workspace` is a Namespace, the others CatalogEntries."""


class Catalog:
    """The entities of one namespace, as the operator knows them."""

    def __init__(self, cache: Cache, namespace: str) -> None:
        self._cache = cache
        self._namespace = namespace

    def has(self, kind: str, name: str) -> bool:
        """Whether the entity exists; names match exactly."""
        if kind == "workspace":
            return self._cache.get("Namespace", Key("", name)) is not None
        if kind in KINDS:
            return self._cache.get(KINDS[kind], Key(self._namespace, name)) is not None
        return any(self._is_entry(item, kind, name) for item in self._cache.all("CatalogEntry"))

    def _is_entry(self, item: dict[str, Any], kind: str, name: str) -> bool:
        metadata, spec = item["metadata"], item["spec"]
        same = metadata["namespace"] == self._namespace and spec["kind"] == kind
        return bool(same) and name == (spec.get("name") or metadata["name"])

    async def refresh(self, api: ApiClient) -> None:
        """Read the namespace's entities anew: a watch may be a moment behind what a person just made."""
        lists = [list_of(kind, self._namespace) for kind in (*KINDS.values(), "CatalogEntry")]
        for path in (*lists, "/api/v1/namespaces"):
            async for item in api.items(path):
                self._cache.put(item)
