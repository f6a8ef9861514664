"""How quickly graphs are checked, and what one event costs in runs of different sizes, in this process."""

import json
import time
from collections.abc import Callable
from datetime import UTC, datetime
from itertools import pairwise
from statistics import median
from typing import Any

from bench.figures import Figure, Target
from compozy.engine.advance import advance
from compozy.engine.events import RequestAnswered
from compozy.engine.state import RunState
from compozy.language.compile import compile_plan
from compozy.language.compiled import CompiledPlan

NODES = 10_000
SIZES = (10, 100, 1_000, 10_000)
"""How many cells wait for people while one is answered after the other."""
EVENTS = 200
REPETITIONS = 3
_NOW = datetime(2030, 1, 1, tzinfo=UTC)


def graph_figures() -> list[Figure]:
    """Seconds to compile large graphs; microseconds that an answer costs in runs of different sizes."""
    shapes = {"a chain": _chain(NODES), "layers of 100": _layers(NODES), "a star": _star(NODES)}
    compiled = [
        Figure(
            f"compile_graph_{name.split()[-1]}",
            f"compile {NODES} nodes, {name}",
            "s",
            2,
            _seconds(lambda spec=spec: compile_plan(spec)),  # type: ignore[misc]
            target=Target("<", 2.0),
        )
        for name, spec in shapes.items()
    ]
    lanes = {size: _per_event(_lanes(size), "each.{}/choose", size) for size in SIZES}
    asks = {size: _per_event(_asks(size), "a{}", size) for size in SIZES}
    curves = [
        Figure(f"{key}_{size}", f"an answer, {size} {what}", "µs", 0, costs[size] * 1e6)
        for key, what, costs in (("lane_event", "lanes", lanes), ("ask_event", "asks side by side", asks))
        for size in SIZES
    ]
    growth = [
        Figure(
            "lane_growth", "  10,000 lanes to 10", "ratio", 2, lanes[10_000] / lanes[10], target=Target("<", 3.0)
        ),
        Figure("ask_growth", "  10,000 asks to 10", "ratio", 2, asks[10_000] / asks[10], target=Target("<", 3.0)),
    ]
    return [*compiled, *curves, *growth]


def _transform(node_id: str, value: dict[str, Any]) -> dict[str, Any]:
    return {"id": node_id, "class": "action", "kind": "transform", "params": {"map": {"x": value}}}


def _chain(count: int) -> dict[str, Any]:
    nodes = [_transform("n0", {"value": 1})]
    nodes += [_transform(f"n{number}", {"from": f"nodes.n{number - 1}.output.x"}) for number in range(1, count)]
    edges = [{"from": f"n{number - 1}", "to": f"n{number}"} for number in range(1, count)]
    return {"graph": {"nodes": nodes, "edges": edges}}


def _layers(count: int, width: int = 100) -> dict[str, Any]:
    """Each node comes after three of the layer before, and reads one of them."""
    nodes, edges = [], []
    for number in range(count):
        before = [number - width - number % width + (number + step) % width for step in range(3)]
        before = [other for other in before if other >= 0]
        value = {"template": f"{{{{ .nodes.n{before[0]}.output.x }}}}"} if before else {"value": 1}
        nodes.append(_transform(f"n{number}", value))
        edges += [{"from": f"n{other}", "to": f"n{number}"} for other in before]
    return {"graph": {"nodes": nodes, "edges": edges}}


def _star(count: int) -> dict[str, Any]:
    nodes = [_transform("n0", {"value": 1})]
    nodes += [_transform(f"n{number}", {"from": "nodes.n0.output.x"}) for number in range(1, count - 1)]
    nodes.append(_transform("end", {"from": "nodes.n1.output.x"}))
    edges = [{"from": "n0", "to": f"n{number}"} for number in range(1, count - 1)]
    edges += [{"from": f"n{number}", "to": "end"} for number in range(1, count - 1)]
    return {"graph": {"nodes": nodes, "edges": edges}}


def _ask(node_id: str) -> dict[str, Any]:
    params = {"prompt": "?", "expect": {"w": "string"}}
    return {"id": node_id, "class": "control", "kind": "ask", "params": params}


def _asks(count: int) -> CompiledPlan:
    """Questions side by side, and a join after all of them."""
    nodes = [_ask(f"a{number}") for number in range(count)]
    nodes.append(_transform("end", {"value": 1}))
    edges = [{"from": f"a{number}", "to": "end"} for number in range(count)]
    return compile_plan({"graph": {"nodes": nodes, "edges": edges}})


def _lanes(count: int) -> CompiledPlan:
    """A fan-out with a question and a value after it in each lane; as many lanes are open as there may be."""
    nodes = [
        {
            "id": "all",
            "class": "action",
            "kind": "transform",
            "params": {"map": {"n": {"value": list(range(count))}}},
        },
        {
            "id": "each",
            "class": "control",
            "kind": "fan-out",
            "collection": "{{ .nodes.all.output.n }}",
            "max_fan_out": count,
            "max_parallel": min(count, 1_000),
        },
        _ask("choose"),
        _transform("told", {"from": "nodes.choose.output.w"}),
        {"id": "joined", "class": "control", "kind": "collect"},
    ]
    order = ["all", "each", "choose", "told", "joined"]
    edges = [{"from": one, "to": other} for one, other in pairwise(order)]
    return compile_plan(json.loads(json.dumps({"graph": {"nodes": nodes, "edges": edges}})))


def _per_event(plan: CompiledPlan, path: str, size: int) -> float:
    """Seconds that one answer costs, while the others go on waiting."""
    costs = []
    for _ in range(REPETITIONS):
        state = advance(plan, RunState(inputs={}, attended=True), (), _NOW).state
        count = min(EVENTS, size // 2)
        started = time.perf_counter()
        for number in range(count):
            event = RequestAnswered(path.format(number), "respond", {"w": "x"})
            state = advance(plan, state, [event], _NOW).state
        costs.append((time.perf_counter() - started) / count)
    return median(costs)


def _seconds(work: Callable[[], object]) -> float:
    taken = []
    for _ in range(REPETITIONS):
        started = time.perf_counter()
        work()
        taken.append(time.perf_counter() - started)
    return median(taken)
