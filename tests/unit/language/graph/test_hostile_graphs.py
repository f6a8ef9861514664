"""Graphs that mean harm: refused with problems of ours, in bounded time, never with a crash."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from compozy.language.graph.kinds import KINDS
from support.graphs import ENVELOPE, EXAMPLES, found, node, places_in, problems, tool, with_value

pytestmark = pytest.mark.unit

junk = st.recursive(
    st.sampled_from(
        [None, True, 0, -1, 1.5, 2**70, "", "x", "{{", "{{ .a }}", "a.b", "1h", "\ud800", float("nan")]
    ),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["x", "id", "route", "type", "properties", "$ref", "a b", ""]), inner, max_size=3
        )
    ),
    max_leaves=6,
)


def test_there_is_an_example_of_every_kind() -> None:
    assert EXAMPLES.keys() == KINDS.keys()


@settings(max_examples=300, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(st.data())
def test_any_value_in_any_place(data: st.DataObject) -> None:
    example = {**EXAMPLES[data.draw(st.sampled_from(sorted(EXAMPLES)))], **ENVELOPE}
    place = data.draw(st.sampled_from(places_in(example)))
    problems([with_value(example, place, data.draw(junk)), tool("b"), tool("c")], "a>b a>c")


@given(junk, junk)
def test_any_nodes_and_edges(nodes: Any, edges: Any) -> None:
    body = node("s", "sub-loop", body={"nodes": nodes, "edges": edges})
    assert found([body, {"id": nodes}])


def test_many_problems_take_no_longer_than_many_nodes() -> None:
    count = 2000
    nodes = [tool(f"n{index}", x="{{ .nodes.last.output }}") for index in range(count)]
    edges = ">".join([*(f"n{index}" for index in range(count)), "last"])
    told = problems([*nodes, tool("last")], edges)
    assert len(told) == count
    assert told[2].message.endswith("those that do: n0, n1")
    assert told[-1].message.endswith("n10, n11 and 1987 more")


def test_a_schema_that_refers_to_itself_ends() -> None:
    circular = {"allOf": [{"$ref": "#"}], "properties": {"a": {"$ref": "#"}}}
    told = found([node("a", "x__y", produces=circular), tool("b", x="{{ .nodes.a.output.a.a.b }}")], "a>b")
    assert ("nodes[0].produces", "schema_reference_circular") in told
    deep = {"properties": {"next": {"$ref": "#"}}}
    path = ".next" * 200
    assert found([node("a", "x__y", produces=deep), tool("b", x=f"{{{{ .nodes.a.output{path} }}}}")], "a>b") == []


@pytest.mark.parametrize("profile", [["watch"], {}, 1, "slow"])
def test_a_profile_of_any_type(profile: Any) -> None:
    assert found([tool("a")], profile=profile) == [("profile", "invalid_value")]
