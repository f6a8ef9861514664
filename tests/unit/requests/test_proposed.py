"""What an edit starts from."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compozy.engine.proposals import digest_of, strict_schema
from compozy.redaction.redactor import PLAIN
from compozy.requests.bounds import preview
from compozy.requests.forms import MISSING, payload_of
from compozy.requests.proposed import Proposed

pytestmark = pytest.mark.unit

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-100, 100)
    | st.text("ab. ", max_size=4)
    | st.just("token=hunter2hunter2"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=12,
)


def started(proposal: Any, shown: Any = MISSING) -> dict[str, Any]:
    """The fields of the form by their names."""
    seen = preview(PLAIN.json(proposal)) if shown is MISSING else shown
    return {field.name: field for field in Proposed(seen, digest_of(proposal)).start(strict_schema(proposal))}


def test_each_field_starts_with_what_is_proposed():
    form = started({"tag": "v1", "deep": {"count": 2}, "hosts": ["a"]})
    assert {name: field.default for name, field in form.items()} == {"tag": "v1", "deep.count": 2, "hosts": ["a"]}
    assert not any(field.hidden for field in form.values())


def test_what_is_hidden_has_no_default_and_must_be_given():
    form = started({"tag": "v1", "password": "hunter2", "url": "https://me:hunter2@example.com/"})
    assert {name for name, field in form.items() if field.hidden} == {"password", "url"}
    assert all(field.default is MISSING and field.required for field in form.values() if field.hidden)
    assert form["tag"].default == "v1"


def test_what_was_left_out_as_a_whole_is_known_nowhere():
    form = started({"text": "word " * 10_000, "truncated": True, "byte_size": 3})
    assert all(field.hidden for field in form.values())


def test_text_that_only_looks_like_a_marker_is_what_is_proposed():
    assert started({"note": "[REDACTED]"})["note"].default == "[REDACTED]"
    assert started({"truncated": True, "byte_size": 3})["byte_size"].default == 3


def test_what_no_marker_explains_is_relied_on_nowhere():
    assert all(field.hidden for field in started({"a": "b", "c": "d"}, {"a": "b?", "c": "d"}).values())
    without = Proposed({"a": "b"}, None).start(strict_schema({"a": "b"}))
    assert [field.hidden for field in without] == [True]


def test_numbers_come_back_from_the_api_server_in_another_spelling():
    assert started({"share": 1.0}, {"share": 1})["share"].default == 1


@given(st.dictionaries(st.sampled_from("abc"), JSON, max_size=3))
def test_a_default_is_never_another_value_than_the_proposed_one(proposal):
    form = started(proposal)
    known = {field.path: field.default for field in form.values() if field.default is not MISSING}
    for path, value in known.items():
        part = proposal
        for name in path:
            part = part[name]
        assert part == value
    assert all(field.hidden == (field.default is MISSING) for field in form.values())
    if not any(field.hidden for field in form.values()) and form:
        assert payload_of(known) == proposal
    if "hunter2" not in json.dumps(proposal):
        assert not any(field.hidden for field in form.values())


def described_less(draw: st.DrawFn, schema: Any) -> Any:
    """A schema of the same value that leaves some of it undescribed, and forbids some of that."""
    if not isinstance(schema, dict) or "properties" not in schema:
        return schema
    kept = {name: described_less(draw, part) for name, part in schema["properties"].items() if draw(st.booleans())}
    required = [name for name in kept if draw(st.booleans())]
    closed = {"additionalProperties": False} if draw(st.booleans()) else {}
    return {"type": "object", "properties": kept, "required": required, **closed}


def is_kept(schema: Any, proposal: Any, payload: Any) -> bool:
    """Whether a payload is a proposal without names, if any, that the schema forbids at their place."""
    if not isinstance(proposal, dict) or not isinstance(payload, dict):
        return bool(proposal == payload)
    schema = schema if isinstance(schema, dict) else {}
    described, is_closed = schema.get("properties", {}), schema.get("additionalProperties") is False
    lost = [name for name in proposal if name not in payload]
    return (
        set(payload) <= set(proposal)
        and all(is_closed and name not in described for name in lost)
        and all(is_kept(described.get(name), proposal[name], part) for name, part in payload.items())
    )


SECRET = st.recursive(
    JSON, lambda inner: st.dictionaries(st.sampled_from(["a", "b", "secret"]), inner, max_size=3)
)


@st.composite
def described_in_part(draw):
    proposal = draw(st.dictionaries(st.sampled_from(["a", "b", "c", "secret"]), SECRET, max_size=3))
    return proposal, described_less(draw, strict_schema(proposal))


@given(described_in_part())
def test_what_the_schema_leaves_out_is_kept_or_asked_for(drawn):
    proposal, schema = drawn
    form = Proposed(preview(PLAIN.json(proposal)), digest_of(proposal)).start(schema)
    values = {}
    for field in form:
        part = proposal
        for name in field.path:
            part = part[name]
        assert field.hidden or field.default == part
        values[field.path] = part
    assert is_kept(schema, proposal, payload_of(values))


def test_an_edit_of_one_field_keeps_what_the_schema_does_not_describe():
    proposal = {"tag": "v1", "deep": {"count": 2, "more": [1, {"x": None}]}}
    schema = {"properties": {"deep": {"type": "object", "properties": {"count": {"type": "integer"}}}}}
    proposed = Proposed(proposal, digest_of(proposal))
    assert proposed.overlay(schema, [("deep", "count")]) == (proposal, [])


def test_what_the_schema_leaves_out_and_is_hidden_must_be_given():
    proposal = {"tag": "v1", "password": "hunter2"}
    proposed = Proposed(PLAIN.json(proposal), digest_of(proposal))
    schema = {"properties": {"tag": {"type": "string"}}}
    assert [field.name for field in proposed.overlay(schema, [("tag",)])[1]] == ["payload"]
    closed = {**schema, "additionalProperties": False}
    assert proposed.overlay(closed, [("tag",)]) == ({"tag": "v1"}, [])


STRING, OBJECT = {"type": "string"}, {"type": "object"}


LONG = "word " * 10_000
CLOSED = {"additionalProperties": False}


@pytest.mark.parametrize(
    ("proposal", "schema"),
    [
        (
            {"credentials": {"user": "u", "more": "m"}},
            {"properties": {"credentials": {"properties": {"user": STRING}}}},
        ),
        ({"a": "x", "text": LONG}, {"properties": {"a": STRING}}),
        ({"a": "x", "text": LONG}, {"required": ["a"]}),
        ({"a": {"x": 1}, "text": LONG}, {"properties": {"a": {"required": ["x"]}, "text": STRING}, **CLOSED}),
    ],
)
def test_nothing_is_lost_of_what_nobody_sees(proposal, schema):
    proposed = Proposed(preview(PLAIN.json(proposal)), digest_of(proposal))
    assert [(field.name, field.hidden) for field in proposed.start({**OBJECT, **schema})] == [("payload", True)]


@pytest.mark.parametrize("deep", [{}, None, 5, {"more": 1}])
def test_what_the_fields_do_not_make_up_again_is_one_field(deep):
    proposal = {"tag": "v1", "deep": deep}
    part = {"properties": {"count": {"type": "integer"}, "more": {"type": "integer"}}, "required": ["count"]}
    schema = {"properties": {"tag": STRING, "deep": part}}
    assert Proposed(proposal, digest_of(proposal)).overlay(schema, [("tag",)]) == (proposal, [])


def test_what_the_schema_forbids_is_left_out():
    proposal = {"tag": "v1", "x": 1}
    for schema in (
        {"properties": {"tag": STRING}, "additionalProperties": False},
        {"properties": {"tag": STRING, "x": False}},
    ):
        assert Proposed(proposal, digest_of(proposal)).overlay(schema, [("tag",)]) == ({"tag": "v1"}, [])


def test_where_even_names_are_not_known_all_of_it_is_given_at_once():
    proposal = {"tag": "v1", "text": "word " * 10_000}
    proposed = Proposed(preview(proposal), digest_of(proposal))
    closed = strict_schema(proposal)
    opened = {**closed, "additionalProperties": True}
    assert [field.name for field in proposed.start(opened)] == ["payload"]
    assert [field.name for field in proposed.start(closed)] == ["tag", "text"]
    marked = Proposed({"[REDACTED]": 1, "tag": "v1"}, digest_of({"ghp_" + "x" * 36: 1, "tag": "v1"}))
    assert [field.name for field in marked.start(opened)] == ["payload"]
