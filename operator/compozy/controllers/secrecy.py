"""What the operator tells others: Events, messages in statuses and its log, with secrets taken out.

Outputs of nodes are data of the run and are stored as they are. Everything else that may quote them goes through
here: first redacted, then cut, since half a secret no longer looks like one.
"""

import logging
from collections.abc import Iterable, Mapping
from typing import Any

from compozy.redaction.keys import is_sensitive_key
from compozy.redaction.redactor import PLAIN

MAX_CONDITION = 8192
MAX_PROBLEM = 4096
MAX_FIELD_PATH = 512
"""Longest texts in a status, in characters."""

_SCHEMES = ("Bearer ", "bearer ", "Basic ")


class Secrecy:
    """The rules, and the values that are secret in this process."""

    def __init__(self, values: Iterable[str] = ()) -> None:
        self.redactor = PLAIN
        self.learn(values)

    def learn(self, values: Iterable[str]) -> None:
        """Take values out from now on, wherever they occur: a token may be renewed at any time."""
        self.redactor = self.redactor.with_known(map(_without_scheme, values))

    def text(self, text: str) -> str:
        """Text with secrets taken out."""
        return self.redactor.text(text)

    def cell(self, told: dict[str, Any]) -> dict[str, Any]:
        """What a status tells of a cell, with its message made safe."""
        return {**told, "message": self.text(told["message"])} if "message" in told else told

    def status(self, status: Mapping[str, Any]) -> dict[str, Any]:
        """A status with the messages in it made safe; what runs have come to is left alone."""
        safe = dict(status)
        for key, limit in (("conditions", MAX_CONDITION), ("problems", MAX_PROBLEM)):
            if key in safe:
                safe[key] = [{**item, "message": self.text(item["message"])[:limit]} for item in safe[key]]
        rejection = safe.get("lastRejection")
        if rejection and "fields" in rejection:
            fields = {
                self.text(path)[:MAX_FIELD_PATH]: self.text(message)[:MAX_PROBLEM]
                for path, message in rejection["fields"].items()
            }
            safe["lastRejection"] = {**rejection, "fields": fields}
        return safe


class LogFilter(logging.Filter):
    """Takes secrets out of everything that is logged: messages, tracebacks and stacks."""

    def __init__(self, secrecy: Secrecy) -> None:
        super().__init__()
        self._secrecy = secrecy
        self._formatter = logging.Formatter()

    def filter(self, record: logging.LogRecord) -> bool:
        """Rewrite the record, for this handler and for those after it."""
        record.msg, record.args = self._secrecy.text(_message_of(record)), ()
        if record.exc_info:
            record.exc_text = self._secrecy.text(self._formatter.formatException(record.exc_info))
        if record.stack_info:
            record.stack_info = self._secrecy.text(record.stack_info)
        return True


def _message_of(record: logging.LogRecord) -> str:
    try:
        return record.getMessage()
    except (TypeError, ValueError):  # the arguments do not suit the message: a fault of whoever logs
        return f"{record.msg} {record.args}"


def secrets_of(environ: Mapping[str, str]) -> list[str]:
    """The values of an environment that stand under the name of a secret."""
    return [value for name, value in environ.items() if is_sensitive_key(name)]


def _without_scheme(credential: str) -> str:
    for scheme in _SCHEMES:
        credential = credential.removeprefix(scheme)
    return credential
