"""A map under change behaves like a copy of a dict, and never touches what it lies over."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rpds import HashTrieMap

from compozy.engine.overlay import Overlay

pytestmark = pytest.mark.unit
keys = st.sampled_from("abcdef")
maps = st.dictionaries(keys, st.integers(1, 9))
changes = st.lists(st.one_of(st.tuples(keys, st.integers(1, 9)), st.tuples(keys, st.none())), max_size=20)


@given(maps, changes)
def test_it_is_a_copy_that_shares(before, changes):
    base = HashTrieMap(before)
    overlay, model = Overlay(base), dict(before)
    for key, value in changes:
        if value is None:
            assert overlay.pop(key) == model.pop(key, None)
        else:
            overlay[key] = model[key] = value
        assert dict(overlay.items()) == model
        assert bool(overlay) == bool(model)
        assert all((key in overlay) == (key in model) and overlay.get(key) == model.get(key) for key in "abcdef")
    assert dict(overlay.frozen()) == model
    assert dict(base) == before
    overlay.clear()
    assert not overlay and not overlay.frozen()
