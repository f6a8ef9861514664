"""The exact parameters of actions that people decide over, each in a Secret of the operator's own namespace.

People see a redacted preview and a digest; the rest is nobody's business before the decision, nor after it. In the
namespace of the run everybody with `edit` could read a Secret, and the operator would need the right to read all
of them. So they are kept where the operator lives, and go as soon as the action has come to its end.

A proposal that is gone loses nothing: the parameters are rendered again, and run if their digest is the same.
"""

import base64
import hashlib
import json
import logging
from typing import Any

from compozy.controllers.api_client import ApiClient, ApiError
from compozy.controllers.cache import Cache, Item, Key
from compozy.controllers.paths import secrets
from compozy.language.shapes.canonical import canonical_json

LABEL = "compozy.dev/proposal"
"""Marks these Secrets; the value is the UID of the run."""

NAMESPACE_ANNOTATION = "compozy.dev/run-namespace"
RUN_ANNOTATION = "compozy.dev/run"
MAX_BYTES = 1024 * 1024
"""What a Secret can hold."""

_KEY = "parameters.json"

log = logging.getLogger(__name__)


class ProposalTooLarge(Exception):
    """Parameters that no Secret can hold: nobody could be shown what they approve either."""


class Proposals:
    """Keeps proposals, and gives them out once a person has decided."""

    def __init__(self, api: ApiClient, cache: Cache, namespace: str) -> None:
        """`namespace` is that of the operator."""
        self._api = api
        self._cache = cache
        self._namespace = namespace

    async def keep(self, run: Item, request: str, proposal: Any) -> None:
        """Keep what the question of this name is about, before it is put. Keeping it twice is keeping it once.

        Raises ProposalTooLarge.
        """
        content = canonical_json(proposal).encode()
        if len(content) > MAX_BYTES:
            raise ProposalTooLarge(
                f"the parameters have {len(content)} bytes; at most {MAX_BYTES} can be reviewed"
            )
        metadata = run["metadata"]
        body = {
            "apiVersion": "v1",
            "kind": "Secret",
            "type": LABEL,
            "immutable": True,
            "metadata": {
                "name": _name(run, request),
                "labels": {LABEL: metadata["uid"]},
                "annotations": {NAMESPACE_ANNOTATION: metadata["namespace"], RUN_ANNOTATION: metadata["name"]},
            },
            "data": {_KEY: base64.b64encode(content).decode()},
        }
        await self._api.ensure(secrets(self._namespace), body)

    async def read(self, run: Item, request: str) -> Any:
        """What a question was about; None where it is not kept any more."""
        try:
            found = await self._api.get(secrets(self._namespace, _name(run, request)))
        except ApiError as error:
            if error.status != 404:
                raise
            return None
        return json.loads(base64.b64decode(found["data"][_KEY]))

    async def forget(self, run: Item, request: str) -> None:
        """The action has come to its end: its parameters are not needed any more. Failures are swept later."""
        name = _name(run, request)
        try:
            await self._api.delete(secrets(self._namespace, name), {})
        except (ApiError, OSError) as error:
            if not isinstance(error, ApiError) or error.status != 404:
                log.warning("proposal %s stays for now: %s", name, error)

    async def sweep(self) -> None:
        """Delete what is left of runs that are gone."""
        async for secret in self._api.items(secrets(self._namespace), labelSelector=LABEL):
            metadata = secret["metadata"]
            annotations = metadata.get("annotations") or {}
            key = Key(annotations.get(NAMESPACE_ANNOTATION, ""), annotations.get(RUN_ANNOTATION, ""))
            run = self._cache.get("PlanRun", key)
            if run is None or run["metadata"]["uid"] != metadata["labels"][LABEL]:
                await self._api.delete(secrets(self._namespace, metadata["name"]), {})


def _name(run: Item, request: str) -> str:
    """The name of a proposal: it follows from the run and its question, wherever they are."""
    place = f"{run['metadata']['uid']}/{request}"
    return f"proposal-{hashlib.sha256(place.encode()).hexdigest()[:32]}"
