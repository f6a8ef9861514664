"""How commands are declared and found: a command is a function of a session, imported when it is called."""

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

import click

from compozy.cli import flags
from compozy.cli.session import Session

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

SETTINGS = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


class Invocation:
    """What is known of a call while it runs; `main` reads it to show an error in the right form."""

    session: Session | None = None


class Command(click.Command):
    """A command with some of the shared flags. Its function gets the session first."""

    def __init__(self, name: str | None, *, shared: Sequence[str], formats: Sequence[str], **kwargs: Any) -> None:
        """`shared` names flags of `compozy.cli.flags`; `formats` are what `-o` takes."""
        super().__init__(name, **{"context_settings": SETTINGS, **kwargs})
        self.shared = tuple(shared)
        self.formats = tuple(formats)
        self.params += flags.options(self.shared, self.formats)

    def invoke(self, ctx: click.Context) -> Any:
        """Makes the session of the flags and calls the function with it."""
        given = flags.collect(ctx)
        flags.check(given, ctx, self.shared, self.formats)
        session = Session(given)
        if isinstance(ctx.obj, Invocation):
            ctx.obj.session = session
        if self.callback is None:
            raise TypeError(f"command {self.name} has no function")
        return ctx.invoke(self.callback, session, **flags.own_parameters(ctx.params))


def command(
    name: str, *, shared: Sequence[str] = (), formats: Sequence[str] = ("json",), connects: bool = True
) -> Callable[[Callable[..., int | None]], Command]:
    """Declares a command. The function's docstring is its help; the return value its exit code.

    `connects=False`: the command never speaks to a cluster and has no flags that say to which.
    """
    names = (*(flags.CONNECTION if connects else ()), *(("output",) if formats else ()), *shared)

    def decorate(function: Callable[..., int | None]) -> Command:
        made: Command = click.command(name, cls=Command, shared=names, formats=formats)(function)
        return made

    return decorate


class LazyGroup(click.Group):
    """A group that knows its commands by name and one line, and imports one only when it is called."""

    def __init__(self, name: str | None, *, table: Mapping[str, tuple[str, str]], help_text: str) -> None:
        """`table` gives for each command `module:attribute` and a line for the group's help."""
        super().__init__(name, context_settings=SETTINGS, no_args_is_help=True, help=help_text, callback=_no_op)
        self.table = dict(table)
        self.params += flags.options(flags.ALL)

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """The names of the commands, in the order of the table."""
        return list(self.table)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Imports a command."""
        if cmd_name not in self.table:
            return None
        module, attribute = self.table[cmd_name][0].split(":")
        found: click.Command = getattr(import_module(module), attribute)
        return found

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Finds the command, or says which ones are spelled alike."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            import difflib

            close = difflib.get_close_matches(args[0], self.table, n=2)
            if not close:
                raise
            meant = " or ".join(f"`{ctx.command_path} {name}`" for name in close)
            raise click.UsageError(f"no command {args[0]!r}; did you mean {meant}?", ctx) from error

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """Writes the list of commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in self.table.items()])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list["CompletionItem"]:
        """The commands, without importing them, and the flags."""
        from click.shell_completion import CompletionItem

        found = [CompletionItem(name, help=line) for name, (_, line) in self.table.items()]
        flags_found = click.Command.shell_complete(self, ctx, incomplete)
        return [item for item in found if item.value.startswith(incomplete)] + flags_found


def _no_op(**_: Any) -> None:
    """A group does nothing itself: its flags are read by the command."""
