"""Formatting any plan in any layout: nothing is lost, nothing is said differently, once is enough."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings

from compozy.language.authoring.format import format_text
from compozy.language.authoring.source import Node, Source
from compozy.language.keys import camel
from compozy.language.yaml_text import load
from support.plan_texts import CAMEL, plan_texts

pytestmark = pytest.mark.unit

BOTH = {camel(name): name for name in CAMEL}


def characters(text: str) -> str:
    """Everything in a text but blanks, with one spelling of keys."""
    for other, name in BOTH.items():
        text = text.replace(other, name)
    return "".join(text.split())


def one_spelling(value: Any) -> Any:
    if isinstance(value, dict):
        return [(BOTH.get(key, key), one_spelling(item)) for key, item in value.items()]
    return [one_spelling(item) for item in value] if isinstance(value, list) else (type(value), value)


@settings(max_examples=150, deadline=None)
@given(plan_texts())
def test_once_is_enough(text: str) -> None:
    formatted = format_text(text)
    assert format_text(formatted) == formatted


@settings(max_examples=150, deadline=None)
@given(plan_texts())
def test_it_says_the_same(text: str) -> None:
    assert one_spelling(load(format_text(text)).value) == one_spelling(load(text).value)


@settings(max_examples=150, deadline=None)
@given(plan_texts())
def test_every_character_is_kept_comments_too(text: str) -> None:
    if not text.startswith("{"):
        assert characters(format_text(text)) == characters(text)


def columns(source: Source, node: Node, column: int) -> None:
    """Every key and dash of a block stands where its depth says."""
    if node.is_flow:
        return
    for key, value in node.pairs or ():
        assert source.column(key.start) == column
        columns(source, value, column + 2)
    for item in node.items or ():
        assert source.column(source.dash(item)) == column
        columns(source, item, column + 2)


@settings(max_examples=150, deadline=None)
@given(plan_texts(broken=True))
def test_two_columns_a_level_and_no_blanks_at_the_end(text: str) -> None:
    formatted = format_text(text)
    assert [line for line in formatted.split("\n") if line != line.rstrip()] == []
    # A line end after a last block scalar that had none would be a part of its text.
    assert formatted.strip("\n") + "\n" == formatted if text.endswith("\n") else formatted == formatted.rstrip(" ")
    if not text.startswith("{"):
        source = Source(formatted)
        columns(source, source.root, 0)
