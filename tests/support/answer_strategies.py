"""Questions with the answers that people, forms and programs give: fitting, nearly fitting, and anything."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from decimal import Decimal
from typing import Any

from hypothesis import strategies as st

Schema = dict[str, Any]
Node = tuple[Schema, st.SearchStrategy[Any]]
"""A schema, and values that are meant to fit it."""

AGENT = "rita"
"""An agent that exists."""

NAMES = st.sampled_from(["a", "b", "Ünïcode", "payload", "decision", "x.y", "0", "response", "🚀", "a b"])
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
LONE_SURROGATES = st.sampled_from(["\ud800", "a\udc00b", "\udfff"])
STORABLE_NUMBERS = st.one_of(
    st.integers(-3, 12),
    st.integers(-(2**63), 2**63 - 1),
    st.sampled_from([2**53, 2**53 + 1, 0.0, -0.0, 1.0, 2.5, 1e15, 1e16, 2.0**53, 1e21, 1e22, 1e300, 5e-324, 0.1]),
    st.floats(-1e18, 1e18),
    st.integers(2**53, 2**62).map(float),
)
NUMBERS = STORABLE_NUMBERS | st.one_of(
    st.integers(2**63, 2**80),
    st.sampled_from([2**63, -(2**63) - 1, 10**20, 10**21, 10**23, 10**400, 2.0**63, 1e20]),
    st.floats(allow_nan=False, allow_infinity=False),
)
STORABLE_SCALARS = st.one_of(st.none(), st.booleans(), STORABLE_NUMBERS, TEXTS)
SCALARS = STORABLE_SCALARS | NUMBERS | LONE_SURROGATES
ANYTHING = st.recursive(
    SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(NAMES, inner, max_size=3)),
    max_leaves=8,
)

_FORMATS = {
    "date": ["2026-02-28", "2026-13-40", "today"],
    "date-time": ["2026-02-28T10:00:00Z", "2026-02-28 10:00"],
    "email": ["rita@example.com", "rita"],
    "uri": ["https://example.com/a", "no uri"],
    "uuid": ["123e4567-e89b-12d3-a456-426614174000", "123"],
    "ipv4": ["10.0.0.1", "10.0.0.256"],
    "hostname": ["example.com", "-bad-"],
}
_PATTERNS = {
    "[0-9]{4}": ["1234", "a12345", "12"],
    "^[a-z]+$": ["abc", "ABC", "abc\n"],
    r"^\p{L}+$": ["Ünïcode", "1"],
    "^(a+)+$": ["a" * 30, "a" * 30 + "b"],
}


def _text() -> st.SearchStrategy[Node]:
    bounded = st.tuples(st.integers(0, 3), st.integers(0, 5)).map(
        lambda bounds: ({"type": "string", "minLength": bounds[0], "maxLength": sum(bounds)}, TEXTS)
    )
    formats = st.sampled_from(sorted(_FORMATS)).map(
        lambda name: ({"type": "string", "format": name}, st.sampled_from(_FORMATS[name]))
    )
    patterns = st.sampled_from(sorted(_PATTERNS)).map(
        lambda pattern: ({"type": "string", "pattern": pattern}, st.sampled_from(_PATTERNS[pattern]))
    )
    return st.one_of(bounded, formats, patterns)


def _agent() -> st.SearchStrategy[Node]:
    schema: Schema = {"type": "string", "x-compozy-kind": "agent"}
    return st.just((schema, st.sampled_from([AGENT, f" {AGENT} ", "nobody", "No Name", ""])))


@st.composite
def _number(draw: st.DrawFn) -> Node:
    schema: Schema = {"type": draw(st.sampled_from(["integer", "number"]))}
    bounds = st.sampled_from(["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"])
    schema |= draw(st.dictionaries(bounds, STORABLE_NUMBERS, max_size=2))
    if draw(st.booleans()):
        schema["multipleOf"] = draw(st.sampled_from([1, 2, 1.0, 0.5, 0.1, 3, 1e16]))
    return schema, NUMBERS


def _choice() -> st.SearchStrategy[Node]:
    options = st.lists(STORABLE_SCALARS, min_size=1, max_size=4)
    enums = options.map(lambda values: ({"enum": values}, st.sampled_from(values)))
    titled = options.map(
        lambda values: ({"oneOf": [{"const": value, "title": "T"} for value in values]}, st.sampled_from(values))
    )
    return st.one_of(enums, titled, st.just(({"type": "boolean"}, st.booleans())), st.just(({}, ANYTHING)))


@st.composite
def _object(draw: st.DrawFn, inner: st.SearchStrategy[Node]) -> Node:
    fields = draw(st.dictionaries(NAMES, inner, min_size=1, max_size=4))
    schema: Schema = {"type": "object", "properties": {name: node[0] for name, node in fields.items()}}
    schema["required"] = draw(st.lists(st.sampled_from(sorted(fields)), unique=True))
    more = draw(st.sampled_from([None, False, {"type": "string"}]))
    if more is not None:
        schema[draw(st.sampled_from(["additionalProperties", "unevaluatedProperties"]))] = more
    good = {name: node[1] for name, node in fields.items()}
    whole = st.fixed_dictionaries(good)
    return schema, st.one_of(whole, whole, st.fixed_dictionaries({}, optional=good))


@st.composite
def _list(draw: st.DrawFn, inner: st.SearchStrategy[Node]) -> Node:
    schema, good = draw(inner)
    limits = draw(
        st.fixed_dictionaries({}, optional={"minItems": st.integers(0, 2), "maxItems": st.integers(0, 3)})
    )
    extra = {"uniqueItems": True} if draw(st.booleans()) else {}
    return {"type": "array", "items": schema, **limits, **extra}, st.lists(good, min_size=1, max_size=4)


def nodes() -> st.SearchStrategy[Node]:
    """Schemas of any kind, each with values for it."""
    return _nested(st.one_of(_agent(), _text(), _number(), _choice()))


def _nested(leaves: st.SearchStrategy[Node]) -> st.SearchStrategy[Node]:
    return st.recursive(leaves, lambda inner: st.one_of(_object(inner), _list(inner)), max_leaves=6)


def changed(value: Any) -> st.SearchStrategy[Any]:
    """The value with one part of it replaced by anything."""
    if isinstance(value, dict) and value:
        key = st.sampled_from(sorted(value))
        return key.flatmap(lambda name: changed(value[name]).map(lambda part: {**value, name: part}))
    if isinstance(value, list) and value:
        index = st.integers(0, len(value) - 1)
        return index.flatmap(lambda at: changed(value[at]).map(lambda part: [*value[:at], part, *value[at + 1 :]]))
    return ANYTHING


@st.composite
def answers(draw: st.DrawFn) -> tuple[Schema, Any]:
    """A schema of an ask as it is stored, and a payload as somebody sends it."""
    schema, good = draw(_object(nodes()) | _object(_nested(_agent())))
    value = draw(good)
    changes: list[Callable[[Any], st.SearchStrategy[Any]]] = [st.just, changed, lambda _: ANYTHING]
    payload = draw(draw(st.sampled_from([*changes, st.just]))(value))
    return as_stored(schema), payload


def as_stored(value: Any) -> Any:
    """A value as the API server gives it back: numbers are int64 or double, text is valid, names are sorted."""
    if isinstance(value, dict):
        return {as_stored(name): as_stored(value[name]) for name in sorted(value)}
    if isinstance(value, list):
        return [as_stored(part) for part in value]
    if isinstance(value, str):
        return "".join("\ufffd" if "\ud800" <= char <= "\udfff" else char for char in value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value
    if isinstance(value, int) and -(2**63) <= value < 2**63:
        return value
    number = float(value)
    # Go writes a double without an exponent below 1e21, with as few digits as tell it from others, and zeros.
    return int(Decimal(repr(number))) if number.is_integer() and abs(number) < 1e21 else number


def is_sent_unchanged(value: Any) -> bool:
    """Whether the API server stores what was meant: no half of a surrogate pair, no integer beyond 64 bits."""
    if isinstance(value, dict):
        return all(map(is_sent_unchanged, (*value, *value.values())))
    if isinstance(value, list):
        return all(map(is_sent_unchanged, value))
    if isinstance(value, int):
        return -(2**63) <= value < 2**63
    return not isinstance(value, str) or value.isascii() or as_stored(value) == value


def is_json(value: Any) -> bool:
    """Whether the API server takes it at all: a number that no double holds makes it refuse the whole write."""
    text = json.dumps(value)
    try:
        parsed = json.loads(text, parse_int=float)
    except OverflowError:
        return False
    return _is_finite(parsed)


def _is_finite(value: Any) -> bool:
    if isinstance(value, dict):
        return all(map(_is_finite, value.values()))
    if isinstance(value, list):
        return all(map(_is_finite, value))
    return not isinstance(value, float) or math.isfinite(value)
