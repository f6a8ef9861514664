"""Text that a command line points to: in a file, or on stdin."""

import sys
from io import TextIOWrapper

from compozy.cli.errors import CliError

STDIN = "-"
"""What stands for stdin where the name of a file is wanted."""

_LONGEST = 64 * 1024 * 1024
"""As much as is read, in characters: more than any object of Kubernetes holds, and devices have no end."""


def read_text(file: str) -> str:
    """The text of a file, or of stdin for `-`. Raises CliError `bad_input`."""
    try:
        if file == STDIN:
            return _stdin()
        with open(file, encoding="utf-8-sig") as opened:  # noqa: PTH123 - pathlib would be loaded at each start
            return opened.read(_LONGEST)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise CliError("bad_input", f"cannot read {file}: {reason}") from error


def _stdin() -> str:
    """All of stdin, which is UTF-8 as files are, whatever the locale says."""
    if isinstance(sys.stdin, TextIOWrapper):
        sys.stdin.reconfigure(encoding="utf-8-sig", errors="strict")
    return sys.stdin.read(_LONGEST)
