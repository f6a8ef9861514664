"""`kubectl_complete-compozy`: what kubectl runs to complete a command line of the plugin.

kubectl passes the words after `compozy`, the last one as far as it was typed, and reads lines of
`value<TAB>description` and a last line that says whether files are completions too.
"""

import sys
from collections.abc import Sequence

from click.shell_completion import ShellComplete

from compozy.cli.flags import normalised
from compozy.cli.main import cli

FILES = ":0"
NO_FILES = ":4"


def main() -> None:
    """Prints the completions of the words on the command line."""
    lines, directive = complete(sys.argv[1:])
    print("\n".join([*lines, directive]))


def complete(words: Sequence[str]) -> tuple[list[str], str]:
    """The lines for kubectl and its directive. A completion never fails: it finds nothing."""
    *before, incomplete = words or [""]
    try:
        items = ShellComplete(cli, {}, "kubectl compozy", "").get_completions(normalised(before), incomplete)
    except Exception:  # noqa: BLE001 - a person is typing: the command itself will say what is wrong
        return [], NO_FILES
    if any(item.type == "file" for item in items):
        return [], FILES
    return [f"{item.value}\t{item.help}" if item.help else str(item.value) for item in items], NO_FILES
