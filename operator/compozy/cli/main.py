"""The entry point of `kubectl compozy`: the table of commands, and how errors are shown."""

import os
import sys
from collections.abc import Sequence
from contextlib import suppress

import click

from compozy.api.depth import read_deep_objects
from compozy.cli.command import Invocation, LazyGroup
from compozy.cli.errors import EXIT_INTERRUPTED, EXIT_USAGE, CliError
from compozy.cli.flags import normalised

_COMMANDS = "compozy.cli.commands"

cli = LazyGroup(
    "compozy",
    help_text="Plans that stop and ask a person.\n\nFlags may stand anywhere after `compozy`, not before.",
    table={
        "run": (f"{_COMMANDS}.run:run", "Start a run, follow it and answer its questions."),
        "requests": (f"{_COMMANDS}.requests:requests", "List questions that wait for an answer."),
        "request": (f"{_COMMANDS}.request:request", "Show one question in full."),
        "respond": (f"{_COMMANDS}.respond:respond", "Answer a question."),
        "cancel": (f"{_COMMANDS}.cancel:cancel", "Cancel a run or a question."),
        "pause": (f"{_COMMANDS}.pause:pause", "Hold a run: nothing new starts."),
        "resume": (f"{_COMMANDS}.resume:resume", "Let a paused run go on."),
        "retry": (f"{_COMMANDS}.retry:retry", "Try a run that has failed again."),
        "runs": (f"{_COMMANDS}.runs:runs", "List runs."),
        "describe": (f"{_COMMANDS}.describe:describe", "Show a run: what waits for whom since when."),
        "graph": (f"{_COMMANDS}.graph:graph", "Draw a plan, or a run with where it stands."),
        "plan": (f"{_COMMANDS}.plan:plan", "Check, apply, list and show plans."),
    },
)


def main(arguments: Sequence[str] | None = None) -> None:
    """Runs a command and ends the process with its code.

    At once: taking the interpreter apart is a fifth of what a short command costs, and nothing is left to do.
    """
    code = run(sys.argv[1:] if arguments is None else arguments)
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError):
            stream.flush()
    os._exit(code)


def run(arguments: Sequence[str]) -> int:
    """Runs a command and returns its exit code. Everything that can go wrong is shown here."""
    _open_streams()
    read_deep_objects()
    invocation = Invocation()
    try:
        result = cli.main(
            args=normalised(_as_text(arguments)),
            prog_name="kubectl compozy",
            standalone_mode=False,
            obj=invocation,
        )
        sys.stdout.flush()
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message())
        return 0
    except click.ClickException as error:
        if any(word in ("json", "-ojson", "-o=json", "--output=json") for word in arguments):
            _print_usage_error(error)
        else:
            error.show()
        return EXIT_USAGE
    except (click.Abort, KeyboardInterrupt):
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        forget_output()
        return 1
    except Exception as error:  # noqa: BLE001 - everything is shown, faults of our own included
        failure = _as_cli_error(error) or _fault(error)
        _show(failure.redacted(), invocation)
        return failure.exit_code
    return result if isinstance(result, int) else 0


def _open_streams() -> None:
    """Whoever calls us may have closed some of the three: then what is written is lost and nothing can be read."""
    sys.stdin = sys.stdin or open(os.devnull, encoding="utf-8")  # noqa: PTH123, SIM115 - as long as we live
    sys.stdout = sys.stdout or open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115
    sys.stderr = sys.stderr or open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def forget_output() -> None:
    """Whoever read our output has stopped, or there is no room for it: nothing is written at exit either."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _as_text(arguments: Sequence[str]) -> Sequence[str]:
    """The arguments. Raises click.UsageError for bytes that are no text: others would be stored in their place."""
    for argument in arguments:
        if argument.isascii():
            continue
        from compozy.language.shapes.bounds import is_unicode

        if not is_unicode(argument):
            raise click.UsageError(f"{argument!r} is not UTF-8 text")
    return arguments


def _fault(error: Exception) -> CliError:
    """A fault of our own: where it happened, without what secrets the values there may have been."""
    import traceback

    lines = "".join(traceback.format_exception(error)).splitlines()
    return CliError("internal_error", f"this is a fault of the plugin: {type(error).__name__}", lines=lines)


def _print_usage_error(error: click.ClickException) -> None:
    """A wrong call in the shape of every other error: who asks for JSON gets JSON."""
    import json

    click.echo(
        json.dumps({"ok": False, "code": "usage", "message": error.format_message(), "details": {}}, indent=2)
    )


def _as_cli_error(error: Exception) -> CliError | None:
    """The error as commands show it; None for a fault of our own, which deserves a traceback."""
    if isinstance(error, CliError):
        return error
    from compozy.cli.failures import of_exception

    return of_exception(error)


def _show(failure: CliError, invocation: Invocation) -> None:
    session = invocation.session
    if session is not None and session.as_json:
        with suppress(OSError):
            session.out_json(failure.as_json())
            return
    from compozy.cli.output.text import clean

    for line in (*failure.lines, failure.as_line()):
        if session is None:
            print(clean(line), file=sys.stderr)
        else:
            session.note(clean(line))
