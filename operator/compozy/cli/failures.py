"""What a refusal of the API server means to the person who typed a command."""

import errno
import re
from typing import Any

from compozy.cli.errors import CliError
from compozy.cli.kube.access import ConfigError
from compozy.cli.kube.errors import ApiError, UnreachableError

_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)
_PAYLOAD_FIELD = re.compile(r"^\.?(?:response\.)?payload\.?")
_DECISION_FIELD = re.compile(r"^\.?response\.decision$")
_REQUEST_CODE = re.compile(
    r"request_already_answered|request_expired|request_canceled|request_validation_failed"
    r"|input_validation|respond_not_permitted|respond_self_denied|approvals_missing"
)


def of_exception(error: Exception) -> CliError | None:
    """The error of any command; None for one that nobody foresaw."""
    if isinstance(error, ApiError):
        return of_api_error(error)
    if isinstance(error, UnreachableError):
        return CliError("unreachable", str(error))
    if isinstance(error, ConfigError):
        return CliError("bad_input", str(error))
    if isinstance(error, OSError) and error.errno in _NO_ROOM:
        return CliError("output_failed", f"cannot write what was found: {error.strerror}")
    return None


def of_api_error(error: ApiError) -> CliError:
    """The code that goes with an HTTP status."""
    details = {cause.field.lstrip("."): cause.message for cause in error.causes if cause.field}
    if error.status == 401:
        return CliError("not_authenticated", f"the API server does not know who you are: {error.message}")
    if error.status == 403:
        return CliError("not_permitted", error.message)
    if error.status == 404:
        return CliError("not_found", error.message)
    if error.status == 409:
        return CliError("conflict", error.message)
    if error.status in (408, 410, 429) or error.status >= 500:
        return CliError("unreachable", f"the API server could not do it: {error.message}")
    return CliError("bad_input", error.message, details)


def of_refused_response(error: ApiError) -> CliError:
    """The code of a refused answer: a CEL rule, an admission policy or a webhook names it in its message.

    Without such a name, a 403 means that the user may not answer.
    """
    told = [error.message, *(cause.message for cause in error.causes)]
    for text in told:
        found = _REQUEST_CODE.search(text)
        if found:
            code = found.group()
            return refusal(code, _without_code(text, code), _payload_details(error), _reason(code, error))
    if error.status == 403:
        return CliError("respond_not_permitted", error.message)
    return of_api_error(error)


def refusal(code: str, message: str, details: dict[str, str], reason: str | None = None) -> CliError:
    """A refused answer. A missing entity is told with its origin and its field, as callers of APIs expect."""
    extra: dict[str, Any] = {}
    if code == "input_validation":
        extra = {"origin": "response", "field": next(iter(details), "payload")}
    if reason is not None:
        extra["reason"] = reason
    return CliError(code, message, details, extra=extra)


def _reason(code: str, error: ApiError) -> str | None:
    """What is wrong with the first entity at fault, where the refusal tells."""
    first = next((cause for cause in error.causes if _PAYLOAD_FIELD.match(cause.field)), None)
    if code != "input_validation" or first is None:
        return None
    return "unknown_reference" if first.reason == "FieldValueNotFound" else "invalid_kind_payload"


def _without_code(text: str, code: str) -> str:
    """What stands after the code, where anything does."""
    rest = text.split(code, 1)[1].lstrip(": ").strip()
    return rest or code.replace("_", " ")


def _payload_details(error: ApiError) -> dict[str, str]:
    """What is wrong by path into the payload; the payload itself is `payload`, what was decided `decision`."""
    details = {}
    for cause in error.causes:
        if _PAYLOAD_FIELD.match(cause.field):
            details[_PAYLOAD_FIELD.sub("", cause.field) or "payload"] = cause.message
        elif _DECISION_FIELD.match(cause.field):
            details["decision"] = cause.message
    return details
