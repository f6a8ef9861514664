"""The kopf handlers: they take objects in and say whose turn it is. Nothing is decided here.

Only low-level handlers are used. `on.event` stores nothing on objects; change handlers would copy every
spec into an annotation. Expiry is a kopf timer on each question that has a deadline: it is asked once for
its delay (deadlines never change) and does nothing but give the run its turn, where a compare-and-swap
decides.
"""

import dataclasses
import time
from datetime import UTC, datetime
from typing import Any

import kopf

from compozy.api.base import GROUP, VERSION
from compozy.controllers.app import App
from compozy.controllers.cache import Key, key_of, owner_uid, run_of
from compozy.controllers.lineage import descendants, parent_key
from compozy.engine.times import parse_timestamp
from compozy.requests.state import is_open, state_of


def register(registry: kopf.OperatorRegistry, app: App) -> None:
    """Register every handler of the operator."""
    _register_login(registry)
    _register_cleanup(registry, app)
    _register_watches(registry, app)
    _register_expiry(registry, app)


def _register_login(registry: kopf.OperatorRegistry) -> None:
    @kopf.on.login(registry=registry)
    def login(**kwargs: Any) -> kopf.ConnectionInfo | None:
        return kopf.login_with_service_account(**kwargs) or kopf.login_via_client(**kwargs)


def _register_cleanup(registry: kopf.OperatorRegistry, app: App) -> None:
    @kopf.on.cleanup(registry=registry)
    async def cleanup(**_: Any) -> None:
        # kopf waits for tasks that it did not start, and an open connection is one.
        if app.webhook is not None:
            await app.webhook.stop()


def _register_watches(registry: kopf.OperatorRegistry, app: App) -> None:
    told: dict[Key, tuple[str, int, str | None]] = {}
    """By run: its uid, the generation of its spec and who owns it, as the runs below it were told."""

    @kopf.on.event(GROUP, VERSION, "planruns", registry=registry)
    async def on_run(event: Any, **_: Any) -> None:
        run, key = event["object"], key_of(event["object"])
        if not _take(app, event):
            return
        app.reconciler.turns.add(key)
        parent = parent_key(run)
        if parent is not None:
            app.reconciler.turns.add(parent)
        # What is paused, or has lost who paused it, matters to all below; what becomes of it otherwise does not.
        now = run["metadata"]["uid"], run["metadata"]["generation"], owner_uid(run)
        is_gone = event["type"] == "DELETED"
        if is_gone or told.get(key) != now:
            for one in descendants(app.cache, run):
                app.reconciler.turns.add(key_of(one))
        if is_gone:
            told.pop(key, None)
        else:
            told[key] = now

    @kopf.on.event(GROUP, VERSION, "humanrequests", registry=registry)
    async def on_request(event: Any, **_: Any) -> None:
        request = event["object"]
        if request.get("response") and state_of(request) == "Pending":
            app.answers.seen_at.setdefault(request["metadata"]["uid"], time.monotonic())
        if event["type"] == "DELETED":
            app.answers.seen_at.pop(request["metadata"]["uid"], None)
        if _take(app, event):
            app.gatherer.tell(run_of(request), request["metadata"]["name"])
            app.reconciler.turns.add(run_of(request))

    _register_others(registry, app)


def _register_others(registry: kopf.OperatorRegistry, app: App) -> None:
    @kopf.on.event(GROUP, VERSION, "plans", registry=registry)
    async def on_plan(event: Any, **_: Any) -> None:
        if _take(app, event):
            key = key_of(event["object"])
            app.plan_turns.add(key)
            for caller in app.plans.callers_of(key):
                app.plan_turns.add(caller)
            for run in app.reconciler.waiting_for_plan.pop(key, ()):
                app.reconciler.turns.add(run)

    @kopf.on.event(GROUP, VERSION, "agents", registry=registry)
    @kopf.on.event(GROUP, VERSION, "catalogentries", registry=registry)
    @kopf.on.event("", "v1", "namespaces", registry=registry)
    async def on_other(event: Any, **_: Any) -> None:
        _take(app, event)


def _take(app: App, event: Any) -> bool:
    item = dict(event["object"])
    app.watchdog.seen(item)
    if event["type"] == "DELETED":
        app.cache.drop(item)
        _forget(app, item)
        return True
    return app.cache.put(item)


def _forget(app: App, item: Any) -> None:
    """Something is gone: what it was part of is worked out anew, and what is still wanted is made again."""
    match item["kind"]:
        case "Plan" | "Namespace":
            app.plans.forget(item)
        case "HumanRequest":
            app.gatherer.forget(run_of(item))
        case "PlanRun":
            app.gatherer.drop(key_of(item))
            parent = parent_key(item)
            if parent is not None:
                app.gatherer.forget(parent)


def _register_expiry(registry: kopf.OperatorRegistry, app: App) -> None:
    def is_timed(body: Any, **_: Any) -> bool:
        return bool(body["spec"].get("expiresAt")) and is_open(body)

    def seconds_left(body: Any, **_: Any) -> float:
        left = parse_timestamp(body["spec"]["expiresAt"]) - datetime.now(UTC)
        return max(left.total_seconds(), 0.0)

    @kopf.timer(GROUP, VERSION, "humanrequests", when=is_timed, initial_delay=seconds_left, registry=registry)
    async def on_deadline(body: Any, **_: Any) -> None:
        app.gatherer.tell(run_of(body), body["metadata"]["name"])
        app.reconciler.turns.add(run_of(body))

    _without_finalizer(registry)


def _without_finalizer(registry: kopf.OperatorRegistry) -> None:
    """Let timers do without kopf's finalizer.

    The decorator always asks for one; with it each question would cost a write, and a namespace could not be
    deleted while the operator is away. A timer that fires for a question that is gone finds nothing to do.
    """
    spawning = registry._spawning
    spawning._handlers = [dataclasses.replace(handler, requires_finalizer=False) for handler in spawning._handlers]
