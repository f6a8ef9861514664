"""Graphs drawn by Hypothesis: as plain descriptions for the reference, and as plans.

A graph is drawn in two passes, first the nodes and edges, then what each node says, for that depends on what comes
before and after it. Nothing is drawn whose meaning would depend on the order in which one event reaches several
nodes, which is left open: the lanes of a strategy that need not wait for all begin with something that waits, and
where lanes run side by side within themselves what fails at once is absorbed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from hypothesis import strategies as st

from support.reference import Expression

MOST_NODES = 11
MOST_LEVELS = 2
SMALL = st.integers(0, 4)
KINDS = ["ask", "tool", "ask", "fan-out", "tool", "route", "ask", "branch", "fan-out", "route", "transform"]
CLASSES = {"tool": "action", "transform": "action"}
Draw = Callable[[st.SearchStrategy[Any]], Any]


class Drawn(NamedTuple):
    """A graph and the inputs of a run of it."""

    graph: dict[str, Any]
    inputs: dict[str, Any]


@st.composite
def drawn_graphs(draw: Draw) -> Drawn:
    """Valid graphs of up to 12 nodes or so, with inputs."""
    sketch = Sketch(draw)
    sketch.level(None, draw(st.sampled_from([4, 5, 6, 3, 2, 1])), [])
    for node in list(sketch.nodes):
        sketch.fill(node)
    inputs = {
        "flag": draw(st.booleans()),
        "count": draw(SMALL),
        "items": draw(st.sampled_from([[1, 2, 3], [4, 0], [3, 3, 0, 1], [2], []])),
    }
    return Drawn({"nodes": sketch.nodes, "edges": sketch.edges}, inputs)


class Sketch:
    """A graph while it is drawn."""

    def __init__(self, draw: Draw) -> None:
        self.draw = draw
        self.nodes: dict[str, dict[str, Any]] = {}
        self.edges: list[tuple[str, str]] = []

    def chance(self, percent: int) -> bool:
        """Whether something happens that happens in so many of a hundred cases; shrinks to no."""
        return bool(self.draw(st.integers(0, 99)) >= 100 - percent)

    def some(self, names: list[str], most: int, least: int = 0) -> list[str]:
        """Some of these names, each once."""
        if not names:
            return []
        return list(self.draw(st.lists(st.sampled_from(names), min_size=least, max_size=most, unique=True)))

    # Nodes and edges.

    def add(self, kind: str, within: str | None, sources: list[str], **more: Any) -> str:
        """A node after some others."""
        node = f"{kind.replace('-', '_')}_{len(self.nodes)}"
        self.nodes[node] = {"kind": kind, "within": within, **more}
        self.edges += [(source, node) for source in dict.fromkeys(sources)]
        return node

    def level(self, within: str | None, count: int, outside: list[str]) -> list[str]:
        """Nodes that stand in the same lanes; returns those that others may come after."""
        found: list[str] = []
        for position in range(count):
            if position and len(self.nodes) >= MOST_NODES:
                break
            kind, sources = self.draw(st.sampled_from(KINDS)), self.some(found, 3, least=int(self.chance(70)))
            if within is not None:
                waits = not position and self.nodes[within]["strategy"][0] != "wait_all"
                kind = self.draw(st.sampled_from(["ask", "tool"])) if waits else kind
                sources += [within] if not sources or self.chance(20) else []
                sources += self.some(outside, 1) if not waits and self.chance(40) else []
            if kind == "fan-out" and len(self.around(within)) < MOST_LEVELS:
                found += self.fan_out(within, sources, found, outside)
            else:
                found.append(self.add("transform" if kind == "fan-out" else kind, within, sources))
        return found

    def around(self, within: str | None) -> list[str]:
        """The fan-outs from one outwards."""
        return [] if within is None else [within, *self.around(self.nodes[within]["within"])]

    def fan_out(self, within: str | None, sources: list[str], beside: list[str], outside: list[str]) -> list[str]:
        """A fan-out with its body and, mostly, its collect; returns the collect."""
        fan_out = self.add(
            "fan-out", within, sources,
            strategy=self.draw(STRATEGIES), batch_size=self.draw(st.sampled_from([1, 1, 1, 2])),
            max_parallel=self.draw(st.integers(1, 3)), max_fan_out=2 if self.chance(8) else 4,
        )  # fmt: skip
        body = self.level(fan_out, self.draw(st.sampled_from([2, 3, 1])), [*outside, *beside])
        if not body or (within is None and self.chance(15)):
            return []
        joined = self.some(body, 3, least=1)
        # A collect that runs although its fan-out was skipped has nothing to join: only one that is never skipped
        # has a collect that comes after others, too.
        also = self.some(beside, 1) if not sources and self.chance(20) else []
        return [self.add("collect", within, [*joined, *also], of=fan_out)]

    # What the nodes say.

    def targets(self, node: str) -> list[str]:
        """The nodes directly after one."""
        return [target for source, target in self.edges if source == node]

    def before(self, node: str) -> list[str]:
        """The nodes whose outputs one may name, in the order in which they were drawn."""
        found, around = {node}, self.around(self.nodes[node]["within"])
        for other in reversed(self.nodes):
            found |= {source for source, target in self.edges if target == other and other in found}
        return [
            name
            for name in self.nodes
            if name in found - {node, *around}
            and len(set(self.around(self.nodes[name]["within"])) - set(around)) < 2
        ]

    def fill(self, node: str) -> None:
        """Draw what a node says."""
        data, targets = self.nodes[node], self.targets(node)
        if data["kind"] == "route" and len(targets) < 2:
            # A route has at least two ways.
            data["kind"] = self.draw(st.sampled_from(["tool", "transform"]))
        data |= self.policy(data, targets)
        absorbs = data.get("error_route") or data.get("allow_fail")
        # What fails at once may do so where nothing else begins in the same lane at the same time.
        risky = bool(absorbs) or all(self.is_chain(fan_out) for fan_out in self.around(data["within"]))
        conditions = self.conditions(node, risky)
        match data["kind"]:
            case "ask":
                data["expires_route"] = self.draw(st.sampled_from([None, *targets]))
                data["default"] = {"n": 3} if self.chance(30) else None
            case "transform":
                data["values"] = self.values(node, risky)
            case "branch":
                data |= {"condition": self.draw(conditions), "exits": self.chance(30)}
            case "route":
                data |= self.ways(targets, data, conditions)
            case "fan-out":
                data["collection"] = self.draw(st.sampled_from(self.collections(node, risky)))
                data["filter"] = self.draw(self.conditions(node, risky, filters=True)) if self.chance(25) else None

    def policy(self, data: Mapping[str, Any], targets: list[str]) -> dict[str, Any]:
        """What follows a failure. In lanes it is mostly that they fail, elsewhere mostly that the run goes on."""
        if data["kind"] == "fan-out":
            joined = any(self.nodes[target].get("of") for target in self.nodes)
            return {} if joined or not self.chance(30) else {"allow_fail": True}
        way = self.draw(st.sampled_from(["none", "none", "route", "allow_fail"][data["within"] is None :]))
        if way == "route" and targets:
            return {"error_route": self.draw(st.sampled_from(targets))}
        return {"allow_fail": True} if way == "allow_fail" else {}

    def ways(
        self, targets: list[str], data: Mapping[str, Any], conditions: st.SearchStrategy[Expression]
    ) -> dict[str, Any]:
        """The ways of a route. The way for its own failure may be one of them, or none."""
        failing = data.get("error_route")
        if failing is not None and len(targets) > 2 and self.draw(st.booleans()):
            targets = [target for target in targets if target != failing]
        *chosen, default = self.draw(st.permutations(targets))
        return {"routes": [(self.draw(conditions), target) for target in chosen], "default": default}

    def is_chain(self, fan_out: str) -> bool:
        """Whether the nodes in a lane can only run one after the other."""
        body = [name for name, data in self.nodes.items() if data["within"] == fan_out]
        inner = [edge for edge in self.steps(body) if edge[0] in body and edge[1] in body]
        return len(inner) == len(body) - 1 and all(
            sum(edge[side] == name for edge in inner) < 2 for name in body for side in (0, 1)
        )

    def steps(self, body: list[str]) -> set[tuple[str, str]]:
        """The edges between nodes of a body; a collect there comes after its fan-out."""
        joins = {(self.nodes[name]["of"], name) for name in body if "of" in self.nodes[name]}
        return joins | set(self.edges)

    def collections(self, node: str, risky: bool) -> list[Expression]:
        """Lists, and what turns out to be none where that may fail."""
        items = Expression("{{ .inputs.items }}", lambda scope: scope.inputs["items"])
        found = [items]
        if risky and self.chance(5):
            found.append(Expression("{{ .inputs.flag }}", lambda scope: scope.inputs["flag"]))
        if risky and self.chance(30):
            found += [_listed(name) for name in self.before(node) if self.is_beside(node, name, "tool")]
        return found

    def is_beside(self, node: str, name: str, *kinds: str) -> bool:
        """Whether another node is of some kind and runs as often as this one, or once for several of it."""
        around = self.around(self.nodes[name]["within"])
        return self.nodes[name]["kind"] in kinds and set(around) <= set(self.around(self.nodes[node]["within"]))

    def values(self, node: str, risky: bool) -> dict[str, Any]:
        """The entries of a transform: a number, and mostly something that it has seen."""
        numbers: list[Any] = [self.draw(SMALL)]
        if self.nodes[node]["within"] is not None:
            numbers.append(Expression("index", lambda scope: scope.index))
        known = self.before(node)
        if risky:
            numbers += [_path(name, "n") for name in known if self.is_beside(node, name, "ask", "tool")]
        values = {"n": self.draw(st.sampled_from(numbers))}
        lanes = [name for name in known if not self.is_beside(node, name, self.nodes[name]["kind"])]
        return values | ({"seen": _path(self.draw(st.sampled_from(lanes or known)))} if known else {})

    def conditions(self, node: str, risky: bool, filters: bool = False) -> st.SearchStrategy[Expression]:
        """Conditions over what a node sees; only risky ones can be errors."""
        bound = self.draw(SMALL)
        found = [
            Expression("inputs.flag", lambda scope: scope.inputs["flag"]),
            Expression(f"inputs.count > {bound}", lambda scope: scope.inputs["count"] > bound),
        ]
        within = self.nodes[node]["within"]
        if risky and self.chance(30):
            found.append(Expression("inputs.count.n > 1", lambda scope: scope.inputs["count"]["n"] > 1))
        if filters or within is not None:
            found += [_index(bound), _index(0), _size() if self.is_batched(node, filters) else _item(bound)]
        for name in self.before(node):
            if self.is_beside(node, name, self.nodes[name]["kind"]):
                found += [_succeeded(name), _is_there(name)]
                if self.nodes[name]["kind"] in ("ask", "tool", "transform"):
                    found.append(_number(name, bound) if risky else _safe_number(name, bound))
            elif self.nodes[name]["within"] is not None:
                found += [
                    _is_there(name),
                    _any_item(name, "failed"),
                    _any_item(name, "canceled"),
                    _count(name, bound),
                ]
        return st.sampled_from(found)

    def is_batched(self, node: str, filters: bool) -> bool:
        """Whether `item` is a list."""
        within = self.nodes[node]["within"]
        return not filters and within is not None and self.nodes[within]["batch_size"] > 1


STRATEGIES = st.sampled_from(
    [
        *[("wait_all", None), ("fail_fast", None), ("race", None)] * 2,
        *(("best_effort", threshold) for threshold in (None, 1, 2, "50%", "67%")),
    ]
)


def _index(bound: int) -> Expression:
    return Expression(f"index > {bound}", lambda scope: scope.index > bound)


def _item(bound: int) -> Expression:
    return Expression(f"item > {bound}", lambda scope: scope.item > bound)


def _size() -> Expression:
    return Expression("size(item) > 1", lambda scope: len(scope.item) > 1)


def _succeeded(name: str) -> Expression:
    return Expression(f'nodes.{name}.status == "succeeded"', lambda scope: scope.status(name) == "succeeded")


def _is_there(name: str) -> Expression:
    return Expression(f"nodes.{name}.output != null", lambda scope: scope.output(name) is not None)


def _number(name: str, bound: int) -> Expression:
    return Expression(f"nodes.{name}.output.n > {bound}", lambda scope: scope.output(name)["n"] > bound)


def _safe_number(name: str, bound: int) -> Expression:
    return Expression(
        f"nodes.{name}.output != null && nodes.{name}.output.n > {bound}",
        lambda scope: scope.output(name) is not None and scope.output(name)["n"] > bound,
    )


def _any_item(name: str, status: str) -> Expression:
    return Expression(
        f'nodes.{name}.items.exists(i, i.status == "{status}")',
        lambda scope: any(item["status"] == status for item in scope.items(name)),
    )


def _count(name: str, bound: int) -> Expression:
    return Expression(f"size(nodes.{name}.items) > {bound}", lambda scope: len(scope.items(name)) > bound)


def _path(name: str, key: str | None = None) -> Expression:
    """The output of a node, or one of its entries, in a transform."""
    if key is None:
        return Expression(f"nodes.{name}.output", lambda scope: scope.output(name))
    return Expression(f"nodes.{name}.output.{key}", lambda scope: scope.output(name)[key])


def _listed(name: str) -> Expression:
    return Expression(f"{{{{ .nodes.{name}.output.list }}}}", lambda scope: scope.output(name)["list"])


# The plan.


def document(graph: Mapping[str, Any], *, backwards: bool = False) -> dict[str, Any]:
    """The spec of the plan that a description describes, its nodes in either order."""
    nodes = [_node(name, data) for name, data in graph["nodes"].items()]
    edges = [{"from": source, "to": target} for source, target in graph["edges"]]
    return {"graph": {"nodes": nodes[::-1] if backwards else nodes, "edges": edges}}


def _node(name: str, data: Mapping[str, Any]) -> dict[str, Any]:
    kind = data["kind"]
    node = {"id": name, "class": CLASSES.get(kind, "control"), "kind": "ext__probe" if kind == "tool" else kind}
    if data.get("error_route"):
        node["on_error"] = {"route": data["error_route"]}
    elif data.get("allow_fail"):
        node["on_error"] = {"allow_fail": True}
    written = {"ask": _ask, "transform": _transform, "branch": _branch, "route": _route, "fan-out": _fan_out}
    return node | (written[kind](data) if kind in written else {})


def _ask(data: Mapping[str, Any]) -> dict[str, Any]:
    expect = {"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}}}
    params: dict[str, Any] = {"prompt": "How many?", "expect": expect}
    if data["expires_route"] is not None:
        params["expires"] = {"after": "1h", "route": data["expires_route"]}
    if data["default"] is not None:
        params |= {"when_unanswered": "default", "default": data["default"]}
    return {"params": params}


def _transform(data: Mapping[str, Any]) -> dict[str, Any]:
    entries = {
        key: {"from": value.text} if isinstance(value, Expression) else {"value": value}
        for key, value in data["values"].items()
    }
    return {"params": {"map": entries}}


def _branch(data: Mapping[str, Any]) -> dict[str, Any]:
    return {"condition": data["condition"].text, "on_eval_error": "exit" if data["exits"] else "fail"}


def _route(data: Mapping[str, Any]) -> dict[str, Any]:
    routes = [{"when": condition.text, "to": target} for condition, target in data["routes"]]
    return {"routes": routes, "default": data["default"]}


def _fan_out(data: Mapping[str, Any]) -> dict[str, Any]:
    kind, threshold = data["strategy"]
    strategy: Any = kind
    if kind == "best_effort":
        told = {"count": threshold} if isinstance(threshold, int) else threshold
        strategy = {"kind": kind, **({} if told is None else {"threshold": told})}
    spec = {key: data[key] for key in ("batch_size", "max_parallel", "max_fan_out")}
    spec |= {"collection": data["collection"].text, "strategy": strategy}
    return spec if data["filter"] is None else {**spec, "filter": data["filter"].text}
