"""How a command fails: a code for programs, a sentence for people, an exit code for scripts."""

from collections.abc import Mapping, Sequence

EXIT_FAILED = 1
"""A run failed, or a plan has problems."""
EXIT_USAGE = 2
"""The command line itself is wrong."""
EXIT_INPUTS = 3
"""Inputs of a run are missing or invalid; nothing was created."""
EXIT_ERROR_GATE = 4
"""An exit gate ended the run with status `error`."""
EXIT_BAD_INPUT = 65
"""Bad input, or a conflict with what has happened meanwhile."""
EXIT_UNAVAILABLE = 69
"""Not found, gone or unreachable."""
EXIT_NOT_PERMITTED = 77
"""The user may not do this."""
EXIT_PAYLOAD_REFUSED = 78
"""The payload of an answer does not fit the question."""
EXIT_INTERRUPTED = 130
"""Ctrl-C, as shells count it."""

EXIT_OF_CODE: Mapping[str, int] = {
    "bad_input": EXIT_BAD_INPUT,
    "conflict": EXIT_BAD_INPUT,
    "run_not_ended": EXIT_BAD_INPUT,
    "run_ended": EXIT_BAD_INPUT,
    "run_succeeded": EXIT_BAD_INPUT,
    "run_canceled": EXIT_BAD_INPUT,
    "request_already_answered": EXIT_BAD_INPUT,
    "approvals_missing": EXIT_BAD_INPUT,
    "request_expired": EXIT_UNAVAILABLE,
    "request_canceled": EXIT_UNAVAILABLE,
    "request_not_found": EXIT_UNAVAILABLE,
    "run_not_found": EXIT_UNAVAILABLE,
    "plan_not_found": EXIT_UNAVAILABLE,
    "not_found": EXIT_UNAVAILABLE,
    "unreachable": EXIT_UNAVAILABLE,
    "graphviz_missing": EXIT_UNAVAILABLE,
    "graphviz_failed": EXIT_UNAVAILABLE,
    "request_validation_failed": EXIT_PAYLOAD_REFUSED,
    "input_validation": EXIT_PAYLOAD_REFUSED,
    "respond_not_permitted": EXIT_NOT_PERMITTED,
    "respond_self_denied": EXIT_NOT_PERMITTED,
    "not_permitted": EXIT_NOT_PERMITTED,
    "not_authenticated": EXIT_NOT_PERMITTED,
    "plan_invalid": EXIT_FAILED,
    "inputs_invalid": EXIT_INPUTS,
}
"""The exit code that goes with each error code."""


class CliError(Exception):
    """A command cannot do what it was asked. Shown as one line, or as JSON with `-o json`."""

    def __init__(
        self,
        code: str,
        message: str,
        details: Mapping[str, str] | None = None,
        *,
        extra: Mapping[str, object] | None = None,
        lines: Sequence[str] = (),
    ) -> None:
        """`details` says what is wrong by field path.

        `extra` adds keys of its own to the JSON form; `lines` are for people, in place of the details.
        """
        super().__init__(message)
        self.code = code
        self.message = message
        self.details = dict(details or {})
        self.extra = dict(extra or {})
        self.lines = tuple(lines)

    @property
    def exit_code(self) -> int:
        """The process's exit code. A code that is not in the table counts as a plain failure."""
        return EXIT_OF_CODE.get(self.code, EXIT_FAILED)

    def as_json(self) -> dict[str, object]:
        """The error for programs."""
        return {
            "ok": False,
            "code": self.code,
            "message": self.message,
            "details": self.details,
            **self.extra,
        }

    def redacted(self) -> "CliError":
        """The same error without secrets: what it quotes may end up in the log of a pipeline."""
        from compozy.redaction.redactor import redact_text

        return CliError(
            self.code,
            redact_text(self.message),
            {redact_text(path): redact_text(text) for path, text in self.details.items()},
            extra={key: redact_text(told) if isinstance(told, str) else told for key, told in self.extra.items()},
            lines=[redact_text(line) for line in self.lines],
        )

    def as_line(self) -> str:
        """The error for people, on one line; `lines` come before it."""
        told = [f"{path}: {text}" for path, text in self.details.items() if text not in self.message]
        if self.lines:
            told = []
        if told and self.exit_code == EXIT_PAYLOAD_REFUSED:
            told = [f"{path}: {text}" for path, text in self.details.items()]
            return f"error: {'; '.join(told)} [{self.code}]"
        return f"error: {self.message}" + (f" ({'; '.join(told)})" if told else "") + f" [{self.code}]"
