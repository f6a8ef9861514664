"""Whether a supervisor should go on: its parent holds a pipe to it, and signals reach it."""

from __future__ import annotations

import os
import select
import signal
from types import FrameType

DETACH = b"detach\n"


class StopRequestedError(Exception):
    """The supervisor should stop its servers and end."""


class Lifeline:
    """The supervisor's tie to the process that started it: standard input.

    When that process ends, however it ends, the pipe closes and the supervisor stops. After `DETACH` came
    through the pipe only SIGTERM or SIGINT stop it.
    """

    def __init__(self, pipe: int) -> None:
        self._pipe = pipe
        self._detached = False
        self._asked_to_stop = False
        self._wake, wake_writer = os.pipe()
        os.set_blocking(wake_writer, False)
        signal.set_wakeup_fd(wake_writer, warn_on_full_buffer=False)
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._on_stop)
        signal.signal(signal.SIGCHLD, lambda *_: None)  # only to be woken

    def pause(self, seconds: float | None) -> None:
        """Wait until something happens: a child ends, or at most ``seconds``. Raises `StopRequestedError`."""
        watched = [self._wake] if self._detached else [self._wake, self._pipe]
        ready, _, _ = select.select(watched, [], [], seconds)
        if self._wake in ready:
            os.read(self._wake, 4096)
        if self._pipe in ready:
            self._read_pipe()
        if self._asked_to_stop:
            raise StopRequestedError

    def _read_pipe(self) -> None:
        received = os.read(self._pipe, 4096)
        if received == DETACH:
            self._detached = True
        else:
            self._asked_to_stop = True

    def _on_stop(self, _number: int, _frame: FrameType | None) -> None:
        self._asked_to_stop = True
