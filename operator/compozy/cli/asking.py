"""Puts a question of the API to the person at this terminal, or reads its answer from flags."""

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

from compozy.cli.errors import CliError
from compozy.cli.kube.client import Object
from compozy.cli.session import Session
from compozy.cli.values import parse_value, read_json, set_path, split_pair
from compozy.hosts.dialogue import Streams
from compozy.hosts.terminal import Question, ask, can_ask
from compozy.language.schema import check_schema, normalize_schema
from compozy.requests.choices import Names, names_unknown
from compozy.requests.coerce import CoercionError, coerce
from compozy.requests.forms import FormField, fields
from compozy.requests.outcome import Outcome
from compozy.requests.proposed import Proposed

WITH_PAYLOAD = ("respond", "edit")
"""The decisions that need a payload."""


class Reader(Protocol):
    """Where lines come from."""

    def readline(self) -> str:
        """One line with its end; nothing at the end of input."""


def person_is_here(session: Session) -> bool:
    """Whether somebody at this terminal can be asked."""
    return can_ask(sys.stdin, sys.stderr, session.environ)


def ask_here(
    request: Object, reader: Reader, decisions: Sequence[str] | None = None, names: Names = names_unknown
) -> Outcome:
    """Asks at this terminal. With `decisions`, only those are offered; `names` knows what can be named."""
    question = replace(question_of(request, decisions), names=names)
    return ask(question, Streams(sys.stderr, reader, _columns()))


def question_of(request: Object, decisions: Sequence[str] | None = None) -> Question:
    """The question as the terminal shows it."""
    spec = request["spec"]
    # The path of a step in an iteration tells the element already; a lane of a graph is told by its item.
    item = f".{spec['item']}" if spec.get("item") is not None and "." not in spec["node"] else ""
    context = {key: spec[key] for key in ("context", "proposedPreview") if spec.get(key)}
    return Question(
        prompt=spec["prompt"],
        path=spec.get("path") or f"{spec['node']}{item}",
        schema=schema_of(request, "respond"),
        decisions=tuple(decisions or spec["decisions"]),
        edit_schema=schema_of(request, "edit"),
        proposed=_proposed(request),
        context=next(iter(context.values())) if len(context) == 1 else context,
    )


def _proposed(request: Object) -> Proposed:
    spec = request["spec"]
    return Proposed(spec.get("proposedPreview"), spec.get("proposalDigest"))


def schema_of(request: Object, decision: str) -> dict[str, Any]:
    """The JSON Schema of the payload of a decision. Raises CliError where no payload can be held to it."""
    spec = request["spec"]
    respond = "expect" if spec["kind"] == "Ask" else "respondSchema"
    declared = spec.get("editSchema" if decision == "edit" else respond)
    schema = normalize_schema(declared if isinstance(declared, Mapping) else {})
    if problems := check_schema(schema, "schema"):
        told = f"{problems[0].path} {problems[0].message}"
        raise CliError("bad_input", f"nobody can answer this question, whose schema is none: {told}")
    return schema


def payload_of_flags(request: Object, decision: str, payload: str | None, pairs: Sequence[str]) -> Any:
    """The payload that `--payload` and `--set` make. Raises CliError.

    A value after `--set` is read as a line typed at the terminal would be: by the type of the field. Without
    `--payload` an edit changes those fields of the proposal, and the others stay.
    """
    whole = {} if payload is None else read_json("--payload", payload)
    if not pairs:
        return whole
    schema = schema_of(request, decision)
    form = fields(schema)
    given = [_field_given({field.name: field for field in form}, pair) for pair in pairs]
    if decision == "edit" and payload is None:
        whole, lacking = _proposed(request).overlay(schema, [names for names, _ in given])
        if lacking:
            raise _not_known(lacking)
    if not isinstance(whole, dict):
        raise CliError("bad_input", "--set needs a payload that is an object")
    for names, value in given:
        if not names:
            return value
        set_path(whole, names, value)
    return whole


def _field_given(form: Mapping[str, FormField], pair: str) -> tuple[tuple[str, ...], Any]:
    """The path and the value that a `--set` gives. Raises CliError."""
    path, text = split_pair("--set", pair)
    try:
        value = coerce(form[path], text) if path in form else parse_value(text)
    except CoercionError as error:
        raise CliError("request_validation_failed", f"{path} {error}", {path: str(error)}) from error
    # The name of a property may have dots itself, and a form of one field is the whole answer.
    return form[path].path if path in form else tuple(path.split(".")), value


def _not_known(lacking: Sequence[FormField]) -> CliError:
    """An edit would have to keep values that nobody can see here."""
    names = [field.name for field in lacking]
    # No `--set api_key=…` here: it would look like a secret, and be told without its value.
    one_by_one = "" if "payload" in names else f"give {', '.join(names)} with --set as well, or "
    return CliError(
        "bad_input",
        f"what is proposed is not shown in full: {one_by_one}give all of it with --payload JSON",
        dict.fromkeys(names, "is not shown in full"),
    )


class InterruptibleReader:
    """Reads lines of the terminal, and listens meanwhile to a descriptor that says that something happened."""

    def __init__(self, wake_descriptor: int, on_wake: Callable[[], None]) -> None:
        """`on_wake` may raise to end the reading; half a line that was typed is then thrown away."""
        self._input = sys.stdin.fileno()
        self._wake = wake_descriptor
        self._on_wake = on_wake
        self._rest = b""

    def readline(self) -> str:
        """One line; nothing at the end of input."""
        import select

        while b"\n" not in self._rest:
            readable, _, _ = select.select([self._input, self._wake], [], [])
            if self._wake in readable:
                self._wake_up()
            if self._input in readable:
                chunk = os.read(self._input, 65536)
                if not chunk:
                    break
                self._rest += chunk
        line, end, self._rest = self._rest.partition(b"\n")
        return (line + end).decode(errors="replace")

    def _wake_up(self) -> None:
        try:
            self._on_wake()
        except Exception:
            self._rest = b""
            _forget_typed(self._input)
            raise


def _forget_typed(descriptor: int) -> None:
    """What was typed for one question must not answer the next."""
    import termios

    termios.tcflush(descriptor, termios.TCIFLUSH)


def _columns() -> int:
    try:
        return os.get_terminal_size(sys.stderr.fileno()).columns or 80
    except OSError:
        return 80
