"""Graph plans in few words, for tests of the compiler."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from compozy.language.compile import compile_plan
from compozy.language.compiled import CompiledPlan
from compozy.language.problems import PlanInvalid, Problem

CLASSES = {
    **dict.fromkeys(("ask", "route", "branch", "fan-out", "collect", "gate", "wait", "sub-loop"), "control"),
    "input": "source",
}


def node(node_id: str, kind: str, **values: Any) -> dict[str, Any]:
    """A node of the class that its kind has."""
    return {"id": node_id, "class": CLASSES.get(kind, "action"), "kind": kind, **values}


def tool(node_id: str, **params: Any) -> dict[str, Any]:
    """A call of a tool, which may be what any node is where only the structure counts."""
    return node(node_id, "x__y", params=params)


def ask(node_id: str, **params: Any) -> dict[str, Any]:
    """A question, by default for a text `env`."""
    return node(node_id, "ask", params={"prompt": "?", "expect": {"env": "string"}, **params})


def made(node_id: str, **entries: Any) -> dict[str, Any]:
    """A transform: each key is a literal value, or an object with `from` or `template`."""
    given = {
        key: value
        if isinstance(value, dict) and value.keys() & {"from", "template", "value"}
        else {"value": value}
        for key, value in entries.items()
    }
    return node(node_id, "transform", params={"map": given})


def fan_out(node_id: str, **values: Any) -> dict[str, Any]:
    """A fan-out over a list that is written down."""
    return node(node_id, "fan-out", **{"collection": [1, 2, 3], "max_fan_out": 10, **values})


def collect(node_id: str) -> dict[str, Any]:
    """A collect."""
    return node(node_id, "collect")


def graph(nodes: list[dict[str, Any]], edges: str = "", **more: Any) -> dict[str, Any]:
    """A plan. Edges are written `a>b>c d>c`."""
    return {"graph": {"nodes": nodes, "edges": arrows(edges)}, **more}


def arrows(text: str) -> list[dict[str, str]]:
    """Edges written as chains: `a>b>c d>c`."""
    found = []
    for chain in text.split():
        names = chain.split(">")
        found += [{"from": one, "to": other} for one, other in pairwise(names)]
    return found


def compiled(nodes: list[dict[str, Any]], edges: str = "", **more: Any) -> CompiledPlan:
    """The plan, which must be right."""
    return compile_plan(graph(nodes, edges, **more))


def problems(nodes: list[dict[str, Any]], edges: str = "", **more: Any) -> list[Problem]:
    """What is wrong with a plan; empty where nothing is."""
    try:
        compile_plan(graph(nodes, edges, **more))
    except PlanInvalid as error:
        return list(error.problems)
    return []


def found(nodes: list[dict[str, Any]], edges: str = "", **more: Any) -> list[tuple[str, str]]:
    """Path and code of everything that is wrong, the beginning `graph.` left out."""
    return [(problem.path.removeprefix("graph."), problem.code) for problem in problems(nodes, edges, **more)]


def places_in(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Where something stands in a document, at any depth."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [place for key, child in items for place in ((*path, key), *places_in(child, (*path, key)))]


def with_value(value: Any, place: tuple[Any, ...], new: Any) -> Any:
    """The document with something else in that place."""
    if not place:
        return new
    copy = list(value) if isinstance(value, list) else dict(value)
    copy[place[0]] = with_value(value[place[0]], place[1:], new)
    return copy


EXAMPLES: dict[str, dict[str, Any]] = {
    "ask": ask("a", context={"x": "y"}, responders={"users": ["x"]}, expires={"after": "1h", "route": "b"}),
    "route": node("a", "route", routes=[{"when": "true", "to": "b"}], default="c"),
    "branch": node("a", "branch", condition="true", on_eval_error="exit"),
    "fan-out": fan_out("a", filter="true", strategy={"kind": "race"}, bind_as="x", index_as="y", batch_size=1),
    "collect": collect("a"),
    "gate": node("a", "gate", criteria=[{"id": "x", "type": "human", "prompt": "p"}], on_result={"pass": "halt"}),
    "wait": node("a", "wait", params={"for": "1h"}),
    "sub-loop": node("a", "sub-loop", body={"nodes": [tool("x")], "edges": []}, contract={"stop_when": "true"}),
    "transform": made("a", x=1),
    "run-loop": node("a", "run-loop", params={"loop": "x", "inputs": {}}),
    "run-agent": node("a", "run-agent", params={"agent": "x", "prompt": "y", "output_schema": {"z": "string"}}),
    "input": node("a", "input", input_ref="x"),
}
ENVELOPE = {
    "timeout": "1s",
    "deadline": "1s",
    "retry": {"max_attempts": 1, "backoff": {"base": "1s"}},
    "on_error": {"route": "b"},
    "produces": {"x": "string"},
    "review": {"when": "true", "decisions": ["approve"], "on_reject": {"route": "b"}},
}
