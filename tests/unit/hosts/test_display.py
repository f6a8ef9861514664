"""Text of strangers cannot pass for anything else on a terminal."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compozy.hosts.display import rows, visible, width

pytestmark = pytest.mark.unit


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain — 日本 é", "plain — 日本 é"),
        ("\x1b[2J", "\\x1b[2J"),
        ("a\rb\tc\x00\x7f\x9b", "a\\rb\\tc\\x00\\x7f\\x9b"),
        ("one\ntwo", "one\\ntwo"),
        ("\u202egnp.exe", "\\u202egnp.exe"),
        ("\u2066x\u2069", "\\u2066x\\u2069"),
        ("zero\u200bwidth\ufeff", "zero\\u200bwidth\\ufeff"),
        ("line\u2028break\u2029", "line\\u2028break\\u2029"),
        ("tag\U000e0041", "tag\\U000e0041"),
        ("half \ud800", "half \\ud800"),
        ("\u3164\u2800", "\\u3164\\u2800"),
        ("e" + "\u0301" * 50, "e" + "\u0301" * 3),
    ],
)
def test_what_cannot_be_seen_is_written_out(text, shown):
    assert visible(text) == shown


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", [""]),
        ("short", ["short"]),
        ("one two three four five six", ["one two three four", "five six"]),
        ("x" * 45, ["x" * 20, "x" * 20, "x" * 5]),
        ("日" * 11, ["日" * 10, "日"]),
        ("a\r\nb\n\nc", ["a", "b", "", "c"]),
        ("a" + "\n" * 500 + "tail", ["a", "(499 empty lines)", "tail"]),
        ("a" + "\n \t" * 500 + "\ntail", ["a", "(500 empty lines)", "tail"]),
        ("  indented", ["  indented"]),
        ("a" + " " * 100 + "b", ["a", "b"]),
    ],
)
def test_rows(text, expected):
    assert rows(text, 20) == expected


@given(st.text() | st.text("ab \n\t日\u0301\x1b"), st.integers(20, 60))
def test_rows_are_safe_and_no_wider_than_the_terminal(text, columns):
    for row in rows(text, columns):
        assert width(row) <= columns
        assert not any(unicodedata.category(character) in ("Cc", "Cf", "Cs", "Zl", "Zp") for character in row)


@given(st.text(st.characters(categories=["L", "N", "P", "S"]), min_size=1).map(visible), st.integers(20, 60))
def test_nothing_is_left_out(text, columns):
    assert "".join(rows(text, columns)) == text
