"""What a question looks like when it opens: rendered, redacted, bounded, with the moment at which it closes."""

import json
from datetime import UTC, datetime

import pytest

from compozy.engine.effects import OpenRequest
from compozy.redaction.redactor import PLAIN
from compozy.requests.bounds import MAX_BYTES, MAX_STORED_BYTES
from compozy.requests.opening import request_object

pytestmark = pytest.mark.unit

NOW = datetime(2026, 1, 1, tzinfo=UTC)
RUN = {"metadata": {"name": "release", "namespace": "team", "uid": "0f5a"}}
SECRET = "password=hunter2hunter2"
SECRET_TOKEN = "ghp_" + "abcdefghijklmnopqrstuvwxyz"


def opened(seeded=None, address=("choose", None), redactor=PLAIN, **fields):
    question = {
        "node": "choose",
        "generation": 1,
        "prompt": "Where?",
        "context": None,
        "expect": {"type": "object"},
        "decisions": ("respond",),
        "responders": {"agents": "deny"},
        "expires_after": None,
        **fields,
    }
    return request_object(OpenRequest(**question), address, RUN, "release-1", seeded, NOW, redactor)["spec"]


@pytest.mark.parametrize(
    ("authored", "seeded", "closes"),
    [
        (3600.0, None, "2026-01-01T01:00:00.000000Z"),
        (None, 7200.0, "2026-01-01T02:00:00.000000Z"),
        (3600.0, 7200.0, "2026-01-01T01:00:00.000000Z"),
        (None, None, None),
    ],
)
def test_an_authored_expiry_wins_over_a_seeded_one_and_without_either_there_is_none(authored, seeded, closes):
    assert opened(seeded, expires_after=authored).get("expiresAt") == closes


def test_everything_is_frozen_when_it_opens():
    expect = {"type": "object", "properties": {"to": {"enum": ["{{ .inputs.x }}"]}}}
    spec = opened(expect=expect, responders={"agents": "allow", "users": ["ada"]}, context={"release": "2.1"})
    assert spec["expect"] == expect
    assert spec["responders"] == {"agents": "allow", "users": ["ada"]}
    assert spec["context"] == {"release": "2.1"}
    assert (spec["prompt"], spec["decisions"], spec["revision"]) == ("Where?", ["respond"], "release-1")


def test_a_secret_is_neither_in_the_prompt_nor_in_the_context():
    spec = opened(prompt=f"Use {SECRET}?", context={"deep": [{"token": "t-1", "note": SECRET}]})
    assert "hunter2" not in spec["prompt"]
    assert spec["context"]["deep"][0]["token"] == "[REDACTED]"
    assert "hunter2" not in spec["context"]["deep"][0]["note"]


def test_a_question_of_a_lane_has_its_item():
    assert "item" not in opened()
    assert opened(address=("choose", 3))["item"] == 3
    assert opened(address=("choose", 0))["item"] == 0


def test_a_review_shows_a_redacted_preview_and_keeps_the_proposal_to_itself():
    proposal = {"tag": "v1", "api_key": "k-123456"}
    spec = opened(kind="Review", decisions=("approve", "reject"), proposal=proposal, expect={})
    assert spec["proposedPreview"] == {"tag": "v1", "api_key": "[REDACTED]"}
    assert spec["proposalDigest"].startswith("sha256:")
    assert "expect" not in spec
    assert "k-123456" not in str(spec)


def test_a_preview_is_bounded():
    spec = opened(kind="Review", decisions=("approve",), proposal={"text": "word " * 10_000}, expect={})
    assert spec["proposedPreview"]["truncated"] is True


def test_the_context_is_stored_whole_and_bounded_by_what_a_store_takes():
    whole = {"log": "é" * 20_000, "password": "hunter2hunter2"}
    assert opened(context=whole)["context"] == {"log": whole["log"], "password": "[REDACTED]"}
    huge = opened(context={"log": "é" * MAX_STORED_BYTES})["context"]
    assert huge == {"truncated": True, "byte_size": 2 * MAX_STORED_BYTES + len('{"log":""}')}


@pytest.mark.parametrize("kind", ["Ask", "Review"])
def test_a_prompt_is_redacted_before_it_is_cut(kind):
    spec = opened(kind=kind, prompt="a " * 8185 + SECRET_TOKEN + " b" * 100)
    assert SECRET_TOKEN[:12] not in spec["prompt"]
    assert len(spec["prompt"].encode()) <= MAX_BYTES
    assert "more bytes]" in spec["prompt"]


def test_halves_of_characters_are_nowhere_in_a_question():
    spec = opened(kind="Review", prompt="a\ud800", context={"\udfff": ["b\ud800"]}, proposal={"x": "y"})
    json.dumps(spec, ensure_ascii=False).encode()
    assert spec["context"] == {"?": ["b?"]}


@pytest.mark.parametrize("field", ["prompt", "context", "proposal"])
def test_values_that_are_secret_at_run_time_are_in_no_part_of_a_question(field):
    value = {
        "prompt": "Use plain-looking?",
        "context": {"a": ["x plain-looking y"]},
        "proposal": {"b": "plain-looking"},
    }
    redactor = PLAIN.with_known(["plain-looking"])
    spec = opened(kind="Review", redactor=redactor, **{field: value[field]})
    assert "plain-looking" not in str(spec)
    assert "[REDACTED]" in str(spec)


def test_an_approval_of_a_gate_has_nothing_to_preview():
    spec = opened(kind="Review", decisions=("approve", "reject"), expect={})
    assert not {"proposedPreview", "proposalDigest", "editSchema", "respondSchema", "context", "expect"} & set(
        spec
    )


@pytest.mark.parametrize("proposal", [None, "text", 3, ["--token", "t-1"], {"a": {}}])
def test_any_proposal_has_a_preview(proposal):
    spec = opened(kind="Review", decisions=("approve",), proposal=proposal, expect={})
    shown = ["--token", "[REDACTED]"] if isinstance(proposal, list) else proposal
    assert spec.get("proposedPreview") == shown


def test_a_preview_says_how_long_the_proposal_is():
    proposal = {"text": "é" * 10_000}
    preview = opened(kind="Review", decisions=("approve",), proposal=proposal, expect={})["proposedPreview"]
    assert preview == {"truncated": True, "byte_size": 20_000 + len('{"text":""}')}
