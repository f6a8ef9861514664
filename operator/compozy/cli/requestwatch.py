"""`kubectl compozy requests -w`: the questions there are and then, line by line, what becomes of them."""

from collections.abc import Iterator, Sequence

from compozy.cli.kube.client import Object, ObjectList
from compozy.cli.kube.resources import HUMAN_REQUESTS
from compozy.cli.kube.watch import watch
from compozy.cli.listing import MAX_LIMIT, ListState, Request, sort_key
from compozy.cli.preview import outline, preview
from compozy.cli.requestlist import Briefs, Filter, in_full, is_listed
from compozy.cli.requesttable import RequestTable
from compozy.cli.session import Session


def watch_requests(session: Session, wanted: Filter, state: ListState) -> None:
    """Prints until interrupted. A question that leaves the list is told once more, as it is then.

    A pending question that is resolved would leave a selection by state without a word of why, so the watch
    selects by the filter alone. Raises what `watch` raises.
    """
    printer = _Printer(session)
    briefs = Briefs(session.client, session.scope, wanted, state)
    first = sorted(briefs, key=lambda brief: sort_key(brief, state))
    known = list(_print_first(session, printer, first, state))
    shown = {item["metadata"]["uid"] for item in known}
    for change in watch(
        session.client,
        HUMAN_REQUESTS,
        session.scope,
        field_selector=wanted.fields,
        label_selector=wanted.labels or "",
        since=ObjectList(known, briefs.resource_version),
        remembered=outline,
    ):
        uid = change.object["metadata"]["uid"]
        listed = is_listed(change.object, state)
        if change.deleted:
            if uid in shown:
                printer.print([change.object], deleted=True)
            shown.discard(uid)
        elif listed or uid in shown:
            printer.print([change.object])
            (shown.add if listed else shown.discard)(uid)


def _print_first(
    session: Session, printer: "_Printer", briefs: list[Request], state: ListState
) -> Iterator[Object]:
    """Prints what there is, page by page, and gives what is to be known of it."""
    for start in range(0, len(briefs), MAX_LIMIT):
        items = list(in_full(session.client, briefs[start : start + MAX_LIMIT], state, printer.shape))
        printer.print(items)
        yield from map(outline, items)


class _Printer:
    """Prints questions in the format of this call, each on its own."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._table = RequestTable(session, None)
        self.shape = preview if session.output in ("json", "yaml") else outline

    def print(self, items: Sequence[Object], *, deleted: bool = False) -> None:
        """What is deleted is shown as it last was, and says so."""
        if self._session.output in ("json", "yaml", "name"):
            for item in items:
                self._print_one(self.shape(item) | ({"deleted": True} if deleted else {}))
        else:
            self._table.print(items, deleted=deleted)

    def _print_one(self, shown: Object) -> None:
        session = self._session
        if session.output == "name":
            session.out(f"humanrequest/{shown['metadata']['name']}")
        elif session.as_json:
            session.out_json(shown, indented=False)
        else:
            session.out("---")
            session.out_yaml(shown)
