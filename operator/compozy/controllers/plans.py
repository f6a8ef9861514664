"""Plans and their frozen revisions.

A run uses one revision from its beginning to its end. Revisions are ControllerRevisions named after their
content, so ten thousand runs share one copy. They have no owner: a run outlives the Plan it was started from.
"""

import hashlib
import json
import logging
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from compozy.controllers.api_client import ApiClient, ApiError
from compozy.controllers.cache import Cache, Item, Key
from compozy.controllers.conditions import condition, merged
from compozy.controllers.paths import revisions
from compozy.controllers.store import Gone, LostRace, Store
from compozy.engine.times import parse_timestamp, timestamp
from compozy.language.compile import compile_plan
from compozy.language.compiled import CompiledPlan
from compozy.language.problems import PlanInvalid

PLAN_LABEL = "compozy.dev/plan"
MAX_PROBLEMS = 100
MAX_COMPILED = 512
"""How many compiled plans are kept at hand."""
REVISION_GRACE = timedelta(minutes=10)
"""A revision younger than this may belong to a run that has not written anything yet."""

log = logging.getLogger(__name__)


class PlanMissing(Exception):
    """The Plan that a run names is not there."""


def digest_of(spec: Mapping[str, Any]) -> str:
    """Ten hexadecimal digits that stand for the content of a plan."""
    canonical = json.dumps(spec, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()[:10]


def _revision_name(plan: Mapping[str, Any]) -> str:
    return f"{plan['metadata']['name']}-{digest_of(plan['spec'])}"


class Plans:
    """Compiles plans and keeps their revisions."""

    def __init__(self, api: ApiClient, store: Store, cache: Cache) -> None:
        self._api = api
        self._store = store
        self._cache = cache
        self._compiled: dict[str, CompiledPlan | PlanInvalid] = {}
        self._frozen: dict[Key, dict[str, Any]] = {}

    async def of_run(self, run: Item, revision: str | None) -> tuple[CompiledPlan, dict[str, Any], str | None]:
        """The compiled plan of a run, its spec and its revision.

        Args:
            run: the PlanRun.
            revision: the revision that the run has begun with, where it has begun.

        Raises:
            PlanMissing: the run names a Plan that is not there.
            PlanInvalid: the plan cannot be right.
        """
        if run["spec"].get("plan") is not None:
            spec = run["spec"]["plan"]
            return self.compiled(spec), spec, None
        namespace, name = run["metadata"]["namespace"], run["spec"]["planRef"]["name"]
        if revision is None:
            plan = self._cache.get("Plan", Key(namespace, name))
            if plan is None:
                raise PlanMissing(f"there is no Plan {name} in namespace {namespace}; the run waits for it")
            self.compiled(plan["spec"])
            revision = await self.freeze(plan)
        spec = await self._frozen_spec(Key(namespace, revision))
        return self.compiled(spec), spec, revision

    def compiled(self, spec: Mapping[str, Any]) -> CompiledPlan:
        """The compiled form of a plan's spec. Raises PlanInvalid."""
        digest = digest_of(spec)
        if digest not in self._compiled:
            if len(self._compiled) >= MAX_COMPILED:
                self._compiled.pop(next(iter(self._compiled)))
            try:
                self._compiled[digest] = compile_plan(spec)
            except PlanInvalid as error:
                self._compiled[digest] = error
        result = self._compiled[digest]
        if isinstance(result, PlanInvalid):
            raise PlanInvalid(result.problems)
        return result

    async def freeze(self, plan: Item) -> str:
        """Make sure that the revision of a Plan's content exists; returns its name."""
        metadata = plan["metadata"]
        name = _revision_name(plan)
        key = Key(metadata["namespace"], name)
        is_known = (plan.get("status") or {}).get("revision") == name
        if key not in self._frozen and not is_known:
            body = {
                "apiVersion": "apps/v1",
                "kind": "ControllerRevision",
                "metadata": {"name": name, "labels": {PLAN_LABEL: metadata["name"]}},
                "data": {"spec": plan["spec"]},
                "revision": metadata.get("generation", 1),
            }
            try:
                await self._api.create(revisions(metadata["namespace"]), body)
            except ApiError as error:
                if error.status != 409:
                    raise
        self._frozen[key] = plan["spec"]
        return name

    async def _frozen_spec(self, key: Key) -> dict[str, Any]:
        if key not in self._frozen:
            try:
                found = await self._api.get(revisions(key.namespace, key.name))
            except ApiError as error:
                if error.status != 404:
                    raise
                raise PlanMissing(f"the frozen revision {key.name} of the plan is gone") from None
            self._frozen[key] = found["data"]["spec"]
        return self._frozen[key]

    async def reconcile(self, key: Key) -> None:
        """Say on a Plan whether it is right, and freeze its revision."""
        plan = self._cache.get("Plan", key)
        if plan is None or plan["metadata"].get("deletionTimestamp"):
            return
        generation, now = plan["metadata"]["generation"], timestamp(datetime.now(UTC))
        old = plan.get("status") or {}
        status: dict[str, Any] = {"observedGeneration": generation}
        try:
            nodes = len(self.compiled(plan["spec"]).nodes)
            status["revision"] = await self.freeze(plan)
            ready = condition("Ready", True, "Valid", f"{nodes} steps or nodes", generation, now)
        except PlanInvalid as error:
            status["problems"] = [
                {"path": problem.path[:1024], "code": problem.code, "message": problem.message[:4096]}
                for problem in error.problems[:MAX_PROBLEMS]
            ]
            ready = condition("Ready", False, "Invalid", str(error), generation, now)
        status["conditions"] = merged(old.get("conditions"), [ready])
        if status != old:
            try:
                await self._store.write_status(plan, status)
            except (LostRace, Gone):
                log.debug("plan %s changed meanwhile; its watch event brings it back", key)

    async def sweep(self) -> None:
        """Delete revisions that no Plan has and no run uses."""
        used = self._used_revisions()
        async for revision in self._api.items("/apis/apps/v1/controllerrevisions"):
            metadata = revision["metadata"]
            if PLAN_LABEL not in (metadata.get("labels") or {}):
                continue
            key = Key(metadata["namespace"], metadata["name"])
            age = datetime.now(UTC) - parse_timestamp(metadata["creationTimestamp"])
            if key not in used and age > REVISION_GRACE:
                self._frozen.pop(key, None)
                await self._api.delete(revisions(*key), {"preconditions": {"uid": metadata["uid"]}})

    def _used_revisions(self) -> set[Key]:
        used: set[Key] = set()
        for kind in ("Plan", "PlanRun"):
            for item in self._cache.all(kind):
                revision = (item.get("status") or {}).get("revision")
                if revision:
                    used.add(Key(item["metadata"]["namespace"], revision))
        for request in self._cache.all("HumanRequest"):
            if request["spec"].get("revision"):
                used.add(Key(request["metadata"]["namespace"], request["spec"]["revision"]))
        return used
