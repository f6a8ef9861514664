"""One process at a time, and the second says that it waits."""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from controlplane.progress import Progress


@contextmanager
def exclusively(lock_file: Path, progress: Progress, waiting: str) -> Iterator[None]:
    """Hold an exclusive lock; ``waiting`` is reported while another process holds it.

    The kernel drops the lock with the process, so one that was killed blocks nobody.
    """
    with lock_file.open("a") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            with progress.step(waiting):
                fcntl.flock(lock, fcntl.LOCK_EX)
        yield
