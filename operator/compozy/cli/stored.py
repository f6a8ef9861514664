"""What a run keeps outside of its status: long outputs, nodes that do not fit, and the plan as it was frozen.

All of it is in ControllerRevisions of the namespace, which never change, so each is read at most once.
"""

from collections.abc import Mapping
from typing import Any

from compozy.cli.kube.client import Object
from compozy.cli.kube.errors import ApiError
from compozy.cli.kube.resources import CONTROLLER_REVISIONS, PLANS
from compozy.cli.output.text import clean
from compozy.cli.session import Session
from compozy.engine.nodes import Nodes, each_of, merged

_NAMED = 3
"""As many missing revisions are named in a line."""


class Stored:
    """Reads what runs of a call keep elsewhere. What is missing or forbidden is left out, and said once."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._read: dict[tuple[str, str], Mapping[str, Any] | None] = {}
        self._missing: list[str] = []

    def full_nodes(self, run: Object, *, outputs: bool = True) -> Nodes:
        """`status.nodes` with its pages, and where asked for with the outputs that are kept elsewhere."""
        nodes = self._nodes(run, outputs=outputs)
        self._say()
        return nodes

    def whole(self, run: Object) -> Object:
        """The run with all of its nodes and outputs in its status; the run itself where nothing is missing."""
        status = run.get("status") or {}
        if not status:
            return run
        told = {"nodes": self._nodes(run, outputs=True)} if status.get("nodes") or status.get("pages") else {}
        found = {**status, **told}
        self._put_output(_namespace(run), found)
        self._say()
        return {**run, "status": found}

    def plan_of(self, run: Object) -> Object | None:
        """What the run was written as; None where that cannot be read, or has changed since."""
        inline: Object | None = run["spec"].get("plan")
        if inline is not None:
            return inline
        namespace, frozen = _namespace(run), (run.get("status") or {}).get("revision")
        if frozen:
            spec = (self._data(namespace, frozen) or {}).get("spec")
            if isinstance(spec, dict):
                return spec
        try:
            plan = self._session.client.get(PLANS, namespace, run["spec"]["planRef"]["name"])
        except ApiError as error:
            if error.status not in (403, 404):
                raise
            return None
        current: Object = plan["spec"]
        return current if not frozen or (plan.get("status") or {}).get("revision") == frozen else None

    def _nodes(self, run: Object, *, outputs: bool) -> Nodes:
        status, namespace = run.get("status") or {}, _namespace(run)
        pages = (self._required(namespace, page["name"]).get("nodes") or {} for page in status.get("pages") or ())
        nodes = merged([*pages, status.get("nodes") or {}])
        if outputs:
            for told in each_of(nodes):
                self._put_output(namespace, told)
        return nodes

    def _put_output(self, namespace: str, told: dict[str, Any]) -> None:
        """Puts an output that is kept elsewhere in its place."""
        reference = told.get("outputRef")
        if reference and told.get("output") is None:
            data = self._required(namespace, reference["name"])
            if "output" in data:
                told["output"] = data["output"]

    def _required(self, namespace: str, name: str) -> Mapping[str, Any]:
        known = (namespace, name) in self._read
        data = self._data(namespace, name)
        if data is None and not known:
            self._missing.append(name)
        return data or {}

    def _data(self, namespace: str, name: str) -> Mapping[str, Any] | None:
        if (namespace, name) not in self._read:
            try:
                revision = self._session.client.get(CONTROLLER_REVISIONS, namespace, name)
                self._read[namespace, name] = revision.get("data") or {}
            except ApiError as error:
                if error.status not in (403, 404):
                    raise
                self._read[namespace, name] = None
        return self._read[namespace, name]

    def _say(self) -> None:
        """One line about what could not be read since the last one."""
        if not self._missing:
            return
        named = ", ".join(self._missing[:_NAMED])
        more = f" and {len(self._missing) - _NAMED} more" if len(self._missing) > _NAMED else ""
        self._session.note(clean(f"Left out: these ControllerRevisions cannot be read: {named}{more}."))
        self._missing.clear()


def _namespace(run: Object) -> str:
    return str(run["metadata"].get("namespace") or "")
