"""The flags that every command shares with kubectl, and how they come together.

kubectl refuses flags before a plugin's name, so ours may stand anywhere after `compozy`: before a command,
between a group and its command, or after it. The one nearest to the end wins. A command has only the flags
that mean something to it; others are usage errors, wherever they stand.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import click


@dataclass(frozen=True, slots=True)
class Flags:
    """The shared flags of one call, as given. `None` and empty values mean: not given."""

    namespace: str | None = None
    all_namespaces: bool = False
    context: str | None = None
    kubeconfig: str | None = None
    cluster: str | None = None
    user: str | None = None
    as_user: str | None = None
    as_uid: str | None = None
    as_groups: tuple[str, ...] = ()
    request_timeout: str | None = None
    output: str | None = None
    selector: str | None = None
    watch: bool = False


CONNECTION = (
    "namespace",
    "context",
    "kubeconfig",
    "cluster",
    "user",
    "as_user",
    "as_uid",
    "as_groups",
    "request_timeout",
)
"""The flags of every command that speaks to a cluster."""

_TEXT: Mapping[str, tuple[Sequence[str], str, str]] = {
    "namespace": (["-n", "--namespace"], "NAME", "Namespace. Default: that of the kubeconfig's context."),
    "context": (["--context"], "NAME", "Context of the kubeconfig."),
    "kubeconfig": (["--kubeconfig"], "FILE", "Kubeconfig to use. Default: those in KUBECONFIG."),
    "cluster": (["--cluster"], "NAME", "Cluster of the kubeconfig."),
    "user": (["--user"], "NAME", "User of the kubeconfig."),
    "as_user": (["--as"], "NAME", "User to act as."),
    "as_uid": (["--as-uid"], "UID", "Uid to act as."),
    "as_groups": (["--as-group"], "NAME", "Group to act as. Can be given again."),
    "request_timeout": (["--request-timeout"], "TIME", "Longest wait for one request: 5s, 2m; 0 for ever."),
    "output": (["-o", "--output"], "FORMAT", "Output format."),
    "selector": (["-l", "--selector"], "LABELS", "Label selector."),
}
_SWITCHES: Mapping[str, tuple[Sequence[str], str]] = {
    "all_namespaces": (["-A", "--all-namespaces"], "In all namespaces."),
    "watch": (["-w", "--watch"], "After the list, show changes."),
}
_PREFIX = "shared_"
ALL = (*CONNECTION, "all_namespaces", "output", "selector", "watch")


def options(names: Iterable[str], formats: Sequence[str] | None = None) -> list[click.Option]:
    """The click options of some shared flags. `formats` limits `-o`; a group leaves that to its command."""
    return [_option(name, formats) for name in names]


def _option(name: str, formats: Sequence[str] | None) -> click.Option:
    if name in _SWITCHES:
        declarations, help_text = _SWITCHES[name]
        return click.Option([_PREFIX + name, *declarations], is_flag=True, help=help_text)
    declarations, metavar, help_text = _TEXT[name]
    choice: click.ParamType[Any] | None = None
    if name == "output" and formats:
        choice = click.Choice(formats)
    elif metavar == "FILE":
        choice = click.Path()
    return click.Option(
        [_PREFIX + name, *declarations],
        type=choice,
        metavar=None if isinstance(choice, click.Choice) else metavar,
        multiple=name == "as_groups",
        help=help_text,
    )


def collect(ctx: click.Context) -> Flags:
    """The shared flags of a command line, wherever they stand. The one nearest to the end wins."""
    given: dict[str, Any] = {}
    at: click.Context | None = ctx
    while at is not None:
        for name in ALL:
            value = at.params.get(_PREFIX + name)
            if value and name == "as_groups":
                given[name] = (*value, *given.get(name, ()))
            elif value:
                given.setdefault(name, value)
        at = at.parent
    return Flags(**given)


def check(flags: Flags, ctx: click.Context, names: Sequence[str], formats: Sequence[str]) -> None:
    """Raises click.UsageError for a flag before the command that the command does not have."""
    for name in ALL:
        if getattr(flags, name) and name not in names:
            declarations = _SWITCHES[name][0] if name in _SWITCHES else _TEXT[name][0]
            raise click.UsageError(f"`{ctx.command_path}` has no flag {'/'.join(declarations)}", ctx)
    if flags.output and flags.output not in formats:
        choices = ", ".join(formats)
        raise click.UsageError(f"-o {flags.output}: `{ctx.command_path}` prints {choices}", ctx)


def own_parameters(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """A command's parameters without the shared flags."""
    return {name: value for name, value in parameters.items() if not name.startswith(_PREFIX)}


def normalised(arguments: Sequence[str]) -> list[str]:
    """kubectl's spelling of short flags with values, `-n=x`, in the way click reads it.

    What stands after `--` is left alone.
    """
    result: list[str] = []
    for index, argument in enumerate(arguments):
        if argument == "--":
            return [*result, *arguments[index:]]
        if len(argument) > 2 and argument[0] == "-" and argument[1].isalpha() and argument[2] == "=":
            result += [argument[:2], argument[3:]]
        else:
            result.append(argument)
    return result
