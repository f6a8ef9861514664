"""The structure of graphs: order, lanes of fan-outs and their collects, and what can never run."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compozy.language.compiled import Block, CollectSpec, FanOutSpec, SubLoopSpec
from support.graphs import arrows, ask, collect, compiled, fan_out, found, graph, made, node, problems, tool

pytestmark = pytest.mark.unit


def body(block: Block, name: str) -> FanOutSpec:
    spec = block.nodes[name].spec
    assert isinstance(spec, FanOutSpec)
    return spec


def shape(block: Block) -> dict[str, Any]:
    """A block by node: what it comes after, and for a fan-out its body."""
    return {
        name: (item.after, shape(item.spec.body)) if isinstance(item.spec, FanOutSpec) else item.after
        for name, item in block.nodes.items()
    }


def test_a_body_is_held_by_its_fan_out() -> None:
    nodes = [tool("a"), fan_out("f"), tool("b"), tool("c"), collect("j"), tool("z")]
    plan = compiled(nodes, "a>f>b>c>j>z")
    assert shape(plan.block) == {"a": (), "f": (("a",), {"b": (), "c": ("b",)}), "j": ("f",), "z": ("j",)}
    assert body(plan.block, "f").results == ("c",)
    assert plan.nodes["j"].spec == CollectSpec("f")
    assert plan.block.dependents["f"] == ("j",)
    assert [item.path for item in body(plan.block, "f").body.nodes.values()] == [
        "graph.nodes[2]",
        "graph.nodes[3]",
    ]


def test_results_are_what_the_collect_comes_after_in_the_order_of_the_edges() -> None:
    nodes = [fan_out("f"), tool("a"), tool("b"), tool("c"), collect("j")]
    assert body(compiled(nodes, "f>a f>b f>c b>j a>j").block, "f").results == ("b", "a")
    assert body(compiled(nodes[:4], "f>a f>b f>c b>c").block, "f").results == ("a", "c")
    assert body(compiled(nodes, "f>a>b f>c f>j").block, "f").results == ("b", "c")


def test_nested_fan_outs_match_like_brackets() -> None:
    nodes = [fan_out("f"), tool("a"), fan_out("g"), tool("b"), collect("h"), tool("c"), collect("j")]
    plan = compiled(nodes, "f>a>g>b>h>c>j")
    assert shape(plan.block) == {
        "f": ((), {"a": (), "g": (("a",), {"b": ()}), "h": ("g",), "c": ("h",)}),
        "j": ("f",),
    }


def test_a_collect_may_be_a_result_of_the_lane_around_it() -> None:
    nodes = [fan_out("f"), fan_out("g"), tool("b"), collect("h"), collect("j")]
    plan = compiled(nodes, "f>g>b>h>j")
    assert body(plan.block, "f").results == ("h",)


def test_nodes_outside_are_awaited_by_the_fan_out() -> None:
    nodes = [tool("o"), fan_out("f"), tool("a"), tool("b"), collect("j")]
    plan = compiled(nodes, "f>a>b>j o>b")
    inner = body(plan.block, "f").body
    assert plan.nodes["f"].awaits == ("o",)
    assert plan.nodes["f"].after == ()
    assert (inner.nodes["b"].after, inner.nodes["b"].outside) == (("a",), ("o",))
    assert list(plan.nodes) == ["o", "f", "j"]
    assert plan.block.dependents["o"] == ("f",)


def test_the_edge_of_the_fan_out_itself_counts_beside_others() -> None:
    """It is live whatever the others are, so a node keeps it where it has others."""
    nodes = [tool("o"), fan_out("f"), tool("a"), tool("b"), tool("c"), collect("j")]
    inner = body(compiled(nodes, "f>a>b>j f>b o>c f>c>j").block, "f").body
    assert inner.nodes["a"].outside == ()
    assert (inner.nodes["b"].after, inner.nodes["b"].outside) == (("a",), ("f",))
    assert (inner.nodes["c"].after, inner.nodes["c"].outside) == ((), ("f", "o"))


def test_nodes_from_two_levels_up_are_awaited_where_they_stand() -> None:
    nodes = [tool("o"), fan_out("f"), tool("p"), fan_out("g"), tool("b"), collect("h"), collect("j")]
    plan = compiled(nodes, "f>p f>g>b>h>j o>b p>b")
    outer = body(plan.block, "f").body
    assert (plan.nodes["f"].awaits, outer.nodes["g"].awaits) == (("o",), ("p",))
    assert body(outer, "g").body.nodes["b"].outside == ("g", "o", "p")


def test_a_collect_may_come_after_nodes_outside_too() -> None:
    nodes = [tool("o"), fan_out("f"), tool("a"), collect("j")]
    assert compiled(nodes, "f>a>j o>j").nodes["j"].after == ("f", "o")


def test_without_a_collect_everything_after_it_is_the_body() -> None:
    nodes = [fan_out("f"), tool("a"), tool("b"), tool("z")]
    assert shape(compiled(nodes, "f>a>b").block) == {"f": ((), {"a": (), "b": ("a",)}), "z": ()}


def test_a_sub_loop_has_a_body_of_its_own() -> None:
    inner = graph([fan_out("f"), tool("x"), collect("j")], "f>x>j")["graph"]
    plan = compiled([tool("a"), node("s", "sub-loop", body=inner)], "a>s")
    spec = plan.nodes["s"].spec
    assert isinstance(spec, SubLoopSpec)
    assert list(spec.body.nodes) == ["f", "j"]
    assert spec.body.nodes["j"].path == "graph.nodes[1].body.nodes[2]"


T = tool
WRONG: dict[str, tuple[list[dict[str, Any]], str, list[tuple[str, str]]]] = {
    "a circle": ([T("a"), T("b"), T("c")], "a>b>c>a", [("edges", "cycle")]),
    "an edge to itself": ([T("a")], "a>a", [("edges", "cycle")]),
    "an id twice": ([T("a"), T("a")], "", [("nodes[1].id", "duplicate_node_id")]),
    "an edge twice": ([T("a"), T("b")], "a>b a>b", [("edges[1]", "duplicate_edge")]),
    "an edge to nothing": ([T("a")], "a>b", [("edges[0].to", "unknown_reference")]),
    "a collect alone": ([T("a"), collect("j")], "a>j", [("nodes[1]", "collect_without_fan_out")]),
    "two collects": (
        [fan_out("f"), T("a"), collect("j"), collect("k")],
        "f>a>j a>k",
        [("nodes[3]", "fan_out_collect_ambiguous")],
    ),
    "a collect after the collect": (
        [fan_out("f"), T("a"), collect("j"), collect("k")],
        "f>a>j>k",
        [("nodes[3]", "collect_without_fan_out")],
    ),
    "lanes without nodes": ([fan_out("f"), collect("j")], "f>j", [("nodes[0]", "fan_out_empty")]),
    "a fan-out that leads nowhere": ([fan_out("f")], "", [("nodes[0]", "fan_out_empty")]),
    "two fan-outs joined": (
        [fan_out("f"), T("a"), fan_out("g"), T("b"), T("c")],
        "f>a>c g>b>c",
        [("nodes[4]", "fan_out_nesting")],
    ),
    "a lane that needs what comes after its collect": (
        [fan_out("f"), T("a"), collect("j"), T("z"), T("b")],
        "f>a>j>z>b a>b",
        [("edges", "fan_out_nesting")],
    ),
    "two fan-outs whose lanes need each other's collects": (
        [fan_out("f"), T("a"), collect("j"), T("b"), fan_out("g"), T("c"), collect("k"), T("d")],
        "f>a>j f>b g>c>k g>d j>d k>b",
        [("edges", "fan_out_nesting")],
    ),
    "behind a branch that is never taken": (
        [node("b", "branch", condition=" ( false ) "), T("a"), T("c")],
        "b>a>c",
        [("nodes[1]", "unreachable_node")],
    ),
    "behind a route that is never taken": (
        [
            node("r", "route", routes=[{"when": "true", "to": "a"}, {"when": "1 == 1", "to": "b"}], default="c"),
            *(T("a"), T("b"), T("c")),
        ],
        "r>a r>b r>c",
        [("nodes[2]", "unreachable_node"), ("nodes[3]", "unreachable_node")],
    ),
    "where a gate never leads": (
        [
            node(
                "g",
                "gate",
                criteria=[{"id": "t", "type": "command", "check": "true"}],
                on_result={"pass": {"route": "a"}},
            ),
            T("a"),
            T("b"),
        ],
        "g>a g>b",
        [("nodes[2]", "unreachable_node")],
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_structures_that_cannot_be_right(name: str) -> None:
    nodes, edges, expected = WRONG[name]
    assert found(nodes, edges) == expected


def test_a_circle_is_named() -> None:
    [problem] = problems([tool("a"), tool("b"), tool("c"), tool("d")], "a>b>c>b c>d")
    assert "b → c → b" in problem.message or "c → b → c" in problem.message


@pytest.mark.parametrize(
    ("nodes", "edges"),
    [
        ([node("b", "branch", condition="false"), tool("a"), tool("c")], "b>a c>a"),
        ([node("b", "branch", condition="false && nodes == {}"), tool("a")], "b>a"),
        (
            [
                node(
                    "g",
                    "gate",
                    criteria=[{"id": "t", "type": "command", "check": "true"}],
                    on_result={"pass": {"route": "a"}},
                    on_error={"route": "b"},
                ),
                tool("a"),
                tool("b"),
            ],
            "g>a g>b",
        ),
        ([ask("a", expires={"after": "1h", "route": "late"}), tool("late"), tool("b")], "a>late a>b"),
    ],
)
def test_ways_that_may_open_are_left_alone(nodes: list[dict[str, Any]], edges: str) -> None:
    assert found(nodes, edges) == []


def test_ids_in_a_body_differ_from_those_around() -> None:
    inner = {"nodes": [tool("a"), tool("x")]}
    nodes = [tool("a"), node("s", "sub-loop", body=inner), node("t", "sub-loop", body={"nodes": [tool("x")]})]
    assert found(nodes) == [("nodes[1].body.nodes[0].id", "duplicate_node_id")]


def test_nesting_is_bounded() -> None:
    nodes = [fan_out(f"f{level}") for level in range(10)] + [tool("a")]
    edges = ">".join([*(f"f{level}" for level in range(10)), "a"])
    assert ("nodes[8]", "nesting_too_deep") in found(nodes, edges)
    inner: dict[str, Any] = {"nodes": [tool("a")]}
    for level in range(10):
        inner = {"nodes": [node(f"s{level}", "sub-loop", body=inner)]}
    path = "nodes[0]" + ".body.nodes[0]" * 8 + ".body"
    assert found(inner["nodes"]) == [(path, "nesting_too_deep")]


@st.composite
def acyclic(draw: st.DrawFn) -> tuple[int, list[tuple[int, int]]]:
    count = draw(st.integers(2, 9))
    pairs = [(one, other) for other in range(count) for one in range(other)]
    return count, draw(st.lists(st.sampled_from(pairs), unique=True, max_size=16))


@given(acyclic())
def test_whatever_comes_before_can_be_named_and_nothing_else(drawn: tuple[int, list[tuple[int, int]]]) -> None:
    count, pairs = drawn
    before: list[set[int]] = [set() for _ in range(count)]
    for other in range(count):
        for one, target in pairs:
            if target == other:
                before[other] |= before[one] | {one}
    edges = " ".join(f"n{one}>n{other}" for one, other in pairs)
    nodes = [tool(f"n{index}") for index in range(count)]
    assert list(compiled(nodes, edges).nodes) == sorted(compiled(nodes, edges).nodes, key=_rank(before))
    for index in range(count):
        for other in range(count):
            reading = [*nodes]
            reading[index] = tool(f"n{index}", x=f"{{{{ .nodes.n{other}.output }}}}")
            assert (found(reading, edges) == []) == (other in before[index])


@st.composite
def anything(draw: st.DrawFn) -> tuple[list[dict[str, Any]], str]:
    """Fan-outs, collects and other nodes, joined at random."""
    kinds = draw(st.lists(st.sampled_from(["fan-out", "collect", "tool", "tool"]), min_size=2, max_size=9))
    make = {"fan-out": fan_out, "collect": collect, "tool": tool}
    nodes = [make[kind](f"n{index}") for index, kind in enumerate(kinds)]
    pairs = [f"n{one}>n{other}" for other in range(len(kinds)) for one in range(other)]
    return nodes, " ".join(draw(st.lists(st.sampled_from(pairs), unique=True, max_size=14)))


def _check(block: Block, around: set[str]) -> set[str]:
    """The nodes of a block and its bodies; each comes after what it depends on, and knows what is around."""
    done: set[str] = set()
    everything: set[str] = set()
    for name, item in block.nodes.items():
        assert {*item.after, *item.awaits} <= done
        assert set(item.outside) <= around
        done.add(name)
        everything.add(name)
        if isinstance(item.spec, FanOutSpec):
            inner = _check(item.spec.body, around | set(block.nodes))
            assert item.spec.results
            assert set(item.spec.results) <= set(item.spec.body.nodes)
            assert not inner & everything
            everything |= inner
        elif isinstance(item.spec, CollectSpec):
            assert item.spec.fan_out in item.after
    return everything


@given(anything())
def test_every_structure_is_refused_or_holds_every_node_once(drawn: tuple[list[dict[str, Any]], str]) -> None:
    nodes, edges = drawn
    if not problems(nodes, edges):
        assert _check(compiled(nodes, edges).block, set()) == {item["id"] for item in nodes}


def _rank(before: list[set[int]]) -> Any:
    """No node may come before one of its own: sorting by this key must change nothing."""
    done: set[int] = set()

    def key(name: str) -> bool:
        index = int(name[1:])
        missing = not before[index] <= done
        done.add(index)
        return missing

    return key


def test_arrows() -> None:
    assert arrows("a>b>c d>c") == [
        {"from": "a", "to": "b"},
        {"from": "b", "to": "c"},
        {"from": "d", "to": "c"},
    ]


def test_what_a_transform_makes_is_closed() -> None:
    assert found([made("a", x=1), made("b", y={"from": "nodes.a.output.z"})], "a>b") == [
        ("nodes[1].params.map.y.from", "unresolvable_path")
    ]
