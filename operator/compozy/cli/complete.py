"""`kubectl_complete-compozy`: what kubectl runs to complete a command line of the plugin.

kubectl passes the words after `compozy`, the last one as far as it was typed, and reads lines of
`value<TAB>description` and a last line that says whether files are completions too.
"""

import sys
from collections.abc import Sequence

from click.shell_completion import CompletionItem, ShellComplete

from compozy.cli.flags import normalised
from compozy.cli.main import cli, forget_output
from compozy.hosts.display import visible

FILES = ":0"
NO_FILES = ":4"
GOES_ON = ":6"
"""No files, and no blank behind a completion: more of the same word follows."""


def main() -> None:
    """Prints the completions of the words on the command line."""
    lines, directive = complete(sys.argv[1:])
    try:
        print("\n".join([*lines, directive]), flush=True)
    except OSError:
        forget_output()


def complete(words: Sequence[str]) -> tuple[list[str], str]:
    """The lines for kubectl and its directive. A completion never fails: it finds nothing."""
    *before, incomplete = words or [""]
    try:
        items = ShellComplete(cli, {}, "kubectl compozy", "").get_completions(normalised(before), incomplete)
    except Exception:  # noqa: BLE001 - a person is typing: the command itself will say what is wrong
        return [], NO_FILES
    if any(item.type == "file" for item in items):
        return [], FILES
    goes_on = bool(items) and all(str(item.value).endswith("=") for item in items)
    return [_line(item) for item in items], GOES_ON if goes_on else NO_FILES


def _line(item: CompletionItem) -> str:
    """One completion; what people wrote into it may not look like another."""
    value, told = visible(str(item.value)), visible(item.help or "")
    return f"{value}\t{told}" if told else value
