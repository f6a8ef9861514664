"""The picture of a plan in the steps dialect: a chain, and what steps do inside."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from compozy.cli.drawing.model import Drawing, Group, Link, Shape, field_of, form_of, text_of

_BODIES = {"then": "then", "else": "else", "do": "each"}
"""The keys of a step's input that hold a body, and what leads into it."""
_TITLES = {"map": "for each of {over}", "reduce": "for each of {over}, in turn"}


def draw_steps(drawing: Drawing, steps: Sequence[Any], prefix: str, group: str | None) -> list[str]:
    """Adds steps and their bodies as a chain; returns the ids of the steps."""
    ids = []
    for step in steps:
        step_id = text_of(field_of(step, "id"))
        if step_id:
            ids.append(_draw_call(drawing, step, f"{prefix}{step_id}", step_id, group))
    link_chain(drawing, ids)
    return ids


def link_chain(drawing: Drawing, ids: Sequence[str]) -> None:
    """Leads from each step to the next."""
    drawing.links += [Link(source, target) for source, target in pairwise(ids)]


def _draw_call(drawing: Drawing, call: Any, path: str, title: str, group: str | None) -> str:
    kind = text_of(field_of(call, "tool_name")) or "?"
    told = field_of(call, "input")
    drawing.add(Shape(path, title, kind, form_of(kind), group, _notes(kind, told)))
    for key, label in _BODIES.items():
        body = field_of(told, key)
        if form_of(kind) in ("choice", "spread") and body is not None:
            _draw_body(drawing, body, path, kind, key, label, field_of(told, "over"))
    return path


def _draw_body(drawing: Drawing, body: Any, owner: str, kind: str, key: str, label: str, over: Any) -> None:
    path = f"{owner}/{key}"
    title = _TITLES.get(kind, key).format(over=text_of(over) or "a list")
    drawing.groups[path] = Group(
        path, title, owner, key, drawing.shapes[owner].group, "lane" if key == "do" else ""
    )
    if isinstance(body, Mapping):
        first = _draw_call(drawing, body, path, text_of(field_of(body, "tool_name")) or "?", path)
    else:
        ids = draw_steps(drawing, body if isinstance(body, list) else [], f"{path}/", path)
        if not ids:
            return
        first = ids[0]
    drawing.links.append(Link(owner, first, label, "body"))


def _notes(kind: str, told: Any) -> list[str]:
    match kind:
        case "ask" | "agent":
            note = text_of(field_of(told, "prompt"))
        case "exit":
            note = text_of(field_of(told, "message"))
        case "decide" | "filter":
            gate = field_of(told, "if" if kind == "decide" else "where")
            note = text_of(field_of(told, "infer")) or _condition(gate)
        case _:
            note = ""
    return [note] if note else []


def _condition(gate: Any) -> str:
    """`{{E0.answered}} eq false`."""
    if not isinstance(gate, Mapping) or "op" not in gate:
        return ""
    to = gate.get("to")
    shown = str(to).lower() if isinstance(to, bool) else text_of(to)
    return f"{text_of(gate.get('value'))} {text_of(gate['op'])} {shown}".strip()
