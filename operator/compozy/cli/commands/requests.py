"""`kubectl compozy requests`: the questions that wait for an answer, in the order in which to answer them."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, get_args

import click

from compozy.cli.command import command
from compozy.cli.kube.resources import HUMAN_REQUESTS
from compozy.cli.listing import (
    DEFAULT_LIMIT,
    FIELD_SELECTORS,
    MAX_LIMIT,
    ListState,
    Page,
    Request,
    page,
    sort_key,
)
from compozy.cli.output.table import Column, Table
from compozy.cli.output.text import clean
from compozy.cli.output.times import age, until
from compozy.cli.preview import preview
from compozy.cli.session import Session
from compozy.requests.closing import state_of

_NAMESPACE = Column("NAMESPACE")


@command("requests", shared=("all_namespaces", "selector", "watch"), formats=("json", "yaml", "name", "wide"))
@click.option("--run", "run_name", metavar="RUN", help="Only those of one run.")
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
def requests(session: Session, run_name: str | None, state: ListState, limit: int, cursor: str | None) -> None:
    """List questions. Those that expire first come first; resolved ones newest first.

    `-o json` prints bounded previews, how many questions are pending in all of the namespace, and a cursor
    for the next page.
    """
    if session.flags.watch:
        _watch(session, run_name, state)
        return
    found = session.client.list(
        HUMAN_REQUESTS,
        session.scope,
        field_selector=_selector(FIELD_SELECTORS[state], run_name),
        label_selector=session.flags.selector or "",
    ).items
    shown = page(found, state, limit, cursor)
    if session.output in ("json", "yaml"):
        unfiltered = state == "pending" and not run_name and not session.flags.selector
        pending = len(found) if unfiltered else _count_pending(session)
        envelope = {
            "items": [preview(item) for item in shown.items],
            "aggregates": {"pending": pending},
            "next_cursor": shown.next_cursor,
        }
        (session.out_json if session.as_json else session.out_yaml)(envelope)
    elif session.output == "name":
        for item in shown.items:
            session.out(f"humanrequest/{item['metadata']['name']}")
    else:
        _print_page(session, shown, state)


def _selector(state_selector: str, run_name: str | None) -> str:
    parts = [state_selector, f"spec.run={run_name}" if run_name else ""]
    return ",".join(part for part in parts if part)


def _count_pending(session: Session) -> int:
    """How many questions wait in the whole namespace, whatever this list is filtered by."""
    pending = session.client.list(
        HUMAN_REQUESTS, session.scope, field_selector=FIELD_SELECTORS["pending"], metadata_only=True
    )
    return len(pending.items)


def _print_page(session: Session, shown: Page, state: ListState) -> None:
    if not shown.items:
        where = "in any namespace" if session.scope is None else f"in namespace {session.namespace}"
        session.note(clean(f"No {state} requests {where}."))
        return
    now = session.now()
    table = Table(_columns(session, state), session.terminal_width())
    for line in table.lines([_row(session, item, state, now) for item in shown.items]):
        session.out(line)
    if shown.next_cursor:
        session.note(f"{shown.left} more: add --cursor {shown.next_cursor}")


def _columns(session: Session, state: ListState | None) -> Sequence[Column]:
    """The columns of a list; `state=None` for a watch, where a question may be either."""
    wide = session.output == "wide"
    columns = [Column(title) for title in ("NAME", "RUN", "NODE", "ITEM")]
    if session.flags.all_namespaces:
        columns.insert(0, _NAMESPACE)
    if wide:
        columns += [Column("GENERATION"), Column("KIND"), Column("DECISIONS"), Column("RESPONDERS")]
    if state != "pending":
        columns += [Column("STATE"), Column("RESPONDER")]
    columns.append(Column("PROMPT", flexible=not wide))
    if state != "resolved":
        columns.append(Column("EXPIRES"))
    return [*columns, Column("AGE")]


def _row(session: Session, item: Request, state: ListState | None, now: datetime) -> list[object]:
    spec, metadata = item["spec"], item["metadata"]
    cells: list[object] = [metadata["name"], spec["run"], spec["node"], spec.get("item")]
    if session.flags.all_namespaces:
        cells.insert(0, metadata["namespace"])
    if session.output == "wide":
        cells += [spec["generation"], spec["kind"], ",".join(spec["decisions"]), _responders(spec)]
    if state != "pending":
        cells += [state_of(item), (item.get("response") or {}).get("responder")]
    cells.append(spec["prompt"])
    if state != "resolved":
        cells.append(until(spec.get("expiresAt"), now))
    return [*cells, age(metadata.get("creationTimestamp"), now)]


def _responders(spec: Mapping[str, Any]) -> str:
    responders = spec.get("responders") or {}
    named = [*responders.get("users", []), *responders.get("groups", [])]
    return ",".join(named) or "<any>"


def _watch(session: Session, run_name: str | None, state: ListState) -> None:
    """Shows the questions there are and then, line by line, what becomes of them, until interrupted.

    A pending question that is resolved leaves the selection, so the watch selects by run alone.
    """
    from compozy.cli.kube.watch import watch

    table = Table(_columns(session, None), session.terminal_width())
    labels = session.flags.selector or ""
    listed = session.client.list(
        HUMAN_REQUESTS,
        session.scope,
        field_selector=_selector(FIELD_SELECTORS[state], run_name),
        label_selector=labels,
    )
    shown = {item["metadata"]["uid"] for item in listed.items}
    _print_watched(session, table, sorted(listed.items, key=lambda item: sort_key(item, state)))
    for change in watch(
        session.client,
        HUMAN_REQUESTS,
        session.scope,
        field_selector=_selector("", run_name),
        label_selector=labels,
        since=listed,
    ):
        uid, resolved = change.object["metadata"]["uid"], state_of(change.object) != "Pending"
        wanted = (resolved and uid not in shown) if state == "resolved" else (not resolved or uid in shown)
        if change.deleted or not wanted:
            continue
        (shown.discard if state == "pending" and resolved else shown.add)(uid)
        _print_watched(session, table, [change.object])


def _print_watched(session: Session, table: Table, items: Sequence[Request]) -> None:
    if session.output in ("json", "yaml", "name"):
        for item in items:
            if session.output == "json":
                session.out_json(preview(item), indent=None)
            elif session.output == "yaml":
                session.out("---")
                session.out_yaml(preview(item))
            else:
                session.out(f"humanrequest/{item['metadata']['name']}")
        return
    now = session.now()
    rows = [_row(session, item, None, now) for item in items]
    for line in table.lines(rows):
        session.out(line)
