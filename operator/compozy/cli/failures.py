"""What a refusal of the API server means to the person who typed a command."""

import re

from compozy.cli.errors import CliError
from compozy.cli.kube.access import ConfigError
from compozy.cli.kube.errors import ApiError, UnreachableError

_PAYLOAD_FIELD = re.compile(r"^\.?(?:response\.)?payload\.?")
_REQUEST_CODE = re.compile(
    r"request_already_answered|request_expired|request_canceled|request_validation_failed"
    r"|input_validation|respond_not_permitted|respond_self_denied"
)


def of_exception(error: Exception) -> CliError | None:
    """The error of any command; None for one that nobody foresaw."""
    if isinstance(error, ApiError):
        return of_api_error(error)
    if isinstance(error, UnreachableError):
        return CliError("unreachable", str(error))
    if isinstance(error, ConfigError):
        return CliError("bad_input", str(error))
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
            return CliError(found.group(), _without_code(text, found.group()), _payload_details(error))
    if error.status == 403:
        return CliError("respond_not_permitted", error.message)
    return of_api_error(error)


def _without_code(text: str, code: str) -> str:
    """What stands after the code, where anything does."""
    rest = text.split(code, 1)[1].lstrip(": ").strip()
    return rest or code.replace("_", " ")


def _payload_details(error: ApiError) -> dict[str, str]:
    """What is wrong by path into the payload; the payload itself is `payload`."""
    return {
        _PAYLOAD_FIELD.sub("", cause.field) or "payload": cause.message
        for cause in error.causes
        if _PAYLOAD_FIELD.match(cause.field)
    }
