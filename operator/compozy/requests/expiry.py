"""How long a question stays open where its author does not say: the run, then the plan, then the operator."""

from collections.abc import Mapping
from typing import Any

from compozy.language.compiled.plan import CompiledPlan
from compozy.language.durations import parse_duration

DEFAULT_PROFILE = "delivery"


def seeded_expiry(
    run: Mapping[str, Any], plan: CompiledPlan, profile: str | None, settings: Mapping[str, float]
) -> float | None:
    """The seconds that questions of a run stay open which have no expiry of their own; None for ever.

    Args:
        run: the PlanRun; its `requestExpireAfter` comes first.
        plan: what it runs; its `requests.expireAfter` comes next.
        profile: the plan's profile, which chooses among the operator's settings; `delivery` where it has none.
        settings: the operator's, in seconds by profile.
    """
    of_run = run["spec"].get("requestExpireAfter")
    if of_run:
        return parse_duration(of_run)
    if plan.request_expire_after is not None:
        return plan.request_expire_after
    return settings.get(profile or DEFAULT_PROFILE)
