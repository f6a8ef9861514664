"""What every node may say beside its kind: time, attempts, where failures lead, and who decides over actions."""

from __future__ import annotations

from typing import Any

import pytest

from compozy.language.compiled import NO_POLICY, AskSpec, Policy, Retry, ReviewSpec
from support.graphs import ask, compiled, found, graph, made, node, problems, tool

pytestmark = pytest.mark.unit

RESPOND = {"decisions": ["respond"]}


def policy(**envelope: Any) -> Policy:
    return compiled([node("a", "x__y", **envelope), tool("b"), tool("c")], "a>b a>c").nodes["a"].policy


def wrong(**envelope: Any) -> list[tuple[str, str]]:
    """What is wrong with an envelope, paths below the node."""
    told = found([node("a", "x__y", **envelope), tool("b"), tool("c")], "a>b a>c")
    return [(path.removeprefix("nodes[0]").lstrip("."), code) for path, code in told]


def review(**values: Any) -> ReviewSpec:
    spec = policy(produces={"url": "string"}, review=values).review
    assert spec is not None
    return spec


def test_nothing_said() -> None:
    assert policy() is NO_POLICY


def test_everything_said() -> None:
    told = policy(
        timeout="30s",
        deadline="5m",
        retry={"max_attempts": 5, "backoff": {"base": "2s", "max": "1m"}, "non_retryable": ["transport"]},
        on_error={"route": "b"},
        produces={"url": "string"},
    )
    assert (told.timeout, told.deadline, told.error_route, told.allow_fail) == (30, 300, "b", False)
    assert told.retry == Retry(5, 2, 60, ("transport",))
    assert told.produces == {"type": "object", "properties": {"url": {"type": "string"}}, "required": ["url"]}
    assert policy(on_error={"allow_fail": True}).allow_fail


@pytest.mark.parametrize(
    ("written", "retry"),
    [
        ({}, Retry(3, 1, 30)),
        ({"max_attempts": 0}, Retry(1, 1, 30)),
        ({"backoff": {"base": "1m"}}, Retry(3, 60, 60)),
        ({"backoff": {"max": "500ms"}}, Retry(3, 0.5, 0.5)),
    ],
)
def test_what_a_retry_leaves_out(written: dict[str, Any], retry: Retry) -> None:
    assert policy(retry=written).retry == retry


@pytest.mark.parametrize(
    ("envelope", "expected"),
    [
        ({"timeout": "soon"}, [("timeout", "duration_invalid")]),
        ({"deadline": 5}, [("deadline", "duration_invalid")]),
        ({"timeout": "2m", "deadline": "1m"}, [("timeout", "timeout_exceeds_deadline")]),
        ({"retry": {"max_attempts": -1}}, [("retry.max_attempts", "invalid_value")]),
        ({"retry": {"max_attempts": True}}, [("retry.max_attempts", "invalid_value")]),
        ({"retry": {"backoff": {"base": "x"}}}, [("retry.backoff.base", "duration_invalid")]),
        ({"retry": {"backoff": {"base": "2m", "max": "1m"}}}, [("retry.backoff.base", "retry_invalid")]),
        ({"retry": {"non_retryable": "transport"}}, [("retry.non_retryable", "invalid_type")]),
        ({"retry": {"tries": 1}}, [("retry.tries", "unknown_key")]),
        ({"retry": 3}, [("retry", "invalid_type")]),
        ({"on_error": {"route": "b", "allow_fail": True}}, [("on_error", "error_route_conflict")]),
        ({"on_error": {"route": "nope"}}, [("on_error.route", "error_route_backward")]),
        ({"on_error": {"route": "a"}}, [("on_error.route", "error_route_backward")]),
        ({"on_error": {"route": ["b"]}}, [("on_error.route", "error_route_backward")]),
        ({"on_error": {}}, [("on_error", "missing_key")]),
        ({"on_error": {"allow_fail": "yes"}}, [("on_error.allow_fail", "invalid_type")]),
        ({"produces": "string"}, [("produces", "schema_invalid")]),
        ({"produces": {"url": "text"}}, [("produces.properties.url.type", "schema_invalid")]),
        ({"on_parent_close": "abandon"}, [("on_parent_close", "parent_close_invalid")]),
        ({"speed": "fast"}, [("speed", "unknown_key")]),
    ],
)
def test_envelopes_that_cannot_be_right(envelope: dict[str, Any], expected: list[tuple[str, str]]) -> None:
    assert wrong(**envelope) == expected


def test_a_route_back_is_no_forward_edge() -> None:
    nodes = [tool("a"), node("b", "x__y", on_error={"route": "a"})]
    assert found(nodes, "a>b") == [("nodes[1].on_error.route", "error_route_backward")]


def test_a_review_that_says_nothing() -> None:
    told = review()
    assert (told.when, told.prompt, told.decisions) == (None, None, ("approve", "reject"))
    assert (told.responders, told.reject_route, told.expires_after) == ({"agents": "deny"}, None, None)
    assert (told.edit_schema, told.respond_schema) == (None, None)


def test_a_review_that_says_everything() -> None:
    told = review(
        when="inputs.environment == 'production'",
        prompt="Publish {{ .inputs.tag }}?",
        decisions=["approve", "edit", "reject", "respond"],
        responders={"agents": "allow", "users": ["jane"], "groups": ["ops"], "initiator": "deny"},
        on_reject={"route": "b"},
        expires={"after": "72h", "route": "c"},
    )
    assert told.when is not None
    assert told.when.test({"inputs": {"environment": "production"}})
    assert told.when_source == "inputs.environment == 'production'"
    assert told.prompt is not None
    assert told.prompt.render_text({"inputs": {"tag": "v1"}}) == "Publish v1?"
    assert told.decisions == ("approve", "edit", "reject", "respond")
    assert told.responders == {"agents": "allow", "users": ["jane"], "groups": ["ops"], "initiator": "deny"}
    assert (told.reject_route, told.expires_after, told.expires_route) == ("b", 72 * 3600, "c")
    assert told.respond_schema is not None
    assert told.respond_schema["required"] == ["url"]


@pytest.mark.parametrize(
    ("written", "path", "code"),
    [
        ("yes", "review", "review_shape_invalid"),
        ({"escalate": 1}, "review.escalate", "review_shape_invalid"),
        ({"decisions": []}, "review.decisions", "review_shape_invalid"),
        ({"decisions": "approve"}, "review.decisions", "review_shape_invalid"),
        ({"decisions": ["approve", "decline"]}, "review.decisions[1]", "review_shape_invalid"),
        ({"decisions": ["approve", "approve"]}, "review.decisions[1]", "review_shape_invalid"),
        ({"decisions": [["approve"], "approve"]}, "review.decisions[0]", "review_shape_invalid"),
        (RESPOND, "review.decisions", "review_respond_schema_required"),
        ({"when": "inputs.x ="}, "review.when", "condition_invalid"),
        ({"when": "1 + 1"}, "review.when", "condition_not_bool"),
        ({"prompt": "{{ .nope }}"}, "review.prompt", "unknown_reference"),
        ({"on_reject": "b"}, "review.on_reject", "review_shape_invalid"),
        ({"on_reject": {}}, "review.on_reject", "review_shape_invalid"),
        ({"on_reject": {"route": "b", "allow_fail": True}}, "review.on_reject.allow_fail", "review_shape_invalid"),
        ({"on_reject": {"route": "z"}}, "review.on_reject.route", "error_route_backward"),
        ({"on_reject": {"route": "b"}, "decisions": ["approve"]}, "review.on_reject", "review_shape_invalid"),
        ({"expires": {"after": "72h", "route": "z"}}, "review.expires.route", "error_route_backward"),
        ({"expires": {"after": "72h", "escalate": []}}, "review.expires.escalate", "review_shape_invalid"),
        ({"expires": {"after": "soon"}}, "review.expires.after", "duration_invalid"),
        ({"expires": {}}, "review.expires.after", "duration_invalid"),
        ({"expires": "72h"}, "review.expires", "review_shape_invalid"),
        ({"responders": {"agents": "maybe"}}, "review.responders.agents", "responder_policy_invalid"),
    ],
)
def test_reviews_that_cannot_be_right(written: Any, path: str, code: str) -> None:
    assert wrong(review=written) == [(path, code)]


@pytest.mark.parametrize("kind", ["wait", "ask"])
def test_only_actions_are_reviewed(kind: str) -> None:
    reviewed = ask("a") if kind == "ask" else node("a", "wait", params={"for": "1h"})
    assert found([{**reviewed, "review": {}}]) == [("nodes[0].review", "review_shape_invalid")]


def test_what_a_respond_is_held_to() -> None:
    agent = node("a", "run-agent", params={"agent": "x", "prompt": "p", "output_schema": {"n": "number"}})
    for reviewed in (agent, made("a", n=1)):
        spec = compiled([{**reviewed, "review": RESPOND}]).nodes["a"].policy.review
        assert spec is not None
        assert spec.respond_schema is not None
        assert (list(spec.respond_schema["properties"]), spec.respond_schema["required"]) == (["n"], ["n"])
    child = node("a", "run-loop", params={"loop": "other"}, review=RESPOND)
    assert found([child]) == [("nodes[0].review.decisions", "review_respond_schema_required")]


def test_a_respond_is_no_place_for_a_secret() -> None:
    produces = {"type": "object", "properties": {"key": {"type": "string", "format": "password"}}}
    assert wrong(produces=produces) == []
    assert wrong(produces=produces, review=RESPOND) == [("review.decisions", "request_secret_in_clear")]


@pytest.mark.parametrize("review", [None, RESPOND])
@pytest.mark.parametrize(
    ("key", "field"),
    [
        ("type", {"type": "integer", "x-compozy-kind": "agent"}),
        ("type", {"x-compozy-kind": "agent"}),
        ("x-compozy-kind", {"type": "string", "x-compozy-kind": "planet"}),
    ],
)
def test_a_declared_output_names_entities_as_answers_do(review: Any, key: str, field: dict[str, Any]) -> None:
    """Once, at its own place, whether or not a person may put a value there."""
    fault = (f"produces.properties.by.items.properties.who.{key}", "request_entity_kind_invalid")
    by = {"type": "array", "items": {"type": "object", "properties": {"who": field}}}
    more = {} if review is None else {"review": review}
    assert wrong(produces={"type": "object", "properties": {"by": by}}, **more) == [fault]


def test_the_shape_of_an_agent_s_answer_names_entities_too() -> None:
    schema = {"type": "object", "properties": {"who": {"type": "string", "x-compozy-kind": "planet"}}}
    agent = node("a", "run-agent", params={"agent": "x", "prompt": "p", "output_schema": schema})
    path = "nodes[0].params.output_schema.properties.who.x-compozy-kind"
    assert found([agent]) == [(path, "request_entity_kind_invalid")]


@pytest.mark.parametrize(
    ("responders", "path"),
    [
        ("deny", ""),
        ({"agents": True}, ".agents"),
        ({"initiator": "never"}, ".initiator"),
        ({"users": "jane"}, ".users"),
        ({"users": ["jane", ""]}, ".users"),
        ({"groups": [1]}, ".groups"),
        ({"users": ["x"] * 101}, ".users"),
        ({"roles": []}, ".roles"),
    ],
)
def test_who_may_answer(responders: Any, path: str) -> None:
    expected = [(f"nodes[0].params.responders{path}", "responder_policy_invalid")]
    assert found([ask("a", responders=responders)]) == expected


def test_a_question_keeps_who_may_answer() -> None:
    given = {"users": ["jane"], "initiator": "deny"}
    spec = compiled([ask("a", responders=given)]).nodes["a"].spec
    assert isinstance(spec, AskSpec)
    assert spec.responders == {"agents": "deny", **given}


@pytest.mark.parametrize(
    ("params", "path", "code"),
    [
        ({"colour": "red"}, "colour", "wait_shape_invalid"),
        ({"expires": {"after": "1h", "escalate": [{"emit": {}}]}}, "expires.escalate", "wait_shape_invalid"),
        ({"expires": {"after": "1h", "until": "x"}}, "expires.until", "wait_shape_invalid"),
        ({"expires": {"route": "b"}}, "expires.after", "duration_invalid"),
        ({"expires": {"after": "-1h"}}, "expires.after", "duration_invalid"),
        ({"expires": {"after": "1h", "route": "a"}}, "expires.route", "error_route_backward"),
        ({"expect": None}, "expect", "ask_expect_required"),
        ({"expect": {"env": "text"}}, "expect.properties.env.type", "schema_invalid"),
        ({"expect": {"env": {"type": "string", "x-compozy-kind": "x"}}}, None, "request_entity_kind_invalid"),
        ({"context": []}, "context", "invalid_type"),
        ({"prompt": 1}, "prompt", "invalid_type"),
    ],
)
def test_questions_that_cannot_be_right(params: dict[str, Any], path: str | None, code: str) -> None:
    path = path or "expect.properties.env.x-compozy-kind"
    assert found([ask("a", **params), tool("b")], "a>b") == [(f"nodes[0].params.{path}", code)]


def test_escalation_says_what_to_do_instead() -> None:
    [problem] = problems([ask("a", expires={"after": "1h", "escalate": []})])
    assert "`route`" in problem.message


def test_the_spelling_of_resources_is_understood() -> None:
    spec = graph([node("a", "x__y", onError={"allowFail": True}, retry={"maxAttempts": 2})])
    told = compiled(spec["graph"]["nodes"]).nodes["a"].policy
    assert (told.allow_fail, told.retry) == (True, Retry(2, 1, 30))
