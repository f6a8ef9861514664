"""Values on the command line."""

from __future__ import annotations

import io
import json
import re
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compozy.cli.answer_flags import payload_of_flags
from compozy.cli.errors import CliError
from compozy.cli.values import parse_value, read_inputs, read_json, set_path
from support.proposals import put_for_review

pytestmark = pytest.mark.unit


def test_json_from_three_places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "value.json"
    file.write_text('{"b": 2}')
    monkeypatch.setattr("sys.stdin", io.StringIO('{"c": 3}'))
    assert read_json("--payload", '{"a": 1}') == {"a": 1}
    assert read_json("--payload", f"@{file}") == {"b": 2}
    assert read_json("--payload", "-") == {"c": 3}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "--payload is not JSON"),
        ("", "--payload is not JSON"),
        ("NaN", "--payload is not JSON: NaN is no JSON number"),
        ('{"b": {"a": 1, "c": 2, "a": 1}}', "--payload has 'a' twice in one object"),
        ("[Infinity]", "--payload is not JSON: Infinity is no JSON number"),
        ("@/not/there", "cannot read /not/there"),
        ("[" * 100_000, "--payload is nested more than 64 levels deep"),
        ("[" * 100 + "]" * 100, "is nested more than 64 levels deep"),
        ('{"a": [1, 1e400]}', "--payload a.1 must be a finite number"),
        ('{"a": %s}' % ("9" * 5000), "--payload a must fit in 64 bits"),
        ("-" + "9" * 5000, "--payload must fit in 64 bits"),
        ("[1e20]", "--payload 0 must fit in 64 bits"),
        (r'{"a": "\ud800"}', "--payload a is not valid Unicode text"),
        ("[" + "0," * 200_000 + "0]", "--payload has more than 100000 parts"),
    ],
)
def test_what_is_not_json_is_bad_input(text: str, message: str) -> None:
    with pytest.raises(CliError) as caught:
        read_json("--payload", text)
    assert caught.value.code == "bad_input"
    assert message in caught.value.message
    assert "\n" not in caught.value.message


@given(st.text(max_size=30) | st.text('0123456789eE+-.[]{}:,"\\u \n', max_size=40))
def test_any_text_is_a_value_or_bad_input(text: str) -> None:
    value = parse_value(text)
    assert json.loads(json.dumps(value)) == value
    with suppress(CliError):
        read_json("--payload", f" {text}")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("3", 3),
        ("true", True),
        ('"3"', "3"),
        ("beta", "beta"),
        ("", ""),
        ("[1]", [1]),
        ("NaN", "NaN"),
        ("1e400", "1e400"),
        ("9" * 5000, "9" * 5000),
        ("1.0.0", "1.0.0"),
    ],
)
def test_a_value_is_json_where_it_can_be(text: str, value: Any) -> None:
    assert parse_value(text) == value


def test_single_inputs_override_the_document() -> None:
    assert read_inputs('{"a": 1, "b": {"c": 2}}', ["a=2", "d=x=y"]) == {"a": 2, "b": {"c": 2}, "d": "x=y"}
    assert read_inputs(None, []) == {}


def test_a_single_input_is_text_where_the_plan_wants_text() -> None:
    schema = {"properties": {"version": {"type": "string"}, "count": {"type": "integer"}, "any": {}}}
    pairs = ["version=2", "count=2", "any=2", "other=2"]
    assert read_inputs(None, pairs, schema) == {"version": "2", "count": 2, "any": 2, "other": 2}
    assert read_inputs(None, ['version="2"'], schema) == {"version": "2"}
    assert read_inputs('{"version": 2}', [], schema) == {"version": 2}


@pytest.mark.parametrize(("document", "pairs"), [("[1]", []), (None, ["a"]), (None, ["=1"])])
def test_inputs_that_cannot_be(document: str | None, pairs: list[str]) -> None:
    with pytest.raises(CliError) as caught:
        read_inputs(document, pairs)
    assert caught.value.code == "bad_input"


def test_a_dotted_path_makes_objects() -> None:
    target: dict[str, Any] = {"a": {"b": 1}}
    set_path(target, ("a", "c", "d"), 2)
    assert target == {"a": {"b": 1, "c": {"d": 2}}}
    with pytest.raises(CliError):
        set_path(target, ("a", "b", "c"), 3)


REQUEST = {
    "spec": {
        "kind": "Ask",
        "decisions": ["respond"],
        "expect": {
            "type": "object",
            "properties": {
                "version": {"type": "string"},
                "count": {"type": "integer"},
                "sure": {"type": "boolean"},
                "channel": {"enum": ["stable", "beta"]},
                "assignment": {"type": "object", "properties": {"reviewer": {"type": "string"}}},
            },
        },
    }
}


def test_set_follows_the_type_of_the_field() -> None:
    pairs = ["version=3", "count=3", "sure=YES", "channel=Beta", "assignment.reviewer=7"]
    assert payload_of_flags(REQUEST, "respond", '{"count": 1, "kept": null}', pairs) == {
        "version": "3",
        "count": 3,
        "sure": True,
        "channel": "beta",
        "assignment": {"reviewer": "7"},
        "kept": None,
    }


@pytest.mark.parametrize("pair", ["count=many", "sure=perhaps", "channel=nightly"])
def test_set_with_a_value_that_is_none_of_the_field(pair: str) -> None:
    with pytest.raises(CliError) as caught:
        payload_of_flags(REQUEST, "respond", None, [pair])
    assert caught.value.code == "request_validation_failed"
    assert list(caught.value.details) == [pair.split("=")[0]]


@pytest.mark.parametrize(
    ("pair", "told"),
    [
        ("Count=3", "did you mean count?"),
        ("chanel=beta", "did you mean channel?"),
        ("assignment.boss=x", "did you mean assignment.reviewer?"),
        ("unheard=[1]", "there is version, count, sure, channel, assignment.reviewer."),
    ],
)
def test_set_of_what_is_no_field_is_a_slip(pair: str, told: str) -> None:
    with pytest.raises(CliError, match=re.escape(told)) as caught:
        payload_of_flags(REQUEST, "respond", None, [pair])
    name = pair.split("=")[0]
    assert (caught.value.code, caught.value.details) == ("bad_input", {name: "no such field"})


@pytest.mark.parametrize(
    "more",
    [{"additionalProperties": True}, {"additionalProperties": {"type": "integer"}}, {"patternProperties": {}}],
)
def test_set_gives_further_names_where_the_author_wants_some(more: dict[str, Any]) -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string"}}, **more}
    request = {"spec": {"kind": "Ask", "expect": schema}}
    assert payload_of_flags(request, "respond", None, ["b=3"]) == {"b": 3}


def test_set_reaches_into_a_field_and_sets_a_whole_object() -> None:
    inner = {"type": "object", "properties": {"x": {"type": "string"}}}
    schema = {"type": "object", "properties": {"free": {"type": "object"}, "deep": inner}}
    request = {"spec": {"kind": "Ask", "expect": schema}}
    given = ["free.more=1", 'deep={"x": "y"}']
    assert payload_of_flags(request, "respond", None, given) == {"free": {"more": 1}, "deep": {"x": "y"}}


def test_set_of_a_name_with_an_equals_sign() -> None:
    properties = {"a": {"type": "string"}, "eq=name": {"type": "string"}}
    request = {"spec": {"kind": "Ask", "expect": {"type": "object", "properties": properties}}}
    pairs = ["eq=name=foo", "a=b=c"]
    assert payload_of_flags(request, "respond", None, pairs) == {"eq=name": "foo", "a": "b=c"}


def test_a_payload_need_not_be_an_object() -> None:
    assert payload_of_flags(REQUEST, "respond", "3", []) == 3
    with pytest.raises(CliError, match="needs a payload that is an object"):
        payload_of_flags(REQUEST, "respond", "3", ["a=1"])


PROPOSAL = {"tag": "v1", "api_key": "k-123456", "labels": {"team": "web", "token": "abc"}, "hosts": ["a"]}


def test_set_finds_names_with_dots_beside_what_the_schema_describes() -> None:
    proposal = {"tag": "v1", "a.b": 1, "ann": {"app.k8s.io/x": "q", "other": [1]}}
    request = put_for_review(proposal)
    request["spec"]["editSchema"] = {"type": "object", "properties": {"tag": {"type": "string"}}}
    changed = payload_of_flags(request, "edit", None, ["a.b=2", "ann.app.k8s.io/x=r", "ann.new=3", "tag=v2"])
    assert changed == {"tag": "v2", "a.b": 2, "ann": {"app.k8s.io/x": "r", "other": [1], "new": 3}}


def test_set_changes_those_fields_of_what_is_proposed() -> None:
    open_proposal = {"tag": "v1", "count": 2, "labels": {"team": "web"}, "hosts": [{"name": "a"}], "none": None}
    request = put_for_review(open_proposal)
    changed = payload_of_flags(request, "edit", None, ["count=3", "labels.team=ops"])
    assert changed == {**open_proposal, "count": 3, "labels": {"team": "ops"}}
    assert request == put_for_review(open_proposal)


def test_a_payload_takes_the_place_of_the_proposal() -> None:
    request = put_for_review(PROPOSAL)
    assert payload_of_flags(request, "edit", '{"tag": "v2"}', []) == {"tag": "v2"}
    assert payload_of_flags(request, "edit", '{"tag": "v2"}', ["hosts=[]"]) == {"tag": "v2", "hosts": []}


@pytest.mark.parametrize(
    ("proposal", "pairs", "missing"),
    [
        (PROPOSAL, ["tag=v2"], ["api_key", "labels.token"]),
        (PROPOSAL, ["api_key=a"], ["labels.token"]),
        ({"text": "word " * 10_000, "tag": "v1"}, ["tag=v2"], ["text"]),
        ({"steps": [{"token": "abc"}]}, ["steps.more=1"], ["steps"]),
        ({"q7Rk2Lx9TzPw4Vb8Nc3Mf6Hs1Jd5Gy0A": 1, "tag": "v1"}, ["tag=v2"], ["q7Rk2Lx9TzPw4Vb8Nc3Mf6Hs1Jd5Gy0A"]),
    ],
)
def test_what_is_not_shown_in_full_is_not_kept(proposal: Any, pairs: list[str], missing: list[str]) -> None:
    with pytest.raises(CliError, match="not shown in full") as caught:
        payload_of_flags(put_for_review(proposal), "edit", None, pairs)
    assert caught.value.code == "bad_input"
    assert list(caught.value.details) == missing
    assert "--payload JSON" in caught.value.redacted().as_line()


def test_what_is_hidden_can_be_given_alone_or_with_what_it_is_in() -> None:
    request = put_for_review(PROPOSAL)
    alone = payload_of_flags(request, "edit", None, ["api_key=a", "labels.token=b"])
    assert alone == {**PROPOSAL, "api_key": "a", "labels": {"team": "web", "token": "b"}}
    whole = payload_of_flags(request, "edit", None, ["api_key=a", 'labels={"team": "x", "token": "c"}'])
    assert whole == {**PROPOSAL, "api_key": "a", "labels": {"team": "x", "token": "c"}}
    long = put_for_review({"text": "word " * 10_000, "tag": "v1"})
    assert payload_of_flags(long, "edit", None, ["text=short", "tag=v1"]) == {"text": "short", "tag": "v1"}
