"""What happens to a run while it is followed: lines for people on a terminal, or events for programs.

`COMPOZY_EVENTS=jsonl` (and `GRAPH_EVENTS=jsonl`) claims stderr for events, one JSON object a line, whose key
`event` says what happened.
"""

import sys
from collections.abc import Mapping
from typing import Any

from compozy.cli.feed import Picture, phase_of
from compozy.cli.kube.client import Object
from compozy.cli.output.structured import to_json
from compozy.cli.output.text import clean
from compozy.cli.session import Session
from compozy.requests.closing import state_of

_SHOWN = ("Waiting", "Running", "Succeeded", "Failed", "Skipped", "Canceled")
_MARKS = {"Succeeded": "✓", "Failed": "✗", "Skipped": "-", "Canceled": "✗", "Waiting": "?", "Running": "…"}


class Progress:
    """Tells what has changed since it was last told. Level-triggered: it compares pictures, not events."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._silent = not session.events and not sys.stderr.isatty()
        self._nodes: dict[str, str] = {}
        self._questions: dict[str, str] = {}

    def started(self, run: Object, plan: str) -> None:
        """The run has been created."""
        name = run["metadata"]["name"]
        self._tell("run_started", f"run {name} started", {"run": name, "plan": plan})

    def update(self, picture: Picture) -> None:
        """Tells of nodes and questions that have changed."""
        nodes = (picture.run.get("status") or {}).get("nodes") or {}
        for node, told in nodes.items():
            if told["status"] != self._nodes.get(node) and told["status"] in _SHOWN:
                self._nodes[node] = told["status"]
                self._node(node, told)
        for name, question in picture.questions.items():
            state = state_of(question)
            if state != self._questions.get(name):
                self._questions[name] = state
                self._question(name, question, state)

    def ended(self, run: Object) -> None:
        """The run has ended."""
        name, phase = run["metadata"]["name"], phase_of(run)
        self._tell("run_finished", f"run {name} {phase.lower()}", {"run": name, "phase": phase})

    def _node(self, node: str, told: Mapping[str, Any]) -> None:
        status = told["status"]
        reason = f" ({told['reason']})" if told.get("reason") else ""
        facts = {"node": node, "status": status}
        facts |= {key: told[key] for key in ("reason", "message") if told.get(key)}
        self._tell("node_changed", f"{_MARKS[status]} {node} {status.lower()}{reason}", facts)

    def _question(self, name: str, question: Object, state: str) -> None:
        spec = question["spec"]
        facts: dict[str, Any] = {"request": name, "node": spec["node"], "generation": spec["generation"]}
        if spec.get("item") is not None:
            facts["item"] = spec["item"]
        if state == "Pending":
            facts |= {"prompt": spec["prompt"], "expires_at": spec.get("expiresAt")}
            self._tell("request_opened", f"? {spec['node']} asks: humanrequest/{name}", facts)
        else:
            by = (question.get("response") or {}).get("responder")
            facts |= {"state": state, "responder": by}
            told = f"humanrequest/{name} {state.lower()}" + (f" by {by}" if by else "")
            self._tell("request_resolved", told, facts)

    def _tell(self, event: str, text: str, facts: Mapping[str, Any]) -> None:
        if self._session.events:
            print(to_json({"event": event, **facts}, indent=None), file=sys.stderr, flush=True)
        elif not self._silent:
            self._session.note(clean(text))
