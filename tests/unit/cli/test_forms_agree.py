"""One form, three ways to fill it in: at the terminal, with `--set`, and with the answer as JSON."""

import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compozy.cli.answer_flags import payload_of_flags
from compozy.hosts.dialogue import Streams
from compozy.hosts.terminal import Question, ask
from compozy.language.schema import check_schema, field_errors
from compozy.requests.outcome import Answered
from support.form_strategies import FORMS

pytestmark = pytest.mark.unit


def typed(schema, lines):
    shown = io.StringIO()
    found = ask(
        Question("Which?", "E0", schema), Streams(shown, io.StringIO("".join(f"{line}\n" for line in lines)))
    )
    return found, shown.getvalue()


def flags(schema, pairs, payload=None):
    request = {"spec": {"kind": "Ask", "decisions": ["respond"], "expect": schema}}
    return payload_of_flags(request, "respond", payload, [f"{name}={text}" for name, text in pairs])


@given(FORMS)
def test_a_form_a_line_of_flags_and_json_make_the_same_answer(form):
    assert check_schema(form.schema, "") == []
    found, shown = typed(form.schema, form.lines)
    assert found == Answered(form.answer), shown
    assert field_errors(form.schema, form.answer) == {}
    assert flags(form.schema, form.pairs) == form.answer
    assert flags(form.schema, [], json.dumps(form.answer)) == form.answer


@given(FORMS, st.data())
def test_whatever_is_typed_into_a_form_an_answer_conforms(form, data):
    lines = [data.draw(st.sampled_from(["", "x", "3", "y", "[]", "{}", line])) for line in form.lines]
    found, shown = typed(form.schema, [*lines, *["3"] * 4])
    if isinstance(found, Answered):
        assert field_errors(form.schema, found.payload) == {}, shown


def test_a_name_with_dots_is_one_name():
    schema = {"properties": {"a.b": {"type": "integer"}, "c": {"properties": {"d": {"type": "integer"}}}}}
    assert flags(schema, [("a.b", "1"), ("c.d", "2")]) == {"a.b": 1, "c": {"d": 2}}


def test_an_answer_that_is_one_field_is_set_as_a_whole():
    assert flags({"type": "integer"}, [("payload", "3")]) == 3
    assert flags({"properties": {"payload": {"type": "integer"}}}, [("payload", "3")]) == {"payload": 3}


def test_several_options_after_set():
    schema = {"properties": {"tags": {"type": "array", "items": {"enum": ["fix", "docs"]}}}}
    assert flags(schema, [("tags", "fix,docs")]) == flags(schema, [("tags", '["fix", "docs"]')])
