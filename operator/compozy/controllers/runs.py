"""What is known of a run when its turn comes: its plan, its state, and whether people can be asked."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from compozy.api.base import ATTENDANCE_ANNOTATION
from compozy.controllers.cache import Cache, Item, Key
from compozy.controllers.plans import Plans
from compozy.controllers.settings import Settings
from compozy.engine.snapshot import from_status
from compozy.engine.state import FINAL_PHASES, RunState
from compozy.language.compiled import CompiledPlan
from compozy.language.durations import parse_duration


@dataclass(frozen=True, slots=True)
class RunView:
    """One run, gathered."""

    run: Item
    plan: CompiledPlan
    state: RunState
    requests: list[Item]
    """The questions of this generation."""
    revision: str | None
    expire_after: float | None
    """Seconds that a question stays open where its author says nothing."""


def is_final(run: Mapping[str, Any]) -> bool:
    """Whether the run has ended."""
    return (run.get("status") or {}).get("phase") in FINAL_PHASES


def generation_of(run: Mapping[str, Any]) -> int:
    """The attempt that the run is at."""
    return int((run.get("status") or {}).get("generation") or 1)


class Gatherer:
    """Gathers runs. Reads only what the operator knows, and a plan's revision where it does not."""

    def __init__(self, cache: Cache, plans: Plans, settings: Settings) -> None:
        self._cache = cache
        self._plans = plans
        self._settings = settings

    async def view(self, run: Item) -> RunView:
        """Gather a run.

        Raises:
            PlanMissing: its Plan is not there.
            PlanInvalid: its plan cannot be right.
            InputsInvalid: its inputs do not fit.
        """
        status, generation = run.get("status") or {}, generation_of(run)
        requests = [item for item in self._cache.requests_of(run) if item["spec"]["generation"] == generation]
        revision = status.get("revision") or _revision_of(requests)
        plan, spec, revision = await self._plans.of_run(run, revision)
        begun = RunState(
            inputs=plan.resolve_inputs(run["spec"].get("inputs")),
            attended=self.attended(run, has_asked=bool(requests)),
            generation=generation,
        )
        return RunView(
            run, plan, from_status(begun, status), requests, revision, self._expire_after(run, plan, spec)
        )

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

    def _expire_after(self, run: Mapping[str, Any], plan: CompiledPlan, spec: Mapping[str, Any]) -> float | None:
        if run["spec"].get("requestExpireAfter"):
            return parse_duration(run["spec"]["requestExpireAfter"])
        if plan.request_expire_after is not None:
            return plan.request_expire_after
        return self._settings.expire_after.get(spec.get("profile", "delivery"))


def _revision_of(requests: list[Item]) -> str | None:
    """A run that has asked has begun, though nothing may be written on it yet: its questions say with what."""
    for request in requests:
        if request["spec"].get("revision"):
            return str(request["spec"]["revision"])
    return None
