"""How quickly plans are checked and run by the pure engine, in this process."""

import time
from collections.abc import Callable
from datetime import UTC, datetime
from statistics import median
from typing import Any

from bench.figures import Figure, Target
from compozy.engine.advance import advance
from compozy.engine.state import RunState
from compozy.language.compile import compile_plan

REPETITIONS = 5
STEPS = 1_000
ITEMS = 10_000
_NOW = datetime(2030, 1, 1, tzinfo=UTC)


def language_figures() -> list[Figure]:
    """Seconds to validate long plans, and steps a second on one core; linear where the ratio is about 1."""
    chain, half = _chain(STEPS), _chain(STEPS // 2)
    items = list(range(ITEMS))
    check_chain = _seconds(lambda: compile_plan(chain))
    check_items = _seconds(lambda: compile_plan(_mapped(items)))
    mapped = _advance_seconds(_mapped("{{input.items}}"), {"items": items})
    half_mapped = _advance_seconds(_mapped("{{input.items}}"), {"items": items[: ITEMS // 2]})
    chained, half_chained = _advance_seconds(chain, {"go": False}), _advance_seconds(half, {"go": False})
    return [
        Figure("validate_steps", f"validate {STEPS} steps", "s", 3, check_chain, target=Target("<", 1.0)),
        Figure("validate_items", f"validate {ITEMS} items", "s", 3, check_items, target=Target("<", 1.0)),
        Figure("chain_rate", "engine, chain of steps", "steps/s", 0, STEPS / chained, target=Target(">=", 20_000)),
        Figure("map_rate", "engine, items of a map", "steps/s", 0, ITEMS / mapped, target=Target(">=", 20_000)),
        Figure("chain_growth", "  time a step, whole to half", "ratio", 2, chained / half_chained / 2),
        Figure("map_growth", "  time an item, whole to half", "ratio", 2, mapped / half_mapped / 2),
    ]


def _chain(length: int) -> dict[str, Any]:
    """Gates that do not fire, each looking at the one before."""
    values = ["{{input.go}}", *(f"{{{{E{index}.verdict}}}}" for index in range(length - 1))]
    gates = ({"value": value, "op": "eq", "to": True} for value in values)
    return {
        "steps": [
            {"id": f"E{index}", "tool_name": "exit", "input": {"when": gate, "status": "success"}}
            for index, gate in enumerate(gates)
        ]
    }


def _mapped(over: Any) -> dict[str, Any]:
    where = {"value": "{{item}}", "op": "gt", "to": 3}
    do = {"tool_name": "filter", "input": {"over": ["{{item}}"], "where": where}}
    return {"steps": [{"id": "E0", "tool_name": "map", "input": {"over": over, "do": do}}]}


def _advance_seconds(spec: dict[str, Any], inputs: dict[str, Any]) -> float:
    plan = compile_plan(spec)
    return _seconds(lambda: advance(plan, RunState(inputs=inputs, attended=True), (), _NOW))


def _seconds(work: Callable[[], object]) -> float:
    taken = []
    for _ in range(REPETITIONS):
        started = time.perf_counter()
        work()
        taken.append(time.perf_counter() - started)
    return median(taken)
