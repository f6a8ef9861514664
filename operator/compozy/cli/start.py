"""Where `kubectl compozy` and its completions begin: before the rest of the plugin is loaded."""

import gc

_ALLOCATIONS = 50_000
"""After how many new objects Python looks for garbage, instead of 700. Loading a program makes nothing but objects
that stay, and a command is over soon: the search for garbage among them was a twentieth of its time."""


def main() -> None:
    """Runs a command and ends the process with its code."""
    gc.set_threshold(_ALLOCATIONS)
    from compozy.cli import main as command

    command.main()


def complete() -> None:
    """Prints the completions of the words on the command line, for `kubectl_complete-compozy`."""
    gc.set_threshold(_ALLOCATIONS)
    from compozy.cli import complete as completion

    completion.main()
