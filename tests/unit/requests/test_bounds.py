"""Prompts, contexts and previews keep their bounds, counted in bytes of UTF-8."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compozy.requests.bounds import MAX_BYTES, bounded_prompt, preview, storable

pytestmark = pytest.mark.unit


def test_a_prompt_is_trimmed():
    assert bounded_prompt("  go?\n\n") == "go?"


@pytest.mark.parametrize("letter", ["a ", "é", "日", "🙂"])
def test_a_long_prompt_says_how_much_is_missing(letter):
    prompt = letter * 20_000
    shown = bounded_prompt(prompt)
    assert len(shown.encode()) <= MAX_BYTES
    kept, cut = shown.removesuffix(" more bytes]").split("… [truncated: ")
    assert prompt.startswith(kept)
    assert len(kept.encode()) + int(cut) == len(prompt.strip().encode())


def test_a_prompt_of_exactly_the_limit_is_kept_whole():
    assert bounded_prompt("a" * MAX_BYTES) == "a" * MAX_BYTES
    assert "truncated" in bounded_prompt("a" * (MAX_BYTES + 1))


@given(st.text(st.characters()).map(lambda text: text * 300))
def test_every_prompt_fits_and_can_be_stored(prompt):
    shown = bounded_prompt(prompt)
    assert len(shown.encode()) <= MAX_BYTES
    assert bounded_prompt(shown) == shown.strip()


def test_half_a_character_cannot_be_stored():
    assert bounded_prompt("a\ud800b") == "a?b"
    assert storable({"\udc00": ["a\ud800", 1, None, {"x": "🙂"}]}) == {"?": ["a?", 1, None, {"x": "🙂"}]}


@pytest.mark.parametrize("letter", ["x", "é", "🙂"])
def test_a_preview_is_the_value_or_its_size_in_bytes(letter):
    assert preview({"a": [1, letter]}) == {"a": [1, letter]}
    width = len(letter.encode())
    count, padding = divmod(MAX_BYTES - len('{"a":""}'), width)
    exact = {"a": letter * count + "." * padding}
    assert preview(exact) == exact
    assert preview({"a": exact["a"] + "x"}) == {"truncated": True, "byte_size": MAX_BYTES + 1}
    assert preview(exact["a"] + "." * 7) == {"truncated": True, "byte_size": MAX_BYTES + 1}


def test_a_preview_has_a_limit_of_its_own():
    assert preview({"a": "xxxx"}, limit=12) == {"a": "xxxx"}
    assert preview({"a": "xxxxx"}, limit=12) == {"truncated": True, "byte_size": 13}
