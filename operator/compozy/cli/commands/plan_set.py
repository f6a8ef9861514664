"""`kubectl compozy plan set` and `plan unset`: fields of a plan file."""

import click

from compozy.cli.command import command
from compozy.cli.editing import dry_run_option, edit, file_argument, pairs
from compozy.cli.session import Session


@command("set", connects=False)
@file_argument
@click.argument("values", nargs=-1, required=True, metavar="KEY=VALUE...")
@dry_run_option
def set_values(session: Session, file: str, values: tuple[str, ...], dry_run: bool) -> int:
    """Set fields, such as name=Release or steps.E0.input.prompt='Which channel?'.

    A value is JSON where it can be, else text. Steps and nodes are named by their ids. Comments stay. Refused
    when the plan would have a problem that it has not now.
    """
    from compozy.language.authoring.edits import set_fields

    given = pairs(values)
    return edit(session, file, lambda text: set_fields(text, given), dry_run=dry_run)


@command("unset", connects=False)
@file_argument
@click.argument("keys", nargs=-1, required=True, metavar="KEY...")
@dry_run_option
def unset(session: Session, file: str, keys: tuple[str, ...], dry_run: bool) -> int:
    """Remove fields, such as steps.E0.input.default. Refused when the plan would have a new problem."""
    from compozy.language.authoring.edits import unset_fields

    return edit(session, file, lambda text: unset_fields(text, keys), dry_run=dry_run)
