"""`kubectl compozy requests`: the questions that wait for an answer, in the order in which to answer them."""

from typing import get_args

import click
from click.core import ParameterSource

from compozy.cli.command import command
from compozy.cli.errors import CliError
from compozy.cli.listing import DEFAULT_LIMIT, MAX_LIMIT, ListState, Page, Request, page
from compozy.cli.output.text import clean
from compozy.cli.preview import outline, preview
from compozy.cli.requestlist import Briefs, Filter, count_pending, in_full
from compozy.cli.requesttable import RequestTable
from compozy.cli.session import Session
from compozy.requests.approvals import needed


@command("requests", shared=("all_namespaces", "selector", "watch"), formats=("json", "yaml", "name", "wide"))
@click.option("--run", "run_name", metavar="RUN", help="Only those of one run.")
@click.option("--node", metavar="NODE", help="Only those of one step or node.")
@click.option("--generation", type=int, metavar="G", help="Only those of one attempt of a run.")
@click.option("--item", type=int, metavar="I", help="Only those of one item of a fan-out.")
@click.option(
    "--state",
    type=click.Choice(get_args(ListState)),
    default="pending",
    show_default=True,
    help="Which ones.",
)
@click.option(
    "--limit", type=int, default=DEFAULT_LIMIT, show_default=True, help=f"Rows to show, up to {MAX_LIMIT}."
)
@click.option("--cursor", metavar="CURSOR", help="Go on after the page that gave this cursor.")
def requests(
    session: Session,
    run_name: str | None,
    node: str | None,
    generation: int | None,
    item: int | None,
    state: ListState,
    limit: int,
    cursor: str | None,
) -> None:
    """List questions. Those that expire first come first; resolved ones newest first.

    `-o json` prints bounded previews, how many questions are pending in all of the namespace, and a cursor
    for the next page. With `-w` all of them are shown, then every change, until interrupted.
    """
    if (generation is not None and generation < 1) or (item is not None and item < 0):
        raise CliError("bad_input", "--generation counts from 1 and --item from 0")
    wanted = Filter(run_name, node, generation, item, session.flags.selector)
    if session.flags.watch:
        _refuse_pages()
        from compozy.cli.requestwatch import watch_requests

        watch_requests(session, wanted, state)
        return
    shown = page(Briefs(session.client, session.scope, wanted, state), state, limit, cursor)
    if session.output in ("json", "yaml"):
        _print_envelope(session, shown, state, unfiltered=wanted == Filter())
    elif session.output == "name":
        for found in shown.items:
            session.out(f"humanrequest/{found['metadata']['name']}")
    else:
        _print_table(session, shown, state)


def _refuse_pages() -> None:
    """A watch shows everything: a page of it would be another list by the time it is printed."""
    context = click.get_current_context()
    for name in ("limit", "cursor"):
        if context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            raise click.UsageError(f"--{name} makes pages, and -w has none: leave one of them out")


def _print_envelope(session: Session, shown: Page, state: ListState, *, unfiltered: bool) -> None:
    envelope = {
        "items": list(in_full(session.client, shown.items, state, preview)),
        "aggregates": {
            "pending": shown.total
            if unfiltered and state == "pending"
            else count_pending(session.client, session.scope)
        },
        "next_cursor": shown.next_cursor,
    }
    (session.out_json if session.as_json else session.out_yaml)(envelope)


def _print_table(session: Session, shown: Page, state: ListState) -> None:
    items: list[Request] = list(in_full(session.client, shown.items, state, outline))
    if items:
        RequestTable(session, state, counts=any(needed(item) > 1 for item in items)).print(items)
    else:
        where = "in any namespace" if session.scope is None else f"in namespace {session.namespace}"
        session.note(clean(f"No {state} requests {where}."))
    if shown.next_cursor:
        session.note(f"{shown.left} more: add --cursor {shown.next_cursor}")
