"""Puts a question of the API to the person at this terminal."""

import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Protocol

from compozy.cli.answer_flags import schema_of
from compozy.cli.kube.client import Object
from compozy.cli.session import Session
from compozy.hosts.dialogue import Streams
from compozy.hosts.terminal import Question, ask, can_ask
from compozy.requests.choices import Names, names_unknown
from compozy.requests.outcome import Outcome
from compozy.requests.proposed import Proposed


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
        proposed=Proposed.of(spec),
        context=next(iter(context.values())) if len(context) == 1 else context,
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
