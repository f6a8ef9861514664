"""What is stored of a run: nothing is lost between its status and its pages, and the status stays small."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compozy.engine.generations import kept_for_another_attempt
from compozy.engine.ledger import MAX_INLINE_BYTES, MAX_INLINE_CELLS, MAX_PAGE_BYTES, Ledger, is_large
from compozy.engine.nodes import merged
from compozy.engine.snapshot import from_nodes, to_nodes
from compozy.engine.state import Cell
from compozy.language.compile import compile_plan
from support import plans

pytestmark = pytest.mark.unit
PLAN = compile_plan(
    plans.spec("""
graph:
  nodes:
    - { id: first, class: action, kind: transform, params: { map: { n: { value: [1] } } } }
    - { id: outer, class: control, kind: fan-out, collection: "{{ .nodes.first.output.n }}", max_fan_out: 9 }
    - { id: inner, class: control, kind: fan-out, collection: "{{ .nodes.first.output.n }}", max_fan_out: 9 }
    - { id: leaf, class: action, kind: transform, params: { map: { x: { from: item } } } }
    - { id: joined, class: control, kind: collect }
    - { id: all, class: control, kind: collect }
    - id: loop
      class: control
      kind: sub-loop
      contract: { stop_when: nodes.step.output.x == 1, iteration_cap: 3 }
      body: { nodes: [{ id: step, class: action, kind: transform, params: { map: { x: { value: 1 } } } }] }
  edges:
    - { from: first, to: outer }
    - { from: outer, to: inner }
    - { from: inner, to: leaf }
    - { from: leaf, to: joined }
    - { from: joined, to: all }
    - { from: all, to: loop }
""")
)
PATHS = [
    "first", "outer", "all", "loop", "loop/0/step", "loop/2/step",
    *(f"outer.{index}" for index in range(40)),
    *(f"outer.{index}/inner" for index in range(40)),
    *(f"outer.{index}/inner.{other}" for index in range(40) for other in range(3)),
    *(f"outer.{index}/inner.{other}/leaf" for index in range(40) for other in range(3)),
    *(f"outer.{index}/joined" for index in range(40)),
]  # fmt: skip


@pytest.mark.parametrize(
    ("path", "node", "item"),
    [
        ("first", "first", None),
        ("outer.3", "outer", 3),
        ("outer.3/inner", "inner", 3),
        ("outer.3/inner.0", "outer.3/inner", 0),
        ("outer.3/inner.0/leaf", "outer.3/leaf", 0),
        ("loop/2/step", "loop/step", 2),
    ],
)
def test_a_place_goes_by_node_and_item(path, node, item):
    assert PLAN.address_of(path) == (node, item)
    assert PLAN.path_at(node, item) == path


@pytest.mark.parametrize("path", PATHS)
def test_every_place_is_found_again_by_its_name(path):
    assert PLAN.path_at(*PLAN.address_of(path)) == path


cells = st.builds(
    Cell,
    status=st.sampled_from(["Waiting", "Running", "Succeeded", "Skipped", "Failed"]),
    output=st.one_of(st.none(), st.integers(), st.text(max_size=2_000)),
)


@given(st.lists(st.tuples(st.sampled_from(PATHS), cells), max_size=400))
@settings(max_examples=40, deadline=None)
def test_nothing_is_lost_between_status_and_pages(changes):
    ledger, known, pages = Ledger(), {}, []
    for path, cell in changes:
        if path in known and known[path].is_final:
            continue
        known[path] = cell
        ledger.put(path, ledger.told_of(path, cell, {}))
        moving = ledger.overflow(PLAN.nodes)
        if moving:
            pages.append(ledger.page(PLAN, moving))
            ledger.move(moving, f"page-{len(pages)}")
    stored = merged([*pages, ledger.nodes(PLAN)])
    assert from_nodes(PLAN, stored) == known
    assert sum(page["cells"] for page in ledger.pages) + len(ledger.told) == len(known)
    again = Ledger.of(PLAN, {"nodes": ledger.nodes(PLAN), "pages": ledger.pages})
    assert again.told == ledger.told


def test_a_status_stays_small_whatever_the_fan_out():
    ledger = Ledger()
    for index in range(2_000):
        told = {"status": "Succeeded", "output": {"word": "x" * 100}, "completedAt": "2030-01-01T00:00:00.000000Z"}
        ledger.put(f"outer.{index}/inner", told)
        moving = ledger.overflow(PLAN.nodes)
        if moving:
            assert len(moving) <= MAX_INLINE_CELLS + 1
            ledger.move(moving, f"page-{index}")
        assert len(json.dumps(ledger.nodes(PLAN))) <= MAX_INLINE_BYTES + 10_000
    assert len(ledger.pages) == 2_000 // (MAX_INLINE_CELLS + 1)


def test_what_has_not_ended_is_never_on_a_page():
    ledger = Ledger()
    for index in range(MAX_INLINE_CELLS + 10):
        ledger.put(f"outer.{index}/inner", {"status": "Waiting"})
    assert ledger.overflow(PLAN.nodes) == []


@pytest.mark.parametrize(
    ("output", "large"), [("x" * 16_382, False), ("x" * 16_383, True), (None, False), (7, False)]
)
def test_what_is_large(output, large):
    assert (is_large(output) is not None) is large


def test_another_attempt_keeps_what_has_succeeded():
    states = {
        "first": Cell("Succeeded", {"n": [1]}),
        "outer": Cell("Succeeded", {"count": 2, "indexes": [0, 1]}),
        "outer.0": Cell("Succeeded"),
        "outer.0/inner": Cell("Succeeded", {"count": 0, "indexes": []}),
        "outer.2/inner": Cell("Succeeded", {"count": 1, "indexes": [0]}),
        "outer.2/inner.0": Cell("Failed"),
        "outer.1": Cell("Failed", reason="x"),
        "outer.1/inner": Cell("Canceled"),
        "all": Cell("Failed", reason="fan_out_failed"),
        "loop": Cell("Skipped"),
    }
    kept = kept_for_another_attempt(PLAN, to_nodes(PLAN, states))
    assert from_nodes(PLAN, kept) == {path: states[path] for path in ("first", "outer.0", "outer.0/inner")}


def test_a_page_is_bounded_however_much_a_turn_brings():
    ledger, pages = Ledger(), 0
    for index in range(200):
        ledger.put(f"outer.{index}/inner", {"status": "Succeeded", "output": "y" * 12_000})
    while moving := ledger.overflow(PLAN.nodes):
        assert len(json.dumps(ledger.page(PLAN, moving))) < MAX_PAGE_BYTES + 100_000
        pages += 1
        ledger.move(moving, f"page-{pages}")
    assert pages > 3
    assert len(json.dumps(ledger.nodes(PLAN))) <= MAX_INLINE_BYTES + 10_000


def test_what_would_only_fail_again_is_looked_at_again():
    states = {
        "loop": Cell("Failed", reason="iteration_cap_reached"),
        "loop/0/step": Cell("Succeeded", {"x": 0}),
        "outer": Cell("Succeeded", {"count": 1, "indexes": [0]}),
        "outer.0": Cell("Failed"),
        "all": Cell("Succeeded", None, "fan_out_failed"),
    }
    kept = from_nodes(PLAN, kept_for_another_attempt(PLAN, to_nodes(PLAN, states)))
    assert set(kept) == {"outer", "outer.0", "all"}


def test_what_is_part_of_something_that_stays_stays_whatever_it_has_come_to():
    states = {
        "outer": Cell("Succeeded", {"count": 3, "indexes": [0, 1, 2]}),
        "outer.0": Cell("Succeeded"),
        "outer.0/inner": Cell("Skipped"),
        "outer.1": Cell("Failed", reason="x"),
        "outer.1/inner": Cell("Failed", reason="x"),
        "outer.2": Cell("Canceled"),
        "all": Cell("Succeeded", {"total": 3}),
        "loop": Cell("Failed", reason="x"),
    }
    kept = from_nodes(PLAN, kept_for_another_attempt(PLAN, to_nodes(PLAN, states)))
    assert set(kept) == states.keys() - {"loop"}
