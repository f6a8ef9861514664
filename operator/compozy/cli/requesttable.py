"""Questions as rows of a table."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from compozy.cli.listing import ListState, Request
from compozy.cli.output.table import Column, Table
from compozy.cli.output.times import age, until
from compozy.cli.session import Session
from compozy.requests.approvals import approvers, needed
from compozy.requests.state import state_of

_NAMESPACE = Column("NAMESPACE")
DELETED = "Deleted"
"""Shown in the place of a state for what is not there any more."""


class RequestTable:
    """The table of a list; `state=None` for a watch, where a question may be in any state.

    With `counts`, how many have approved of how many who must, which the wide form always tells.
    """

    def __init__(self, session: Session, state: ListState | None, *, counts: bool = False) -> None:
        self._session = session
        self._state = state
        self._wide = session.output == "wide"
        self._counts = counts or self._wide
        self._table = Table(self._columns(), session.terminal_width())

    def print(self, items: Sequence[Request], *, deleted: bool = False) -> None:
        """Prints a row for each question, under titles the first time."""
        now = self._session.now()
        for line in self._table.lines([self._row(item, now, deleted) for item in items]):
            self._session.out(line)

    def _columns(self) -> Sequence[Column]:
        columns = [Column(title) for title in ("NAME", "RUN", "NODE", "ITEM")]
        if self._session.flags.all_namespaces:
            columns.insert(0, _NAMESPACE)
        if self._wide:
            columns += [Column("GENERATION"), Column("KIND"), Column("DECISIONS"), Column("RESPONDERS")]
        if self._counts:
            columns.append(Column("APPROVALS"))
        if self._state != "pending":
            columns += [Column("STATE"), Column("RESPONDER")]
        columns.append(Column("PROMPT", flexible=not self._wide))
        if self._state != "resolved":
            columns.append(Column("EXPIRES"))
        return [*columns, Column("AGE")]

    def _row(self, item: Request, now: datetime, deleted: bool) -> list[object]:
        spec, metadata = item["spec"], item["metadata"]
        cells: list[object] = [metadata["name"], spec["run"], spec["node"], spec.get("item")]
        if self._session.flags.all_namespaces:
            cells.insert(0, metadata["namespace"])
        if self._wide:
            cells += [spec["generation"], spec["kind"], ",".join(spec["decisions"]), _responders(spec)]
        if self._counts:
            cells.append(f"{len(approvers(item))}/{needed(item)}" if needed(item) > 1 else None)
        if self._state != "pending":
            state = DELETED if deleted else state_of(item)
            cells += [state, (item.get("response") or {}).get("responder")]
        cells.append(spec["prompt"])
        if self._state != "resolved":
            cells.append(until(spec.get("expiresAt"), now))
        return [*cells, age(metadata.get("creationTimestamp"), now)]


def _responders(spec: Mapping[str, Any]) -> str:
    responders = spec.get("responders") or {}
    named = [*responders.get("users", []), *responders.get("groups", [])]
    return ",".join(named) or "<any>"
