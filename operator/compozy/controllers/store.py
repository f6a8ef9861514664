"""Writes to the cluster. Each carries the version that it was decided on, or a name that makes it idempotent.

409 is a lost race: read again and decide again. 422 is a rule of the API server that refused: somebody was
first, and the object says who.
"""

from collections.abc import Mapping
from typing import Any

from compozy.controllers.api_client import ApiClient, ApiError
from compozy.controllers.cache import Cache, Item
from compozy.controllers.paths import list_of, path_of
from compozy.controllers.secrecy import Secrecy
from compozy.controllers.watchdog import Watchdog


class LostRace(Exception):
    """Somebody wrote first. What is known now is in the cache: decide again."""


class Gone(Exception):
    """The object is not there any more."""


class Store:
    """The objects of the cluster, as the operator writes them. Answers of the API server refresh the cache."""

    def __init__(self, api: ApiClient, cache: Cache, watchdog: Watchdog, secrecy: Secrecy) -> None:
        self._api = api
        self._secrecy = secrecy
        self._cache = cache
        self._watchdog = watchdog

    async def read(self, item: Mapping[str, Any]) -> Item:
        """The object as it is now. Raises Gone."""
        try:
            fresh = await self._api.get(path_of(item))
        except ApiError as error:
            if error.status != 404:
                raise
            self._cache.drop(item)
            raise Gone(path_of(item)) from None
        self._cache.put(fresh)
        return fresh

    async def create(self, item: Mapping[str, Any]) -> tuple[Item, bool]:
        """Create an object under its deterministic name. Returns it and whether it is new."""
        try:
            made = await self._api.create(list_of(item["kind"], item["metadata"]["namespace"]), item)
        except ApiError as error:
            if error.status == 404:
                raise Gone(item["metadata"]["namespace"]) from None
            if error.status != 409:
                raise
            return await self.read(item), False
        self._took(made)
        return made, True

    async def write_status(self, item: Mapping[str, Any], status: Mapping[str, Any]) -> Item:
        """Replace the status, its messages made safe. Raises LostRace or Gone."""
        body = {**item, "status": self._secrecy.status(status)}
        return await self._guarded(item, self._api.replace(path_of(item, "status"), body))

    async def merge_status(self, item: Mapping[str, Any], status: Mapping[str, Any]) -> Item:
        """Merge into the status, messages made safe. Raises LostRace or Gone."""
        version = item["metadata"]["resourceVersion"]
        body = {"metadata": {"resourceVersion": version}, "status": self._secrecy.status(status)}
        return await self._guarded(item, self._api.merge(path_of(item, "status"), body))

    async def merge(self, item: Mapping[str, Any], fields: Mapping[str, Any]) -> Item:
        """Merge fields outside the status. Raises LostRace or Gone."""
        body = {"metadata": {"resourceVersion": item["metadata"]["resourceVersion"]}, **fields}
        return await self._guarded(item, self._api.merge(path_of(item), body))

    async def delete(self, item: Mapping[str, Any]) -> None:
        """Delete this very object, not another of its name."""
        body = {"preconditions": {"uid": item["metadata"]["uid"]}, "propagationPolicy": "Background"}
        try:
            await self._api.delete(path_of(item), body)
        except ApiError as error:
            if error.status not in (404, 409):
                raise

    async def _guarded(self, item: Mapping[str, Any], write: Any) -> Item:
        try:
            written: Item = await write
        except ApiError as error:
            if error.status == 404:
                self._cache.drop(item)
                raise Gone(path_of(item)) from None
            if error.status not in (409, 422):
                raise
            fresh = await self.read(item)
            if fresh["metadata"]["resourceVersion"] == item["metadata"]["resourceVersion"]:
                # Nobody was first: a rule refused what we meant to write, and would refuse it again.
                raise
            raise LostRace(path_of(item)) from None
        self._took(written)
        return written

    def _took(self, item: Item) -> None:
        self._cache.put(item)
        self._watchdog.wrote(item)
