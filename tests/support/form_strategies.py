"""Schemas that forms can show, each with what a person types for every field and the answer that it makes."""

import json
from dataclasses import dataclass, field
from typing import Any

from hypothesis import strategies as st

PLAIN = st.text("abcxyz日", min_size=1, max_size=5)
NAMES = st.text("abcde-_", min_size=1, max_size=4)


@dataclass
class Filled:
    """A schema, the lines typed into its fields, and the answer."""

    schema: dict[str, Any]
    answer: Any
    lines: list[str] = field(default_factory=list)
    pairs: list[tuple[str, str]] = field(default_factory=list)
    """What `--set` gives: dotted names below this schema, empty for itself, and text."""


def _leaf(schema: dict[str, Any], answer: Any, text: str) -> Filled:
    return Filled(schema, answer, [text], [("", text)])


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


@st.composite
def _integers(draw: st.DrawFn) -> Filled:
    least = draw(st.integers(-50, 50))
    number = draw(st.integers(least, least + 50))
    schema = {"type": "integer", "minimum": least, "maximum": least + 50}
    return _leaf(schema, number, str(number))


@st.composite
def _numbers(draw: st.DrawFn) -> Filled:
    number = draw(st.integers(-1000, 1000)) / 4
    return _leaf({"type": "number", "multipleOf": 0.25, "exclusiveMinimum": -1000}, number, repr(number))


@st.composite
def _texts(draw: st.DrawFn) -> Filled:
    bounds, text = draw(
        st.sampled_from(
            [
                ({}, "two words"),
                ({"pattern": "^[a-z]+$"}, "abc"),
                ({"format": "date"}, "2026-01-31"),
                ({"format": "email"}, "a@example.com"),
                ({"minLength": 2, "maxLength": 3}, "日本"),
                ({}, "3"),
                ({}, "[1]"),
            ]
        )
    )
    return _leaf({"type": "string", **bounds}, text, text)


@st.composite
def _booleans(draw: st.DrawFn) -> Filled:
    text = draw(st.sampled_from(["y", "NO", "true", "0"]))
    return _leaf({"type": "boolean"}, text in ("y", "true"), text)


OPTIONS = st.lists(PLAIN | st.integers(2, 99), min_size=1, max_size=4, unique_by=str)


def _spelled(draw: st.DrawFn, options: list[Any]) -> dict[str, Any]:
    """An enum in one of its spellings."""
    titled = [{"const": option, "title": f"Option {index}"} for index, option in enumerate(options)]
    return draw(st.sampled_from([{"enum": options}, {"oneOf": titled}, {"anyOf": titled}]))


@st.composite
def _choices(draw: st.DrawFn) -> Filled:
    options = draw(OPTIONS)
    chosen = draw(st.sampled_from(options))
    return _leaf(_spelled(draw, options), chosen, _as_text(chosen))


@st.composite
def _lists(draw: st.DrawFn) -> Filled:
    options = draw(OPTIONS)
    chosen = draw(st.lists(st.sampled_from(options), unique=True))
    schema = {"type": "array", "items": _spelled(draw, options), "maxItems": len(options), "uniqueItems": True}
    text = ", ".join(map(_as_text, chosen)) if chosen and draw(st.booleans()) else json.dumps(chosen)
    return _leaf(schema, chosen, text)


@st.composite
def _anything(draw: st.DrawFn) -> Filled:
    value = draw(st.sampled_from([None, 3, {"a": [1]}, ["x"], "text"]))
    return _leaf(
        draw(st.sampled_from([{}, {"type": ["object", "array", "string", "null", "integer"]}])),
        value,
        json.dumps(value),
    )


LEAVES = _integers() | _numbers() | _texts() | _booleans() | _choices() | _lists() | _anything()


@st.composite
def _with_default(draw: st.DrawFn) -> Filled:
    """A leaf that is answered with Enter; `--set` has to spell the value out."""
    leaf = draw(LEAVES)
    return Filled({**leaf.schema, "default": leaf.answer}, leaf.answer, [""], leaf.pairs)


@st.composite
def _objects(draw: st.DrawFn, inner: st.SearchStrategy[Filled]) -> Filled:
    parts = draw(st.dictionaries(NAMES, inner | _with_default(), min_size=1, max_size=3))
    required = [name for name in parts if draw(st.booleans())]
    schema = {"type": "object", "properties": {name: part.schema for name, part in parts.items()}}
    made = Filled({**schema, "required": required}, {name: part.answer for name, part in parts.items()})
    for name, part in parts.items():
        made.lines += part.lines
        made.pairs += [(f"{name}.{below}" if below else name, text) for below, text in part.pairs]
    return made


FORMS = _objects(st.recursive(LEAVES, lambda inner: _objects(inner), max_leaves=6))
"""Objects with fields of all kinds, nested."""
