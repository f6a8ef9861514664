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
from compozy.cli.states import MARKS, word_of
from compozy.cli.stored import Stored
from compozy.requests.state import state_of

_SHOWN = ("Waiting", "Running", "Succeeded", "Failed", "Skipped", "Canceled")


class Progress:
    """Tells what has changed since it was last told. Level-triggered: it compares pictures, not events."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._silent = not session.events and not sys.stderr.isatty()
        self._stored = Stored(session)
        self._nodes: dict[tuple[str, str | None], str] = {}
        self._questions: dict[str, str] = {}

    def started(self, run: Object, plan: str) -> None:
        """The run has been created."""
        name = run["metadata"]["name"]
        self._tell("run_started", f"run {name} started", {"run": name, "plan": plan})

    def update(self, picture: Picture) -> None:
        """Tells of nodes and questions that have changed."""
        if self._silent:
            return
        for node, told in self._stored.full_nodes(picture.run, outputs=False).items():
            self._node(node, None, told)
            for index, lane in told.get("items", {}).items():
                self._node(node, index, lane)
        for name, question in picture.questions.items():
            state = state_of(question)
            if state != self._questions.get(name):
                self._questions[name] = state
                self._question(name, question, state)

    def ended(self, run: Object) -> None:
        """The run has ended."""
        name, phase = run["metadata"]["name"], phase_of(run)
        self._tell("run_finished", f"run {name} {phase.lower()}", {"run": name, "phase": phase})

    def _node(self, node: str, item: str | None, told: Mapping[str, Any]) -> None:
        """Tells of a node, or of it in one lane of a fan-out, where its state is another than before."""
        status = told.get("status")
        if status == self._nodes.get((node, item)) or status not in _SHOWN:
            return
        self._nodes[node, item] = status
        reason = f" ({told['reason']})" if told.get("reason") else ""
        facts: dict[str, Any] = {"node": node, "status": status}
        if item is not None:
            facts["item"] = int(item)
        facts |= {key: told[key] for key in ("reason", "message") if told.get(key)}
        place = node if item is None else f"{node} item {item}"
        word = word_of(told)
        self._tell("node_changed", f"{MARKS[word]} {place} {word.lower()}{reason}", facts)

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
            print(to_json({"event": event, **facts}, indented=False), file=sys.stderr, flush=True)
        elif not self._silent:
            self._session.note(clean(text))
