"""A run as a tree of its steps: where each stands, and which of them wait for whom since when."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from compozy.cli.listing import asking_order
from compozy.cli.output.text import clean, cut
from compozy.cli.output.times import age, until
from compozy.requests.closing import state_of

Object = Mapping[str, Any]

MARKS = {
    "Pending": "·",
    "Ready": "·",
    "Waiting": "?",
    "Running": "…",
    "Succeeded": "✓",
    "Failed": "✗",
    "Skipped": "-",
    "Canceled": "✗",
}
_SHORT = 60
_PROMPT = 50


@dataclass(slots=True)
class Branch:
    """One step, or one place inside a step's body."""

    path: str
    status: Object | None = None
    questions: list[Object] = field(default_factory=list)
    children: dict[str, "Branch"] = field(default_factory=dict)


def tree_of(order: Sequence[str], run: Object, questions: Sequence[Object]) -> Branch:
    """The steps of a run under one root: first those of the plan in its order, then others by name."""
    nodes = (run.get("status") or {}).get("nodes") or {}
    root = Branch("")
    for path in (*order, *sorted(nodes, key=_natural)):
        branch = _at(root, path)
        branch.status = nodes.get(path)
    for question in asking_order(questions):
        _at(root, question["spec"]["node"]).questions.append(question)
    return root


def tree_lines(root: Branch, now: datetime) -> Iterator[str]:
    """The tree with its branches drawn."""
    yield from _below(root, "", now)


def steps_in_order(spec: Object | None) -> list[str]:
    """The ids of a plan's steps or nodes as their author wrote them."""
    if spec is None:
        return []
    steps = spec.get("steps") or (spec.get("graph") or {}).get("nodes") or []
    return [str(step["id"]) for step in steps if isinstance(step, Mapping) and "id" in step]


def _at(root: Branch, path: str) -> Branch:
    branch = root
    for part in path.split("/"):
        whole = f"{branch.path}/{part}" if branch.path else part
        branch = branch.children.setdefault(part, Branch(whole))
    return branch


def _below(branch: Branch, indent: str, now: datetime) -> Iterator[str]:
    rows: list[tuple[str, Branch | None]] = [
        (_node_line(name, child, now), child) for name, child in branch.children.items()
    ]
    rows[:0] = [(_question_line(question, now), None) for question in branch.questions]
    for index, (line, child) in enumerate(rows):
        last = index == len(rows) - 1
        yield f"{indent}{'└─' if last else '├─'} {line}"
        if child is not None:
            yield from _below(child, indent + ("   " if last else "│  "), now)


def _node_line(name: str, branch: Branch, now: datetime) -> str:
    told = branch.status or {}
    open_questions = [question for question in branch.questions if state_of(question) == "Pending"]
    status = "Waiting" if open_questions else told.get("status", "Pending")
    parts = [f"{MARKS.get(status, '·')} {clean(name)}", status]
    if told.get("reason"):
        parts.append(f"({clean(told['reason'])})")
    if told.get("completedAt"):
        parts.append(f"{age(told['completedAt'], now)} ago")
    if told.get("message"):
        parts.append(clean(told["message"]))
    if told.get("output") is not None:
        parts.append(cut(clean(json.dumps(told["output"], ensure_ascii=False)), _SHORT))
    return "  ".join(parts)


def _question_line(question: Object, now: datetime) -> str:
    spec, state = question["spec"], state_of(question)
    item = f"item {spec['item']}  " if spec.get("item") is not None else ""
    prompt = cut(clean(spec["prompt"]), _PROMPT)
    text = f"{item}“{prompt}”  humanrequest/{clean(question['metadata']['name'])}"
    response = question.get("response") or {}
    if state == "Pending" and response:
        return f"{text}  answered by {clean(response['responder'])}, not yet taken up"
    if state == "Pending":
        since = age(question["metadata"].get("creationTimestamp"), now)
        expires = f", expires {until(spec['expiresAt'], now)}" if spec.get("expiresAt") else ""
        return f"{text}  waits for {_whom(spec)} since {since}{expires}"
    by = f" by {clean(response['responder'])}" if response else ""
    resolved = (question.get("status") or {}).get("resolvedAt")
    return f"{text}  {state.lower()}{by}" + (f" {age(resolved, now)} ago" if resolved else "")


def _whom(spec: Object) -> str:
    responders = spec.get("responders") or {}
    named = [*responders.get("users", []), *(f"group {name}" for name in responders.get("groups", []))]
    if responders.get("agents") == "allow":
        named.append("an agent" if not named else "agents")
    return clean(" or ".join(named)) or "somebody"


def _natural(text: str) -> list[Any]:
    """E2 before E10."""
    return [(0, int(part), "") if part.isdigit() else (1, 0, part) for part in re.split(r"(\d+)", text)]
