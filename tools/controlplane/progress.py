"""Progress with elapsed time, on stderr.

On a terminal the current step is one line that is rewritten every second; elsewhere (CI logs, files) each
step writes one line when it begins and one when it ends.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

_REWRITE_EVERY_SECONDS = 1.0
_CLEAR_LINE = "\r\x1b[2K"


def format_elapsed(seconds: float) -> str:
    """Elapsed time for people: ``0.4 s``, ``12 s``, ``7 min 24 s``."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


class Progress:
    """Reports steps to a text stream, stderr unless another is given."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream if stream is not None else sys.stderr
        self._live = self._stream.isatty()

    def note(self, text: str) -> None:
        """Write one line that belongs to no step."""
        self._write(f"{text}\n")

    @contextmanager
    def step(self, text: str) -> Iterator[None]:
        """Report ``text`` as under way until the block ends, then as done or as failed, with its duration."""
        started = time.monotonic()
        finished = threading.Event()
        ticker = threading.Thread(target=self._tick, args=(text, started, finished), daemon=True)
        self._write(text if self._live else f"{text} ...\n")
        if self._live:
            ticker.start()
        outcome = "failed"
        try:
            yield
            outcome = "done"
        except KeyboardInterrupt:
            outcome = "interrupted"
            raise
        finally:
            finished.set()
            if self._live:
                ticker.join()
            elapsed = format_elapsed(time.monotonic() - started)
            self._write(f"{_CLEAR_LINE if self._live else ''}{text}: {outcome} ({elapsed})\n")

    def _tick(self, text: str, started: float, finished: threading.Event) -> None:
        while not finished.wait(_REWRITE_EVERY_SECONDS):
            self._write(f"{_CLEAR_LINE}{text} ... {format_elapsed(time.monotonic() - started)}")

    def _write(self, text: str) -> None:
        self._stream.write(text)
        self._stream.flush()


class Silent(Progress):
    """Reports nothing."""

    def _write(self, text: str) -> None:
        pass
