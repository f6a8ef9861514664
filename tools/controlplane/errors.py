"""What can go wrong, as one line that says what to do."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class ControlPlaneError(Exception):
    """The control plane cannot be built, started or used.

    ``message`` says what happened, ``hint`` what to do about it, ``log`` where the whole story is.
    ``str()`` joins them in one line.
    """

    def __init__(self, message: str, *, hint: str, log: Path | None = None) -> None:
        self.message = " ".join(message.split())
        self.hint = " ".join(hint.split())
        self.log = log
        super().__init__(self.one_line())

    def one_line(self) -> str:
        """The error as one line for stderr."""
        line = f"{self.message}; {self.hint}"
        return f"{line} (full log: {self.log})" if self.log else line


@contextmanager
def disk_errors_explained(place: Path) -> Iterator[None]:
    """Turn the errors of a file system (full, read-only, not there) into a `ControlPlaneError`."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise ControlPlaneError(
                f"no space left on device while writing under {place}",
                hint="free some space and run it again",
            ) from error
        if error.errno in (errno.EACCES, errno.EROFS, errno.EPERM):
            raise ControlPlaneError(
                f"cannot write {error.filename or place}: {error.strerror}",
                hint="make the directory writable or choose another one",
            ) from error
        if error.filename is not None:
            raise ControlPlaneError(
                f"cannot use {error.filename}: {error.strerror}", hint=f"check the directory {place}"
            ) from error
        raise
