"""Objects that hold what does not fit the status of a run: pages of cells, and large outputs.

They are ControllerRevisions, which the API server itself keeps from changing, under names that follow from
their content: writing one twice is writing it once. The run owns them, so they go when it goes.
"""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from compozy.controllers.api_client import ApiClient, ApiError
from compozy.controllers.cache import Item, Key
from compozy.controllers.paths import revisions
from compozy.controllers.store import Gone
from compozy.engine.nodes import Nodes, each_of, merged
from compozy.requests.opening import owner_reference

RUN_LABEL = "compozy.dev/run"
MAX_KEPT = 256
"""How many records are kept at hand; the others are read again."""


class Records:
    """Writes records and reads them back."""

    def __init__(self, api: ApiClient) -> None:
        self._api = api
        self._kept: dict[Key, dict[str, Any]] = {}

    async def write(self, run: Item, data: Mapping[str, Any]) -> str:
        """Write a record of a run; returns its name. Raises Gone where the namespace is going."""
        metadata = run["metadata"]
        content = json.dumps(data, sort_keys=True, separators=(",", ":"))
        digest = hashlib.sha256(f"{metadata['uid']}{content}".encode(errors="replace")).hexdigest()[:16]
        name = f"{metadata['name']}-{digest}"
        body = {
            "apiVersion": "apps/v1",
            "kind": "ControllerRevision",
            "metadata": {
                "name": name,
                "labels": {RUN_LABEL: metadata["name"]},
                "ownerReferences": [owner_reference(run)],
            },
            "data": data,
            "revision": 1,
        }
        try:
            await self._api.ensure(revisions(metadata["namespace"]), body)
        except ApiError as error:
            if error.status == 404:
                raise Gone(metadata["namespace"]) from None
            raise
        self._keep(Key(metadata["namespace"], name), dict(data))
        return name

    def _keep(self, key: Key, data: dict[str, Any]) -> None:
        if len(self._kept) >= MAX_KEPT:
            self._kept.pop(next(iter(self._kept)))
        self._kept[key] = data

    async def read(self, namespace: str, name: str) -> dict[str, Any]:
        """The content of a record; empty where somebody has deleted it."""
        key = Key(namespace, name)
        if key not in self._kept:
            try:
                found = await self._api.get(revisions(namespace, name))
            except ApiError as error:
                if error.status != 404:
                    raise
                return {}
            self._keep(key, found.get("data") or {})
        return self._kept[key]

    async def nodes_of(self, run: Item) -> Nodes:
        """Everything that is stored of a run's nodes: its status, its pages, and outputs in their place."""
        status, namespace = run.get("status") or {}, run["metadata"]["namespace"]
        pages = [
            (await self.read(namespace, page["name"])).get("nodes") or {} for page in status.get("pages") or ()
        ]
        nodes = merged([*pages, status.get("nodes") or {}])
        for told in each_of(nodes):
            if "outputRef" in told:
                told["output"] = (await self.read(namespace, told["outputRef"]["name"])).get("output")
        return nodes
