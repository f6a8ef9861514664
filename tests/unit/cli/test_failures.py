"""What a refusal means to the person who typed the command."""

from __future__ import annotations

import pytest

from compozy.cli.errors import EXIT_OF_CODE, CliError
from compozy.cli.failures import of_api_error, of_exception, of_refused_response
from compozy.cli.kube.access import ConfigError
from compozy.cli.kube.errors import ApiError, Cause, UnreachableError

pytestmark = pytest.mark.unit

POLICY = (
    "humanrequests.compozy.dev \"x\" is forbidden: ValidatingAdmissionPolicy 'compozy-responder-permission' with "
    "binding 'compozy-responder-permission' denied request: "
)


@pytest.mark.parametrize(
    ("status", "reason", "code", "exit_code"),
    [
        (400, "BadRequest", "bad_input", 65),
        (401, "Unauthorized", "not_authenticated", 77),
        (403, "Forbidden", "not_permitted", 77),
        (404, "NotFound", "not_found", 69),
        (408, "Timeout", "unreachable", 69),
        (409, "Conflict", "conflict", 65),
        (410, "Expired", "unreachable", 69),
        (422, "Invalid", "bad_input", 65),
        (429, "TooManyRequests", "unreachable", 69),
        (500, "InternalError", "unreachable", 69),
        (503, "ServiceUnavailable", "unreachable", 69),
    ],
)
def test_every_status_has_a_code(status: int, reason: str, code: str, exit_code: int) -> None:
    error = of_api_error(ApiError(status, reason, "why"))
    assert (error.code, error.exit_code) == (code, exit_code)
    assert "why" in error.message


@pytest.mark.parametrize(
    ("error", "code", "message", "exit_code"),
    [
        (
            ApiError(
                422,
                "Invalid",
                'HumanRequest.compozy.dev "x" is invalid: response: Forbidden: request_already_answered',
                (Cause("FieldValueForbidden", "Forbidden: request_already_answered", "response"),),
            ),
            "request_already_answered",
            "request already answered",
            65,
        ),
        (ApiError(422, "Invalid", "response: Forbidden: request_expired"), "request_expired", None, 69),
        (ApiError(422, "Invalid", "response: Forbidden: request_canceled"), "request_canceled", None, 69),
        (
            ApiError(422, "Invalid", "request_validation_failed: `decision` must be one of: respond"),
            "request_validation_failed",
            "`decision` must be one of: respond",
            78,
        ),
        (
            ApiError(403, "Forbidden", f"{POLICY}respond_not_permitted: 'bot' is an agent"),
            "respond_not_permitted",
            "'bot' is an agent",
            77,
        ),
        (
            ApiError(403, "Forbidden", f"{POLICY}respond_self_denied: own run"),
            "respond_self_denied",
            "own run",
            77,
        ),
        (
            ApiError(403, "Forbidden", f"{POLICY}`response.responder` must be the authenticated user"),
            "respond_not_permitted",
            None,
            77,
        ),
        (ApiError(403, "Forbidden", 'User "eve" cannot patch'), "respond_not_permitted", None, 77),
        (ApiError(503, "ServiceUnavailable", "later"), "unreachable", None, 69),
    ],
)
def test_a_refused_answer_is_told_by_its_code(
    error: ApiError, code: str, message: str | None, exit_code: int
) -> None:
    told = of_refused_response(error)
    assert (told.code, told.exit_code) == (code, exit_code)
    if message is not None:
        assert told.message == message


def test_fields_of_the_payload_are_told_by_their_path() -> None:
    causes = (
        Cause("", "must be one of a", "response.payload.channel"),
        Cause("", "is required", "response.payload.assignment.reviewer"),
        Cause("", "must be an object", "response.payload"),
        Cause("", "something else", "spec"),
    )
    error = of_refused_response(ApiError(422, "Invalid", "request_validation_failed: no", causes))
    assert error.details == {
        "channel": "must be one of a",
        "assignment.reviewer": "is required",
        "payload": "must be an object",
    }


def test_other_errors() -> None:
    assert [
        error and (error.code, error.exit_code)
        for error in (
            of_exception(UnreachableError("down")),
            of_exception(ConfigError("bad")),
            of_exception(ApiError(404, "NotFound", "no")),
            of_exception(ValueError("ours")),
        )
    ] == [("unreachable", 69), ("bad_input", 65), ("not_found", 69), None]


def test_the_codes_that_programs_rely_on() -> None:
    assert {code: EXIT_OF_CODE[code] for code in sorted(EXIT_OF_CODE) if code.startswith(("re", "in"))} == {
        "input_validation": 78,
        "inputs_invalid": 3,
        "request_already_answered": 65,
        "request_canceled": 69,
        "request_expired": 69,
        "request_not_found": 69,
        "request_validation_failed": 78,
        "respond_not_permitted": 77,
        "respond_self_denied": 77,
    }


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (CliError("conflict", "it changed"), "error: it changed [conflict]"),
        (
            CliError("bad_input", "no", {"a": "x", "b": "y"}),
            "error: no (a: x; b: y) [bad_input]",
        ),
        (CliError("bad_input", "a is x", {"a": "a is x"}), "error: a is x [bad_input]"),
        (
            CliError("request_validation_failed", "a is x, and 1 more", {"a": "x", "b": "y"}),
            "error: a: x; b: y [request_validation_failed]",
        ),
        (CliError("plan_invalid", "2 problems", {"a": "x"}, lines=["1"]), "error: 2 problems [plan_invalid]"),
    ],
)
def test_an_error_is_one_line(error: CliError, line: str) -> None:
    assert error.as_line() == line


def test_an_error_for_programs() -> None:
    error = CliError("input_validation", "m", {"a.b": "x"}, extra={"origin": "response", "field": "a.b"})
    assert error.as_json() == {
        "ok": False,
        "code": "input_validation",
        "message": "m",
        "details": {"a.b": "x"},
        "origin": "response",
        "field": "a.b",
    }


def test_an_error_tells_no_secret_and_stays_readable() -> None:
    token = "ghp_" + "abcdefghijklmnopqrstuvwxyz"
    error = CliError(
        "request_validation_failed",
        f"not {token}",
        {"password": "is required", token: "is not a known field", "who": f"there is no agent '{token}' here"},
        extra={"field": token, "schema": {"properties": {"password": {"type": "string"}}}},
        lines=["password: is required", 'schema: {"password": {"type": "string"}}', f"password={token}"],
    ).redacted()
    assert token not in str(error.as_json()) + error.as_line() + str(error.lines)
    assert error.details["password"] == "is required"
    assert error.extra["schema"] == {"properties": {"password": {"type": "string"}}}
    assert error.lines[:2] == ("password: is required", 'schema: {"password": {"type": "string"}}')
    assert error.exit_code == 78
