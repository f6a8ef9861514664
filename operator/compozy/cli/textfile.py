"""Text that a command line points to: in a file, or on stdin."""

import sys

from compozy.cli.errors import CliError

STDIN = "-"
"""What stands for stdin where the name of a file is wanted."""


def read_text(file: str) -> str:
    """The text of a file, or of stdin for `-`. Raises CliError `bad_input`."""
    try:
        if file == STDIN:
            return sys.stdin.read()
        with open(file, encoding="utf-8") as opened:  # noqa: PTH123 - pathlib would be loaded at each start
            return opened.read()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise CliError("bad_input", f"cannot read {file}: {reason}") from error
