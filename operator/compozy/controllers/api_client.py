"""The API server over HTTP, asynchronously.

Where it is, and who we are, comes from the official client's configuration (kubeconfig, in-cluster tokens that
rotate, exec plugins). The requests themselves go through one aiohttp session with plain JSON: the objects are
ours and need no generated models, and this is the hot path.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from typing import Any

import aiohttp
from kubernetes.aio.client import Configuration
from kubernetes.aio.client.rest import RESTClientObject
from kubernetes.aio.config import ConfigException, load_incluster_config, load_kube_config

from compozy.controllers.secrecy import Secrecy

TIMEOUT_SECONDS = 30.0
CONNECTIONS = 32
RETRIED_STATUSES = frozenset({429, 500, 502, 503, 504})
BACKOFFS = (0.1, 0.3, 1.0, 3.0)
"""Seconds between tries where the API server is overloaded or out of reach."""
PAGE = 500


class ApiError(Exception):
    """The API server refused a request."""

    def __init__(self, status: int, reason: str, message: str) -> None:
        super().__init__(f"{status} {reason}: {message}")
        self.status = status
        """HTTP status: 404 gone, 409 exists already or a lost race, 422 a rule that refused."""
        self.reason = reason
        self.message = message


async def load_configuration() -> Configuration:
    """Where the API server is: in the cluster, else by the kubeconfig of the environment."""
    configuration = Configuration()
    try:
        load_incluster_config(client_configuration=configuration)  # type: ignore[no-untyped-call]
    except ConfigException:
        await load_kube_config(client_configuration=configuration)  # type: ignore[no-untyped-call]
    return configuration


class ApiClient:
    """Requests to the API server. Use as an async context manager."""

    def __init__(self, configuration: Configuration, secrecy: Secrecy) -> None:
        """`secrecy` learns each credential that is used."""
        self._configuration = configuration
        self._secrecy = secrecy
        self._key = ""
        self._session: aiohttp.ClientSession | None = None

    async def __aenter__(self) -> "ApiClient":
        context = RESTClientObject(self._configuration).ssl_context
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(ssl=context, limit=CONNECTIONS),
            timeout=aiohttp.ClientTimeout(total=TIMEOUT_SECONDS),
            json_serialize=_dumps,
        )
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        if self._session is not None:
            await self._session.close()

    async def whoami(self) -> str:
        """The user that the API server takes us for."""
        body = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}
        review = await self.create("/apis/authentication.k8s.io/v1/selfsubjectreviews", body)
        return str(review["status"]["userInfo"]["username"])

    async def get(self, path: str, params: Mapping[str, str] | None = None) -> dict[str, Any]:
        """Read an object or a list."""
        return await self._request("GET", path, params=params)

    async def create(self, path: str, body: Mapping[str, Any]) -> dict[str, Any]:
        """POST an object. 409 where the name is taken."""
        return await self._request("POST", path, body=body)

    async def ensure(self, path: str, body: Mapping[str, Any]) -> None:
        """POST an object whose name follows from what it holds: where the name is taken, it is there already."""
        try:
            await self.create(path, body)
        except ApiError as error:
            if error.status != 409:
                raise

    async def replace(self, path: str, body: Mapping[str, Any]) -> dict[str, Any]:
        """PUT an object with its resourceVersion. 409 where it has changed since."""
        return await self._request("PUT", path, body=body)

    async def merge(self, path: str, body: Mapping[str, Any]) -> dict[str, Any]:
        """Merge-patch. With `metadata.resourceVersion` in the body: 409 where it has changed since."""
        return await self._request("PATCH", path, body=body, content_type="application/merge-patch+json")

    async def delete(self, path: str, body: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """DELETE an object; preconditions go into the body."""
        return await self._request("DELETE", path, body=body)

    async def items(self, path: str, **selectors: str) -> AsyncIterator[dict[str, Any]]:
        """Every object of a list that the selectors pick, page by page."""
        params = {"limit": str(PAGE), **selectors}
        while True:
            page = await self.get(path, params)
            kind = page.get("kind", "List").removesuffix("List")
            for item in page["items"]:
                yield {"apiVersion": page["apiVersion"], "kind": kind, **item}
            token = page["metadata"].get("continue")
            if not token:
                return
            params = {"limit": str(PAGE), **selectors, "continue": token}

    async def _request(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None = None,
        params: Mapping[str, str] | None = None,
        content_type: str = "application/json",
    ) -> dict[str, Any]:
        for delay in BACKOFFS:
            try:
                return await self._once(method, path, body, params, content_type)
            except ApiError as error:
                if error.status not in RETRIED_STATUSES or "too large" in error.message:
                    raise
            except (aiohttp.ClientConnectionError, TimeoutError):
                # Names are deterministic and writes carry what they decided on, so trying again is safe.
                pass
            await asyncio.sleep(delay)
        return await self._once(method, path, body, params, content_type)

    async def _once(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None,
        params: Mapping[str, str] | None,
        content_type: str,
    ) -> dict[str, Any]:
        if self._session is None:
            raise RuntimeError("the client is not open; use `async with`")
        headers = {"Accept": "application/json"}
        key = await self._configuration.get_api_key_with_prefix("BearerToken", alias="authorization")
        if key:
            headers["Authorization"] = key
            if key != self._key:
                self._key = key
                self._secrecy.learn([key])
        data = None
        if body is not None:
            headers["Content-Type"] = content_type
            data = _dumps(body)
        url = self._configuration.host + path
        async with self._session.request(method, url, data=data, params=params, headers=headers) as response:
            raw = await response.read()
        return _parsed(response.status, raw)


def _parsed(status: int, raw: bytes) -> dict[str, Any]:
    try:
        value = json.loads(raw)
    except ValueError:
        value = {"message": raw[:500].decode("utf-8", "replace")}
    if status >= 400:
        raise ApiError(status, str(value.get("reason", "")), str(value.get("message", "")))
    return value if isinstance(value, dict) else {}


def _dumps(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)
