"""Long lists are read element by element, however they are cut into chunks."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compozy.cli.kube.elements import elements
from compozy.cli.kube.selectors import equal, every

pytestmark = pytest.mark.unit

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)
documents = st.dictionaries(st.text(), values, max_size=4)
layouts = st.sampled_from([None, 1])


def chunks(text: bytes, sizes: list[int]) -> Iterator[bytes]:
    for size in sizes:
        yield text[:size]
        text = text[size:]
    yield text


@given(documents, st.lists(values, max_size=5), st.booleans(), layouts, st.lists(st.integers(0, 9)), st.booleans())
def test_every_element_and_every_other_member(
    others: dict[str, Any], items: list[Any], first: bool, indent: int | None, sizes: list[int], ascii_only: bool
) -> None:
    others.pop("items", None)
    document = {"items": items, **others} if first else {**others, "items": items}
    text = json.dumps(document, indent=indent, ensure_ascii=ascii_only).encode(errors="replace")
    told: dict[str, Any] = {}
    found = list(elements(chunks(text, sizes), "items", told))
    assert {**told, "items": found} == json.loads(text)


@given(documents, st.lists(values, min_size=1, max_size=3), st.data())
def test_what_breaks_off_is_told(others: dict[str, Any], items: list[Any], data: st.DataObject) -> None:
    text = json.dumps({**others, "items": items}).encode()
    cut = text[: data.draw(st.integers(0, len(text) - 1))]
    with pytest.raises(ValueError, match="ends in the middle"):
        list(elements([cut], "items", {}))


def test_what_came_before_is_known_at_the_first_element() -> None:
    told: dict[str, Any] = {}
    rows = elements([b'{"columns": ["a"], "rows": [1, 2', b"3]}"], "rows", told)
    assert (next(rows), told) == (1, {"columns": ["a"]})
    assert list(rows) == [23]


def test_no_more_is_read_than_is_needed() -> None:
    """Memory follows from one element, not from the list."""
    read = 0

    def endless() -> Iterator[bytes]:
        nonlocal read
        yield b'{"items":['
        while True:
            read += 1
            yield b'{"a":1},'

    found = elements(endless(), "items", {})
    assert [next(found) for _ in range(3)] == [{"a": 1}] * 3
    assert read <= 4


@pytest.mark.parametrize("text", [b'{"items": null}', b"{}", b' {"items" : [ ] } \n'])
def test_lists_without_elements(text: bytes) -> None:
    assert list(elements([text], "items", {})) == []


@pytest.mark.parametrize("text", [b"[1]", b'"x"', b"<html>", b'{"a": 1 "b": 2}', b'{"items": [1 2]}', b"\xff"])
def test_what_is_no_list(text: bytes) -> None:
    with pytest.raises(ValueError, match=r"expected|middle|utf-8"):
        list(elements([text], "items", {}))


def test_what_a_person_types_cannot_widen_a_selector() -> None:
    assert equal("spec.run", "a,status.state=Answered\\") == r"spec.run=a\,status.state\=Answered\\"
    assert every(equal("spec.run", "r"), "", equal("spec.item", 0), equal("spec.node", "")) == (
        "spec.run=r,spec.item=0,spec.node="
    )
