"""Plans and their frozen revisions.

A run uses one revision from its beginning to its end. Revisions are ControllerRevisions named after their
content, so ten thousand runs share one copy. They have no owner: a run outlives the Plan it was started from.
"""

import hashlib
import json
import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import Any

from compozy.api.object_names import is_object_name
from compozy.controllers.api_client import ApiClient, ApiError
from compozy.controllers.cache import Cache, Item, Key, key_of
from compozy.controllers.conditions import condition, merged
from compozy.controllers.paths import path_of, revisions
from compozy.controllers.store import Gone, LostRace, Store
from compozy.engine.times import parse_timestamp, timestamp
from compozy.language.calls import Bundle, bundle_of, called_names, source_of
from compozy.language.compile import compile_plan
from compozy.language.compiled import CompiledPlan
from compozy.language.problems import InputsInvalid, PlanInvalid

PLAN_LABEL = "compozy.dev/plan"
MAX_PROBLEMS = 100
MAX_COMPILED = 512
"""How many compiled plans are kept at hand."""
REVISION_GRACE = timedelta(minutes=10)
"""A revision younger than this may belong to a run that has not written anything yet."""

log = logging.getLogger(__name__)


class PlanMissing(Exception):
    """The Plan that a run names is not there."""


class RevisionMissing(Exception):
    """The frozen copy of the plan that a run has begun with is gone."""


@dataclass(frozen=True)
class Frozen:
    """A plan's spec with every plan that it calls: what a run keeps to from beginning to end."""

    spec: dict[str, Any]
    plans: Bundle = field(default_factory=dict)

    @cached_property
    def digest(self) -> str:
        """Ten hexadecimal digits that stand for the content: worked out once, for every turn asks for it."""
        content = {"spec": self.spec, "plans": self.plans} if self.plans else self.spec
        canonical = json.dumps(content, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(canonical.encode()).hexdigest()[:10]


class Plans:
    """Compiles plans and keeps their revisions."""

    def __init__(self, api: ApiClient, store: Store, cache: Cache) -> None:
        self._api = api
        self._store = store
        self._cache = cache
        self._compiled: dict[str, CompiledPlan | PlanInvalid] = {}
        self._frozen: dict[Key, Frozen] = {}
        self._stored: set[Key] = set()
        """Revisions that are known to be in the cluster."""

    async def load(self) -> None:
        """Learn which revisions there are, so that none is made again at the start."""
        async for revision in self._api.items("/apis/apps/v1/controllerrevisions", labelSelector=PLAN_LABEL):
            self._stored.add(key_of(revision))

    async def of_run(self, run: Item, revision: str | None) -> tuple[CompiledPlan, dict[str, Any], str | None]:
        """The compiled plan of a run, its spec and its revision.

        Args:
            run: the PlanRun.
            revision: the revision that the run has begun with, where it has begun.

        Raises:
            PlanMissing: the run names a Plan that is not there.
            RevisionMissing: the frozen copy that the run has begun with is gone.
            PlanInvalid: the plan cannot be right.
        """
        namespace, inline = run["metadata"]["namespace"], run["spec"].get("plan")
        if revision is not None:
            frozen = await self._begun_with(run, Key(namespace, revision))
            return self.compiled(frozen), frozen.spec, revision
        if inline is not None:
            frozen = await self._with_called_now(namespace, inline)
            compiled = self.compiled(frozen)
            # The run itself is the frozen copy, unless it calls plans that may change.
            kept = await self._freeze(namespace, "inline", frozen, 1) if frozen.plans else None
            return compiled, frozen.spec, kept
        name = run["spec"]["planRef"]["name"]
        plan = self._cache.get("Plan", Key(namespace, name))
        if plan is None:
            raise PlanMissing(f"there is no Plan {name} in namespace {namespace}; the run waits for it")
        frozen = await self._with_called_now(namespace, plan["spec"])
        compiled = self.compiled(frozen)
        return compiled, frozen.spec, await self._freeze_plan(plan, frozen)

    def _with_called(self, namespace: str, spec: dict[str, Any]) -> Frozen:
        def find(name: str) -> dict[str, Any] | None:
            plan = self._cache.get("Plan", Key(namespace, name))
            return None if plan is None else plan["spec"]

        return Frozen(spec, bundle_of(spec, find))

    async def _with_called_now(self, namespace: str, spec: dict[str, Any]) -> Frozen:
        """A plan with those that it calls. Each that seems not to be there is looked for once more."""
        looked_for: set[str] = set()
        while True:
            frozen = self._with_called(namespace, spec)
            called = {name for one in (spec, *frozen.plans.values()) for name in called_names(one)}
            missing = called - frozen.plans.keys() - looked_for
            found = [await self._look_for(Key(namespace, name)) for name in sorted(missing)]
            looked_for |= missing
            if not any(found):
                return frozen

    async def _look_for(self, key: Key) -> Item | None:
        """A Plan, asked for where it is not known: a watch may be a moment behind what was just applied."""
        known = self._cache.get("Plan", key)
        if known is not None or not is_object_name(key.name):
            return known
        reference = {"kind": "Plan", "metadata": {"namespace": key.namespace, "name": key.name}}
        try:
            self._cache.put(await self._api.get(path_of(reference)))
        except ApiError as error:
            if error.status != 404:
                raise
        return self._cache.get("Plan", key)

    async def faults_of_call(self, namespace: str, name: str, inputs: Mapping[str, Any]) -> tuple[str, str] | None:
        """Code and message of why a run of a Plan could not begin with these inputs; None where it can."""
        plan = await self._look_for(Key(namespace, name))
        if plan is None:
            return "plan_unknown", f"there is no Plan {name} in namespace {namespace}"
        try:
            self.compiled(await self._with_called_now(namespace, plan["spec"])).resolve_inputs(inputs)
        except PlanInvalid as error:
            return "plan_invalid", f"plan `{name}` cannot run: {error}"
        except InputsInvalid as error:
            return "inputs_invalid", f"the inputs of plan `{name}` do not fit: {error}"
        return None

    def compiled(self, frozen: Frozen) -> CompiledPlan:
        """The compiled form of a plan. Raises PlanInvalid."""
        digest = frozen.digest
        if digest not in self._compiled:
            if len(self._compiled) >= MAX_COMPILED:
                self._compiled.pop(next(iter(self._compiled)))
            try:
                self._compiled[digest] = compile_plan(frozen.spec, source_of(frozen.plans))
            except PlanInvalid as error:
                self._compiled[digest] = error
        result = self._compiled[digest]
        if isinstance(result, PlanInvalid):
            raise PlanInvalid(result.problems)
        return result

    async def _freeze_plan(self, plan: Item, frozen: Frozen) -> str:
        metadata = plan["metadata"]
        generation = metadata.get("generation", 1)
        return await self._freeze(metadata["namespace"], metadata["name"], frozen, generation)

    async def _freeze(self, namespace: str, base: str, frozen: Frozen, generation: int) -> str:
        """Make sure that a revision exists; returns its name, which follows from its content."""
        name = f"{base}-{frozen.digest}"
        key = Key(namespace, name)
        self._frozen[key] = frozen
        if key not in self._stored:
            body = {
                "apiVersion": "apps/v1",
                "kind": "ControllerRevision",
                "metadata": {"name": name, "labels": {PLAN_LABEL: base}},
                "data": {"spec": frozen.spec, "plans": frozen.plans},
                "revision": generation,
            }
            await self._api.ensure(revisions(namespace), body)
            self._stored.add(key)
        return name

    async def _begun_with(self, run: Item, key: Key) -> Frozen:
        try:
            return await self._read(key)
        except RevisionMissing:
            # Somebody deleted it. Where the plan is still the same, nothing is lost.
            spec = self._spec_now(run)
            frozen = self._with_called(key.namespace, spec) if spec is not None else None
            if frozen is None or not key.name.endswith(f"-{frozen.digest}"):
                raise
            base = key.name.removesuffix(f"-{frozen.digest}")
            self._stored.discard(key)
            await self._freeze(key.namespace, base, frozen, 1)
            return frozen

    def _spec_now(self, run: Item) -> dict[str, Any] | None:
        """The spec that the run would begin with if it began now."""
        if run["spec"].get("plan") is not None:
            spec: dict[str, Any] = run["spec"]["plan"]
            return spec
        plan = self._cache.get("Plan", Key(run["metadata"]["namespace"], run["spec"]["planRef"]["name"]))
        return None if plan is None else plan["spec"]

    async def _read(self, key: Key) -> Frozen:
        if key not in self._frozen:
            try:
                found = await self._api.get(revisions(key.namespace, key.name))
            except ApiError as error:
                if error.status != 404:
                    raise
                raise RevisionMissing(f"the frozen revision {key.name} of the plan is gone") from None
            self._frozen[key] = Frozen(found["data"]["spec"], found["data"].get("plans") or {})
        return self._frozen[key]

    def forget(self, item: Item) -> None:
        """A Plan or a Namespace is gone, and revisions may go with it: look again before trusting them."""
        namespace, name = key_of(item)
        for key in {*self._frozen, *self._stored}:
            of_plan = key.namespace == namespace and key.name.startswith(f"{name}-")
            if key.namespace == name if item["kind"] == "Namespace" else of_plan:
                self._frozen.pop(key, None)
                self._stored.discard(key)

    def callers_of(self, key: Key) -> list[Key]:
        """The Plans of the namespace that call this one, directly or through others."""
        callers = []
        for plan in self._cache.all("Plan"):
            found = key_of(plan)
            calls = found.namespace == key.namespace and found != key and called_names(plan["spec"])
            if calls and key.name in self._with_called(key.namespace, plan["spec"]).plans:
                callers.append(found)
        return callers

    async def reconcile(self, key: Key) -> None:
        """Say on a Plan whether it is right, and freeze its revision."""
        plan = self._cache.get("Plan", key)
        if plan is None or plan["metadata"].get("deletionTimestamp"):
            return
        generation, now = plan["metadata"]["generation"], timestamp(datetime.now(UTC))
        old = plan.get("status") or {}
        status: dict[str, Any] = {"observedGeneration": generation}
        try:
            frozen = self._with_called(key.namespace, plan["spec"])
            nodes = len(self.compiled(frozen).nodes)
            status["revision"] = await self._freeze_plan(plan, frozen)
            ready = condition("Ready", True, "Valid", f"{nodes} steps or nodes", generation, now)
        except PlanInvalid as error:
            status["problems"] = [
                {"path": problem.path[:1024], "code": problem.code, "message": problem.message}
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
        async for revision in self._api.items("/apis/apps/v1/controllerrevisions", labelSelector=PLAN_LABEL):
            metadata = revision["metadata"]
            key = Key(metadata["namespace"], metadata["name"])
            age = datetime.now(UTC) - parse_timestamp(metadata["creationTimestamp"])
            if key not in used and age > REVISION_GRACE:
                self._frozen.pop(key, None)
                self._stored.discard(key)
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
