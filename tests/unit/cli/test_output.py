"""What is printed: tables, times, text that a terminal cannot be fooled by."""

from __future__ import annotations

import json
import unicodedata
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from compozy.cli.output.structured import to_json, to_yaml
from compozy.cli.output.table import Column, Table
from compozy.cli.output.text import block, clean, cut, width
from compozy.cli.output.times import age, parse_time, seconds_only, short_duration, until

pytestmark = pytest.mark.unit

COLUMNS = (Column("NAME"), Column("ITEM"), Column("PROMPT", flexible=True), Column("AGE"))
ROWS = [
    ("release-1", None, "Which channel should this release go to, and really?", "5s"),
    ("質問-2", 0, "Épreuve\tder\nFrage", "10d"),
]


def test_a_table_for_a_pipe() -> None:
    assert Table(COLUMNS, None).lines(ROWS) == [
        "NAME        ITEM     PROMPT                                                 AGE",
        "release-1   <none>   Which channel should this release go to, and really?   5s",
        "質問-2      0        Épreuve der Frage                                      10d",
    ]


def test_a_table_fits_the_terminal() -> None:
    lines = Table(COLUMNS, 50).lines(ROWS)
    assert lines == [
        "NAME        ITEM     PROMPT                    AGE",
        "release-1   <none>   Which channel should t…   5s",
        "質問-2      0        Épreuve der Frage         10d",
    ]


def test_rows_that_come_later_line_up() -> None:
    table = Table(COLUMNS, None)
    first = table.lines(ROWS[:1])
    (later,) = table.lines([("x", 1, "?", "0s")])
    assert later.index("?") == first[0].index("PROMPT")
    assert later.endswith("0s")


def test_no_rows_no_titles() -> None:
    table = Table(COLUMNS, None)
    assert table.lines([]) == []
    assert table.lines([("x", 1, "?", "0s")])[0].startswith("NAME")


def test_a_very_long_cell_is_cut_where_no_terminal_says_so() -> None:
    (_, line) = Table((Column("PROMPT", flexible=True), Column("AGE")), None).lines([("x" * 5000, "1s")])
    assert len(line) < 140
    assert "…" in line


@given(st.text(), st.text(), st.integers(20, 200))
def test_a_row_is_one_line_of_printable_text(name: str, prompt: str, terminal: int) -> None:
    for line in Table((Column("NAME"), Column("PROMPT", flexible=True)), terminal).lines([(name, prompt)]):
        assert not {unicodedata.category(character) for character in line} & {"Cc", "Cf", "Cs", "Zl", "Zp"}


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", "plain"),
        ("a\n\n b\tc", "a b c"),
        ("\x1b[2Jgone", "\\x1b[2Jgone"),
        ("over\u202eturned", "over\\u202eturned"),
        (7, "7"),
    ],
)
def test_clean(text: object, shown: str) -> None:
    assert clean(text) == shown


def test_a_block_shows_the_tail_of_a_text() -> None:
    rows = block("head" + "\n" * 500 + "tail", 40)
    assert (rows[0], rows[-1], len(rows)) == ("  head", "  tail", 3)
    long = block("x" * 5000 + " the end", 80)
    assert long[-1].endswith("the end")
    assert all(width(row) <= 80 for row in long)


@given(st.text(), st.integers(1, 40))
def test_cut_fits(text: str, columns: int) -> None:
    assert width(cut(text, columns)) <= columns


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        (-5, "0s"),
        (0, "0s"),
        (119, "119s"),
        (120, "2m"),
        (150, "2m30s"),
        (599, "9m59s"),
        (600, "10m"),
        (10799, "179m"),
        (10800, "3h"),
        (19800, "5h30m"),
        (28800, "8h"),
        (172799, "47h"),
        (172800, "2d"),
        (270000, "3d3h"),
        (691200, "8d"),
        (63072000, "2y"),
        (66000000, "2y33d"),
    ],
)
def test_durations_read_as_kubectl_writes_them(seconds: int, shown: str) -> None:
    assert short_duration(seconds) == shown


def test_ages_and_deadlines() -> None:
    now = datetime(2026, 5, 1, 12, tzinfo=UTC)
    assert age("2026-05-01T11:00:00Z", now) == "60m"
    assert age(None, now) == "<unknown>"
    assert until("2026-05-04T12:00:00.5Z", now) == "in 3d"
    assert until("2026-05-01T12:00:00Z", now) == "due"
    assert until(None, now) == "<none>"
    assert parse_time("2026-05-01T12:00:00") == now
    assert seconds_only("2026-05-01T14:00:00.999999+02:00") == "2026-05-01T12:00:00Z"
    assert parse_time("2026-05-01T14:00:00.25+02:00") == now + timedelta(milliseconds=250)


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)


@given(values)
def test_json_means_the_value_and_steers_no_terminal(value: Any) -> None:
    text = to_json(value)
    assert json.loads(text) == value
    assert not any(character in text for character in "\x1b\x7f\x9b\u202e\u2066")
    assert "\n" not in to_json(value, indented=False)


def test_yaml_keeps_the_order_and_steers_no_terminal() -> None:
    text = to_yaml({"b": "\x1b[2J\x9b", "a": [1]})
    assert text.startswith("b:")
    assert yaml.safe_load(text) == {"b": "\x1b[2J\x9b", "a": [1]}
    assert not any(character in text for character in "\x1b\x9b")
