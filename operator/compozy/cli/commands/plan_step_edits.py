"""`kubectl compozy plan step add`, `set`, `rename` and `rm`."""

from typing import Any

import click

from compozy.cli.command import command
from compozy.cli.editing import dry_run_option, edit, file_argument, pairs
from compozy.cli.errors import CliError
from compozy.cli.session import Session
from compozy.cli.textfile import STDIN, read_text

_step_argument = click.argument("step", metavar="STEP")


@command("add", connects=False)
@file_argument
@click.argument("step", metavar="STEP")
@click.option("--before", metavar="ID", help="Put it before this step.")
@click.option("--after", metavar="ID", help="Put it after this step. Default: at the end.")
@dry_run_option
def add(session: Session, file: str, step: str, before: str | None, after: str | None, dry_run: bool) -> int:
    """Add a step: YAML or JSON, `@file`, or `-` for stdin. Without an id it gets the next free E<n>."""
    from compozy.language.authoring.edits import step_add

    if before is not None and after is not None:
        raise click.UsageError("give one of --before and --after")
    if file == step == STDIN:
        raise CliError("bad_input", "the plan and the step cannot both come from stdin")
    added = _read_step(step)
    return edit(session, file, lambda text: step_add(text, added, before=before, after=after), dry_run=dry_run)


@command("set", connects=False)
@file_argument
@_step_argument
@click.argument("values", nargs=-1, required=True, metavar="KEY=VALUE...")
@dry_run_option
def set_values(session: Session, file: str, step: str, values: tuple[str, ...], dry_run: bool) -> int:
    """Set fields of a step, such as input.prompt='Which channel?' or tool_name=ask."""
    from compozy.language.authoring.edits import step_set

    given = pairs(values)
    return edit(session, file, lambda text: step_set(text, step, given), dry_run=dry_run)


@command("rename", connects=False)
@file_argument
@_step_argument
@click.argument("new", metavar="NEW")
@dry_run_option
def rename(session: Session, file: str, step: str, new: str, dry_run: bool) -> int:
    """Give a step another id, in every template that refers to it too. Plain text is never touched."""
    from compozy.language.authoring.edits import step_rename

    return edit(session, file, lambda text: step_rename(text, step, new), dry_run=dry_run)


@command("rm", connects=False)
@file_argument
@_step_argument
@dry_run_option
def rm(session: Session, file: str, step: str, dry_run: bool) -> int:
    """Remove a step. Refused while others refer to it."""
    from compozy.language.authoring.edits import step_rm

    return edit(session, file, lambda text: step_rm(text, step), dry_run=dry_run)


def _read_step(given: str) -> dict[str, Any]:
    from compozy.language.problems import PlanInvalid
    from compozy.language.yaml_text import load

    text = read_text(given.removeprefix("@")) if given == STDIN or given.startswith("@") else given
    try:
        step = load(text).value
    except PlanInvalid as invalid:
        raise CliError("bad_input", f"STEP is not YAML: {invalid}") from invalid
    if not isinstance(step, dict):
        raise CliError("bad_input", "STEP must be an object with `tool_name` and `input`")
    return step
