"""The tree of a run as lines: where each step or node stands, and which of them wait for whom since when."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from compozy.cli.output.text import clean, cut
from compozy.cli.output.times import age, seconds_only, until
from compozy.cli.runtree import NOWHERE, Branch, Places, urgency
from compozy.cli.states import HANDLED, MARKS, SETTLED, lane_counts
from compozy.cli.whom import whom
from compozy.requests.approvals import speaker, standing
from compozy.requests.state import DECIDED, state_of

Object = Mapping[str, Any]

MOST_LANES = 20
"""As many lanes of one node are shown."""

_SHORT = 60
_PROMPT = 50


@dataclass(frozen=True, slots=True)
class _Lines:
    now: datetime
    places: Places

    def below(self, branch: Branch, indent: str) -> Iterator[str]:
        rows: list[tuple[str, Branch | None]] = [
            *((_question_line(question, self.now), None) for question in branch.questions),
            *((self._node_line(child, around=branch), child) for child in branch.children.values()),
            *self._lane_rows(branch),
        ]
        for index, (line, child) in enumerate(rows):
            last = index == len(rows) - 1
            yield f"{indent}{'└─' if last else '├─'} {line}"
            if child is not None:
                yield from self.below(child, indent + ("   " if last else "│  "))

    def _lane_rows(self, branch: Branch) -> Iterator[tuple[str, Branch | None]]:
        """All lanes in their order; of too many, those first that a person looks for."""
        word = "iteration" if branch.name in self.places.loops else "item"
        lanes = sorted(branch.lanes.items())
        shown = lanes
        if len(lanes) > MOST_LANES:
            shown = sorted(lanes, key=lambda pair: urgency(pair[1].standing))[:MOST_LANES]
        for index, lane in shown:
            yield self._node_line(lane, f"{word} {index}"), lane
        if len(shown) < len(lanes):
            listed = {index for index, _ in shown}
            rest = [lane for index, lane in lanes if index not in listed]
            yield f"… {len(rest)} more: {_counted(rest)}", None

    def _node_line(self, branch: Branch, name: str = "", around: Branch | None = None) -> str:
        told = branch.status or {}
        status = branch.standing
        parts = [f"{MARKS.get(status, '·')} {name or clean(branch.name)}", status]
        if told.get("reason"):
            parts.append(f"({clean(told['reason'])})")
        if status == HANDLED and told.get("route"):
            parts.append(f"→ {clean(told['route'])}")
        if told.get("lanes"):
            parts.append(lane_counts(told["lanes"], _waiting_lanes(branch, self._body(branch, around))))
        elif branch.lanes:
            parts.append(_counted(branch.lanes.values()))
        parts += self._times(told)
        if told.get("run"):
            parts.append(f"run: {clean(told['run'])}")
        if told.get("message"):
            parts.append(clean(told["message"]))
        if told.get("output") is not None:
            parts.append(cut(clean(json.dumps(told["output"], ensure_ascii=False)), _SHORT))
        elif told.get("outputRef"):
            parts.append(f"an output of {told['outputRef']['bytes']} bytes")
        return "  ".join(parts)

    def _body(self, fan_out: Branch, around: Branch | None) -> Iterator[Branch]:
        """What is in the lanes of a fan-out and stands beside it."""
        beside = around.children if around is not None else {}
        return (beside[name] for name in self.places.bodies.get(fan_out.name, ()) if name in beside)

    def _times(self, told: Object) -> Iterator[str]:
        if (told.get("attempt") or 1) > 1:
            yield f"attempt {told['attempt']}"
        if told.get("completedAt"):
            yield f"{age(told['completedAt'], self.now)} ago"
        elif told.get("status") not in SETTLED:
            if told.get("startedAt"):
                yield f"since {age(told['startedAt'], self.now)}"
            if told.get("until"):
                yield f"until {seconds_only(told['until'])} ({until(told['until'], self.now)})"


def tree_lines(root: Branch, now: datetime, places: Places = NOWHERE) -> Iterator[str]:
    """The tree with its branches drawn. `places` are those of the plan."""
    yield from _Lines(now, places).below(root, "")


def _waiting_lanes(fan_out: Branch, body: Iterable[Branch]) -> int:
    """In how many of its lanes something waits, wherever in its body."""
    branches = (fan_out, *body)
    return len({index for branch in branches for index, lane in branch.lanes.items() if lane.waits})


def _counted(lanes: Iterable[Branch]) -> str:
    """`950 succeeded, 30 waiting`: the most frequent state first."""
    counts = Counter(lane.standing for lane in lanes)
    ordered = sorted(counts.items(), key=lambda pair: (-pair[1], urgency(pair[0]), pair[0]))
    return ", ".join(f"{count} {state.lower()}" for state, count in ordered)


def _question_line(question: Object, now: datetime) -> str:
    spec, state = question["spec"], state_of(question)
    prompt = cut(clean(spec["prompt"]), _PROMPT)
    text = f"“{prompt}”  humanrequest/{clean(question['metadata']['name'])}"
    response = question.get("response") or {}
    if state == "Pending" and response:
        return f"{text}  answered by {_speaker(response)}, not yet taken up"
    if state == "Pending":
        since = age(question["metadata"].get("creationTimestamp"), now)
        expires = f", expires {until(spec['expiresAt'], now)}" if spec.get("expiresAt") else ""
        return f"{text}  waits for {whom(spec)} since {since}{expires}{_approved(question)}"
    by = f" by {_speaker(response)}" if response else ""
    resolved = (question.get("status") or {}).get("resolvedAt")
    note = f", “{cut(clean(response['note']), _PROMPT)}”" if response.get("note") else ""
    ago = f" {age(resolved, now)} ago" if resolved else ""
    return f"{text}  {_ended(question, state)}{by}{ago}{note}{_approved(question)}"


def _ended(question: Object, state: str) -> str:
    """How a question has ended: of a review, what was decided."""
    if question["spec"].get("kind") == "Review" and state == "Answered":
        return DECIDED.get((question.get("response") or {}).get("decision", ""), state.lower())
    return state.lower()


def _approved(question: Object) -> str:
    """How many have approved, and who without deciding."""
    entries = question.get("approvals") or ()
    if not entries:
        return ""
    return f", {standing(question)}: {', '.join(_speaker(entry) for entry in entries)}"


def _speaker(said: Object) -> str:
    return clean(speaker(said))
