"""Files are replaced as a whole: whoever reads one sees it before or after, never in between."""

import contextlib
import os
import tempfile
from pathlib import Path

from compozy.cli.errors import CliError


def save(file: str, text: str) -> None:
    """Replaces a file's text. Its mode, its line ends and a link to it stay. Raises CliError `bad_input`."""
    path = Path(file).resolve()
    try:
        before = path.read_bytes()
        written = text.replace("\n", "\r\n") if b"\r\n" in before else text
        _replace(path, written.encode())
    except OSError as error:
        raise CliError("bad_input", f"cannot write {file}: {error.strerror or error}") from error


def _replace(path: Path, content: bytes) -> None:
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(content)
            stream.flush()
            os.fchmod(stream.fileno(), path.stat().st_mode & 0o7777)
            os.fsync(stream.fileno())
        Path(temporary).replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            Path(temporary).unlink()
        raise
