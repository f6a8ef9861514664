"""What is known of a run when its turn comes: its plan, its state, and whether people can be asked.

What a turn has worked out is kept for the next one, so that a turn costs what has happened and not how
large the run is. It is only ever a shortcut: whenever a write does not go through, or the status is not
what we wrote, everything is gathered again from what is stored.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from compozy.api.base import ATTENDANCE_ANNOTATION
from compozy.controllers.cache import Cache, Item, Key, key_of, owner_uid
from compozy.controllers.lineage import recorded_starters
from compozy.controllers.plans import Plans
from compozy.controllers.records import Records
from compozy.controllers.settings import Settings
from compozy.engine.ledger import Ledger
from compozy.engine.snapshot import from_status
from compozy.engine.state import FINAL_PHASES, RunState
from compozy.language.compiled import CompiledPlan
from compozy.requests.expiry import seeded_expiry
from compozy.requests.naming import request_name


@dataclass(frozen=True, slots=True)
class RunView:
    """One run, gathered."""

    run: Item
    plan: CompiledPlan
    state: RunState
    ledger: Ledger
    requests: list[Item]
    """The questions of this generation that have yet to be looked at."""
    revision: str | None
    expire_after: float | None
    """Seconds that a question stays open where its author says nothing."""

    def request_name(self, path: str, generation: int | None = None) -> str:
        """The name of the question that a place in the run opens."""
        metadata = self.run["metadata"]
        number = self.state.generation if generation is None else generation
        return request_name(metadata["name"], metadata["uid"], number, *self.plan.address_of(path))

    def path_of(self, request: Mapping[str, Any]) -> str:
        """The place in the run that has opened a question."""
        return self.plan.path_at(request["spec"]["node"], request["spec"].get("item"))


@dataclass(slots=True)
class Known:
    """What the last turn of a run has left."""

    view: RunView
    status: Mapping[str, Any] | None
    """The status that it was worked out for."""


def is_final(run: Mapping[str, Any]) -> bool:
    """Whether the run has ended."""
    return (run.get("status") or {}).get("phase") in FINAL_PHASES


def generation_of(run: Mapping[str, Any]) -> int:
    """The attempt that the run is at."""
    return int((run.get("status") or {}).get("generation") or 1)


class Gatherer:
    """Gathers runs. Reads only what the operator knows, and a plan's revision where it does not."""

    def __init__(self, cache: Cache, plans: Plans, records: Records, settings: Settings) -> None:
        self._cache = cache
        self._plans = plans
        self._records = records
        self._settings = settings
        self._known: dict[Key, Known] = {}
        self._news: dict[Key, set[str]] = {}

    def tell(self, run: Key, request: str) -> None:
        """Something has happened to a question of a run."""
        self._news.setdefault(run, set()).add(request)

    def remember(self, view: RunView, state: RunState) -> None:
        """Keep what a turn has come to, now that everything it wanted is written."""
        key = key_of(view.run)
        run = self._cache.get("PlanRun", key)
        if run is None or state.is_final or run["metadata"]["uid"] != view.run["metadata"]["uid"]:
            self.forget(key)
            return
        self._known[key] = Known(replace(view, state=state, requests=[]), run.get("status"))

    def forget(self, key: Key) -> None:
        """Gather a run anew when its turn comes."""
        self._known.pop(key, None)

    def drop(self, key: Key) -> None:
        """A run is gone."""
        self._known.pop(key, None)
        self._news.pop(key, None)

    async def plan_of(self, run: Item) -> tuple[CompiledPlan, Mapping[str, Any], str | None]:
        """The plan of a run that has begun, its spec and its revision. Raises as `view` does."""
        return await self._plans.of_run(run, (run.get("status") or {}).get("revision"))

    async def view(self, run: Item) -> RunView:
        """Gather a run.

        Raises:
            PlanMissing: its Plan is not there.
            PlanInvalid: its plan cannot be right.
            InputsInvalid: its inputs do not fit.
        """
        key = key_of(run)
        # What happens from here on is for the next turn.
        news, known = self._news.pop(key, set()), self._known.get(key)
        if known is not None and _still_holds(known, run):
            return replace(known.view, run=run, requests=self._named(key, run, news))
        self.forget(key)
        return await self._from_the_beginning(run)

    def _named(self, key: Key, run: Item, news: set[str]) -> list[Item]:
        wanted = sorted(news | set(run["spec"].get("canceledRequests") or ()))
        found = (self._cache.get("HumanRequest", Key(key.namespace, name)) for name in wanted)
        generation, uid = generation_of(run), run["metadata"]["uid"]
        # One that another run of this name has left behind is not ours.
        ours = (item for item in found if item is not None and owner_uid(item) == uid)
        return [item for item in ours if item["spec"]["generation"] == generation]

    async def _from_the_beginning(self, run: Item) -> RunView:
        status, generation = run.get("status") or {}, generation_of(run)
        requests = [item for item in self._cache.requests_of(run) if item["spec"]["generation"] == generation]
        revision = status.get("revision") or _revision_of(requests)
        plan, spec, revision = await self._plans.of_run(run, revision)
        begun = RunState(
            inputs=plan.resolve_inputs(run["spec"].get("inputs")),
            attended=self.attended(run, has_asked=bool(requests)),
            starters=tuple(recorded_starters(self._cache, run)),
            generation=generation,
        )
        state = from_status(plan, begun, {**status, "nodes": await self._records.nodes_of(run)})
        if state.started_at is None and requests:
            first = min(item["metadata"]["creationTimestamp"] for item in requests)
            state = replace(state, started_at=first)
        ledger = Ledger.of(plan, status)
        expire_after = seeded_expiry(run, plan, spec.get("profile"), self._settings.expire_after)
        return RunView(run, plan, state, ledger, requests, revision, expire_after)

    def attended(self, run: Mapping[str, Any], has_asked: bool) -> bool:
        """Whether people can be asked. What the run has begun with stands.

        The operator's setting and the namespace's annotation can only take away; then the run decides.
        """
        status = run.get("status") or {}
        if "attended" in status:
            return bool(status["attended"])
        if has_asked:
            return True
        namespace = self._cache.get("Namespace", Key("", run["metadata"]["namespace"]))
        annotations = (namespace or {"metadata": {}})["metadata"].get("annotations") or {}
        settings = (
            self._settings.attendance,
            annotations.get(ATTENDANCE_ANNOTATION),
            run["spec"].get("attendance"),
        )
        return "Unattended" not in settings


def _still_holds(known: Known, run: Item) -> bool:
    """Whether what a turn has left is still what is stored: the same run, with the status that we know."""
    if known.view.run["metadata"]["uid"] != run["metadata"]["uid"]:
        return False
    status = run.get("status")
    return known.status is status or known.status == status


def _revision_of(requests: list[Item]) -> str | None:
    """A run that has asked has begun, though nothing may be written on it yet: its questions say with what."""
    for request in requests:
        if request["spec"].get("revision"):
            return str(request["spec"]["revision"])
    return None
