"""What a question looks like when it opens: rendered, redacted, bounded, with the moment at which it closes."""

from datetime import UTC, datetime

import pytest

from compozy.engine.effects import OpenRequest
from compozy.requests.opening import request_object

pytestmark = pytest.mark.unit

NOW = datetime(2026, 1, 1, tzinfo=UTC)
RUN = {"metadata": {"name": "release", "namespace": "team", "uid": "0f5a"}}
SECRET = "password=hunter2hunter2"


def opened(seeded=None, address=("choose", None), **fields):
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
    return request_object(OpenRequest(**question), address, RUN, "release-1", seeded, NOW)["spec"]


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
