"""A question in full, a preview of it, and what a run delivers."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compozy.cli.answer_flags import schema_of
from compozy.cli.errors import CliError
from compozy.cli.flags import Flags
from compozy.cli.preview import PROMPT_CHARACTERS, outline, preview
from compozy.cli.question import field_lines, question_lines
from compozy.cli.result import deliver, envelope
from compozy.cli.session import Session
from compozy.language.shapes.subschemas import KEYWORDS
from compozy.requests.bounds import MAX_BYTES

pytestmark = pytest.mark.unit

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)


def question(name: str, node: str, item: int | None = None, **fields: Any) -> dict[str, Any]:
    spec = {
        "run": "rel",
        "generation": 1,
        "node": node,
        "kind": "Ask",
        "prompt": f"About {name}?",
        "expect": {
            "type": "object",
            "required": ["channel"],
            "properties": {
                "channel": {"enum": ["stable", "beta"], "description": "Release channel"},
                "reviewer": {"type": "string", "x-compozy-kind": "agent", "default": "ann"},
                "nested": {"type": "object", "properties": {"sure": {"type": "boolean"}}},
            },
        },
        "decisions": ["respond", "decline", "unavailable"],
        "responders": {"agents": "deny", "initiator": "allow"},
        **fields.pop("spec", {}),
    }
    if item is not None:
        spec["item"] = item
    return {
        "apiVersion": "compozy.dev/v1alpha1",
        "kind": "HumanRequest",
        "metadata": {
            "name": name,
            "namespace": "team",
            "uid": name,
            "creationTimestamp": "2026-05-01T11:50:00Z",
            "managedFields": [{}],
        },
        "spec": spec,
        **fields,
    }


def test_a_question_in_full() -> None:
    asked = question(
        "q1",
        "E1/do",
        4,
        spec={
            "prompt": "First line\nsecond \x1b[2Jline",
            "context": {"release": "1.4.0"},
            "expiresAt": "2026-05-03T12:00:00.123456Z",
            "responders": {"agents": "allow", "users": ["ann"], "groups": ["ops"], "initiator": "deny"},
        },
    )
    assert question_lines(asked, NOW, 80) == [
        "humanrequest/q1  Pending",
        "",
        "  First line",
        "  second \\x1b[2Jline",
        "",
        "Asked by:    rel/E1/do, generation 1, item 4",
        "Opened:      2026-05-01T11:50:00Z (10m ago)",
        "Expires:     2026-05-03T12:00:00Z (in 2d)",
        "Decisions:   respond, decline",
        "May answer:  user ann, group ops; agents too, not whoever started the run",
        "",
        "Context:",
        "  {",
        '    "release": "1.4.0"',
        "  }",
        "",
        "Fields:",
        "  channel — Release channel [stable | beta]",
        '  reviewer [agent name, default "ann", optional]',
        "  nested.sure [y/n, optional]",
        "",
        "Answer it: kubectl compozy respond q1 -n team",
    ]


def test_a_review_shows_what_an_approval_admits() -> None:
    spec = {
        "kind": "Review",
        "decisions": ["approve", "edit"],
        "proposedPreview": {"tag": "1.4.0"},
        "proposalDigest": "sha256:abc",
        "editSchema": {"type": "object", "properties": {"tag": {"type": "string"}}},
        "revision": "release-5d9c",
    }
    lines = question_lines(question("q1", "publish", spec=spec), NOW, None)
    for told in (
        "Decisions:   approve, edit",
        "Digest:      sha256:abc",
        "Revision:    release-5d9c",
        "Proposed:",
    ):
        assert told in lines
    assert lines[lines.index("Fields of edit:") + 1] == "  tag [text, optional]"


EITHER = {"description": "How", "oneOf": [{"type": "string"}, {"type": "array", "items": {"type": "integer"}}]}


def test_what_no_form_says_is_shown_as_its_schema() -> None:
    assert field_lines({"required": ["how"], "properties": {"how": EITHER, "any": {}}}, 40)[:5] == [
        "  how — How [json]",
        "    {",
        '      "description": "How",',
        '      "oneOf": [',
        "        {",
    ]
    assert field_lines({"properties": {"any": {}}}, 40) == ["  any [json, optional]"]
    assert field_lines({"type": "object", "properties": {}}, 40) == ["  <none: agreeing is the answer>"]


@pytest.mark.parametrize(
    "schema",
    [{"properties": None}, {"$ref": "https://example.com/"}, {"required": 3}, {"type": "nothing"}, {"enum": 1}],
)
def test_an_old_question_whose_schema_cannot_be_used_can_still_be_looked_at(schema: dict[str, Any]) -> None:
    asked = question("q1", "E0", spec={"expect": schema})
    lines = question_lines(asked, NOW, 80)
    assert "  <nobody can answer this: no value can be held to its schema>" in lines
    assert json.loads("".join(line for line in lines if line.startswith("    "))) == schema
    with pytest.raises(CliError, match="nobody can answer this question"):
        schema_of(asked, "respond")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.sampled_from(["array", "object", "string", "\x1b", "#/a"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from([*sorted(KEYWORDS), "x-compozy-order", "a"]), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(st.dictionaries(st.sampled_from([*sorted(KEYWORDS), "a"]), JSON, max_size=4))
def test_any_schema_can_be_looked_at(schema: dict[str, Any]) -> None:
    lines = field_lines({"type": "object", "properties": {"a": schema}}, 80) + field_lines(schema, 80)
    assert lines
    assert all(line.startswith("  ") and line.isprintable() for line in lines)


def reviewed(name: str, **fields: Any) -> dict[str, Any]:
    """A question that two people of the leads must approve; ann has."""
    responders = {"agents": "deny", "initiator": "allow", "groups": ["leads"], "approvals": 2}
    spec = {"kind": "Review", "decisions": ["approve", "reject"], "responders": responders}
    ann = {"responder": "ann", "uid": "u-1", "groups": ["leads"], "note": "two\nlines"}
    return question(name, "publish", spec=spec, approvals=[ann], **fields)


def test_a_question_that_several_must_approve_shows_who_has() -> None:
    asked = reviewed("q1")
    key = 'k:{"responder":"ann"}'
    managed = {"fieldsV1": {"f:approvals": {key: {}}}, "time": "2026-05-01T11:55:00Z"}
    asked["metadata"]["managedFields"] = [managed]
    lines = question_lines(asked, NOW, None)
    at = lines.index("Approvals:   needs 2 people; 1 has approved; who rejects decides at once")
    assert lines[at + 1] == "             ann (leads), 2026-05-01T11:55:00Z (5m ago): two lines"
    del asked["metadata"]["managedFields"]
    assert question_lines(asked, NOW, None)[at + 1] == "             ann (leads): two lines"
    nobody = question_lines({**asked, "approvals": []}, NOW, None)
    assert nobody[at] == "Approvals:   needs 2 people; nobody has approved yet; who rejects decides at once"
    decided = question_lines({**asked, "response": {"decision": "approve", "responder": "bob"}}, NOW, None)
    assert decided[at] == "Approvals:   2 of 2 approvals, by different people"


def test_a_decision_shows_the_groups_that_let_somebody_make_it() -> None:
    response = {"decision": "approve", "responder": "bob", "groups": ["leads"], "note": "ship it"}
    status = {"state": "Answered", "resolvedAt": "2026-05-01T11:55:00Z"}
    lines = question_lines(reviewed("q1", response=response, status=status), NOW, None)
    assert "Answer:      approve by bob (leads), 2026-05-01T11:55:00Z (5m ago)" in lines
    assert "Note:        ship it" in lines
    assert any(line.startswith("Approvals:   2 of 2") for line in lines)


def test_a_preview_tells_who_has_said_what_without_their_notes() -> None:
    response = {"decision": "approve", "responder": "bob", "groups": ["leads"], "note": "n" * 4000, "payload": 1}
    shown = preview(reviewed("q1", response=response))
    assert shown["approvals"] == [{"responder": "ann", "uid": "u-1", "groups": ["leads"]}]
    assert shown["response"] == {"decision": "approve", "responder": "bob", "groups": ["leads"]}


def test_an_answered_question_shows_its_answer() -> None:
    asked = question(
        "q1",
        "E0",
        response={"decision": "respond", "responder": "bob", "payload": {"channel": "beta"}, "note": "ok"},
        status={"state": "Answered", "resolvedAt": "2026-05-01T11:59:00Z"},
    )
    lines = question_lines(asked, NOW, None)
    assert "Answer:      respond by bob, 2026-05-01T11:59:00Z (60s ago)" in lines
    assert lines[-5:] == ["", "Payload:", "  {", '    "channel": "beta"', "  }"]
    assert "Note:        ok" in lines


def test_a_payload_that_no_decision_took_is_told_as_such() -> None:
    response = {"decision": "approve", "responder": "bob", "payload": {"tag": "x"}}
    lines = question_lines(reviewed("q1", response=response, status={"state": "Answered"}), NOW, None)
    assert "Payload (without effect: approve takes none):" in lines


def test_an_answer_that_was_handed_back_says_why() -> None:
    rejection = {"code": "request_validation_failed", "by": "bob", "fields": {"channel": "is required"}, "at": "t"}
    asked = question("q1", "E0", status={"state": "Pending", "lastRejection": rejection})
    told = "Handed back: request_validation_failed, answer of bob. channel: is required"
    assert told in question_lines(asked, NOW, None)


def test_a_request_without_a_status_has_just_opened() -> None:
    assert question_lines(question("q1", "E0"), NOW, None)[0] == "humanrequest/q1  Pending"
    assert preview(question("q1", "E0"))["status"] == {"state": "Pending"}


def test_a_preview_is_bounded_and_keeps_the_answer_to_itself() -> None:
    asked = question(
        "q1",
        "E0",
        spec={"prompt": "x" * 20_000, "context": {"log": "é" * 50_000}},
        response={"decision": "respond", "responder": "bob", "payload": {"secret": 1}, "note": "n"},
    )
    shown = preview(asked)
    assert len(shown["spec"]["prompt"]) == PROMPT_CHARACTERS
    assert shown["spec"]["prompt"].endswith("…")
    assert shown["spec"]["context"] == {"truncated": True, "byte_size": 100_010}
    assert shown["spec"]["expect"] == asked["spec"]["expect"]
    assert shown["response"] == {"decision": "respond", "responder": "bob"}
    assert "managedFields" not in shown["metadata"]
    assert len(asked["spec"]["prompt"]) == 20_000


@pytest.mark.parametrize(("over", "cut"), [(0, False), (1, True)])
@pytest.mark.parametrize("key", ["context", "proposedPreview", "expect", "editSchema", "respondSchema"])
def test_a_value_of_a_preview_has_at_most_16_kib(key: str, over: int, cut: bool) -> None:
    """Counted in bytes, as what is stored is."""
    value = {"log": "x" * (MAX_BYTES - len('{"log":""}') + over)}
    shown = preview(question("q1", "E0", spec={key: value}))["spec"][key]
    assert shown == ({"truncated": True, "byte_size": MAX_BYTES + over} if cut else value)


def test_an_outline_has_nothing_that_grows() -> None:
    keys = ("context", "expect", "editSchema", "respondSchema", "proposedPreview")
    free = {key: {"x": "y" * 9000} for key in keys}
    shown = outline(question("q1", "E0", spec={**free, "prompt": "x" * 20_000}))
    assert len(json.dumps(shown)) < PROMPT_CHARACTERS + 1000
    assert shown["metadata"]["name"] == "q1"


def finished(phase: str, **status: Any) -> dict[str, Any]:
    return {"metadata": {"name": "rel-1"}, "status": {"phase": phase, "stepsExecuted": 3, **status}}


FAILED = {"conditions": [{"type": "Succeeded", "status": "False", "message": "plan failed at step E0"}]}


@pytest.mark.parametrize(
    ("run", "code", "out", "err"),
    [
        (finished("Succeeded", output={"a": 1}), 0, '{\n  "a": 1\n}\n', ""),
        (finished("Succeeded"), 0, "", "✓ done, 3 steps\n"),
        (
            finished("Succeeded", exit={"status": "success", "message": "early", "output": {"b": 2}}),
            0,
            '{\n  "b": 2\n}\n',
            "✓ early\n",
        ),
        (finished("Failed", exit={"status": "error", "message": "no\nway"}), 4, "", "✗ no way\n"),
        (finished("Failed", **FAILED), 1, "", "error: run rel-1 failed: plan failed at step E0\n"),
        (finished("Canceled"), 1, "", "error: run rel-1 canceled\n"),
    ],
)
def test_what_a_run_delivers(
    capsys: pytest.CaptureFixture[str], run: dict[str, Any], code: int, out: str, err: str
) -> None:
    assert deliver(Session(Flags(), {}), run, "rel") == code
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == (out, err)


def test_the_envelope() -> None:
    exit_fired = {"status": "success", "message": "m", "step": "E1"}
    run = finished("Succeeded", output=[1], exit=exit_fired, nodes={"E0": {"status": "Succeeded"}})
    assert envelope(run, "rel") == {
        "run": "rel-1",
        "phase": "Succeeded",
        "plan": "rel",
        "output": [1],
        "answer": None,
        "exit": exit_fired,
        "steps_executed": 3,
        "nodes": {"E0": {"status": "Succeeded"}},
        "usage": None,
    }
