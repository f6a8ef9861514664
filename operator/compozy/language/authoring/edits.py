"""Edits of a plan file: a field, a step, a name. Each gives a new text, or says which problems it would introduce.

A place is written as a path: `name`, `input_schema.required`, `steps.E0.input.prompt`; elements of a list are
named by their `id` or by their position. A step is named by its id, one in a body by where it is: `E1/do/B0`.

Every function raises `AuthoringError` when there is nothing at the place, `EditRefused` when the plan would have a
problem that it has not now, and `PlanInvalid` when the text is not YAML or no plan at all. `plan_source` finds
plans that are called; those that it does not find are trusted.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from compozy.language.authoring.changes import AuthoringError, Change, Insert, Put, Remove, changed
from compozy.language.authoring.diagnosis import diagnose
from compozy.language.authoring.format import format_text
from compozy.language.authoring.paths import Place, find, find_step
from compozy.language.authoring.places import known_mappings, spec_path
from compozy.language.authoring.renaming import Rename
from compozy.language.authoring.source import Node, Source
from compozy.language.problems import Problem
from compozy.language.steps.context import PlanSource


@dataclass(frozen=True, slots=True)
class Edited:
    """The result of an edit."""

    text: str
    """The new text, in normal form."""
    steps: int
    """How many steps or nodes the plan now has at the top level."""
    existing: tuple[Problem, ...]
    """Problems that the plan had before and still has, with their places in the new text."""
    step_id: str | None = None
    """The step that the edit was about."""
    index: int | None = None
    """Its position in its list, from 0; for a removed step the one that it had."""


class EditRefused(ValueError):
    """The edit would introduce problems. Carries them and those that are there, placed in the text as it is."""

    def __init__(self, introduced: Sequence[Problem], existing: Sequence[Problem]) -> None:
        self.introduced = tuple(introduced)
        self.existing = tuple(existing)
        super().__init__("; ".join(str(problem) for problem in introduced))


def set_fields(text: str, values: Mapping[str, Any], plan_source: PlanSource | None = None) -> Edited:
    """Set the values at some paths. Objects on the way are made."""
    after = format_text(text)
    for path, value in values.items():
        after = changed(after, _setting(find(Source(after), path), value))
    return _judged(text, after, plan_source)


def unset_fields(text: str, paths: Iterable[str], plan_source: PlanSource | None = None) -> Edited:
    """Remove what is at some paths."""
    after = format_text(text)
    for path in paths:
        place = find(Source(after), path)
        if place.missing:
            raise AuthoringError(f"there is no {path}")
        after = changed(after, Remove(place.path))
    return _judged(text, after, plan_source)


def step_add(
    text: str,
    step: Mapping[str, Any],
    *,
    before: str | None = None,
    after: str | None = None,
    plan_source: PlanSource | None = None,
) -> Edited:
    """Add a step before or after another one, else at the end. Without an id it gets the next free `E<n>`."""
    old = format_text(text)
    source = Source(old)
    step = step if "id" in step else {"id": _free_id(source), **step}
    if before is not None or after is not None:
        neighbour = find_step(source, str(before if before is not None else after))
        steps, index = neighbour.steps, neighbour.index + (before is None)
    else:
        steps = (*spec_path(source.root), "steps")
        index = len(_steps(source))
    change: Change = Insert(steps, index, dict(step))
    if source.at(steps) is None:
        change = _setting(find(source, "steps"), [dict(step)])
    return _judged(text, changed(old, change), plan_source, step_id=str(step["id"]), index=index)


def step_set(text: str, step: str, values: Mapping[str, Any], plan_source: PlanSource | None = None) -> Edited:
    """Set fields of a step, such as `input.prompt` or `tool_name`. Its id is changed by `step_rename`."""
    before = after = format_text(text)
    at = find_step(Source(before), step)
    for field, value in values.items():
        if field == "id":
            raise AuthoringError("the id of a step is changed by renaming it, so that references follow")
        after = changed(after, _setting(find(Source(after), field, at.path), value))
    return _judged(text, after, plan_source, step_id=step, index=at.index)


def step_rename(text: str, old: str, new: str, plan_source: PlanSource | None = None) -> Edited:
    """Give a step another id, in every template that refers to it too. Plain text is never touched."""
    before = format_text(text)
    source = Source(before)
    at = find_step(source, old)
    name = old.rsplit("/", 1)[-1]
    change = Rename.of(source, at.steps, at.index, name, new)
    after = changed(before, change)
    captured = change.captures(source) if name != new else []
    return _judged(text, after, plan_source, step_id=new, index=at.index, renamed=(name, new), captured=captured)


def step_rm(text: str, step: str, plan_source: PlanSource | None = None) -> Edited:
    """Remove a step."""
    before = format_text(text)
    at = find_step(Source(before), step)
    after = changed(before, Remove(at.path))
    return _judged(text, after, plan_source, step_id=step, index=at.index)


def _setting(place: Place, value: Any) -> Put:
    if not place.missing:
        return Put(place.path, value)
    first, *inner = place.missing
    for key in reversed(inner):
        value = {key: value}
    return Put((*place.path, first), value, place.order)


def _steps(source: Source) -> list[Node]:
    """The steps at the top level. Raises AuthoringError where they are no list."""
    steps = source.at((*spec_path(source.root), "steps"))
    if steps is not None and steps.items is None:
        raise AuthoringError("`steps` is no list; set it to one first")
    return (steps.items if steps is not None else None) or []


def _free_id(source: Source) -> str:
    """The first id of `E0`, `E1`, … that no step has, counting on from how many steps there are."""
    ids = (known.node.get("id") for known in known_mappings(source.root))
    taken = {step_id.scalar for step_id in ids if step_id is not None}
    number = len(_steps(source))
    while f"E{number}" in taken:
        number += 1
    return f"E{number}"


def _count(spec: Mapping[str, Any]) -> int:
    graph = spec.get("graph")
    counted = graph.get("nodes") if isinstance(graph, Mapping) else spec.get("steps")
    return len(counted) if isinstance(counted, list) else 0


def _judged(
    before: str,
    after: str,
    plan_source: PlanSource | None,
    *,
    step_id: str | None = None,
    index: int | None = None,
    renamed: tuple[str, str] | None = None,
    captured: Sequence[Problem] = (),
) -> Edited:
    """The result, unless the plan now has a problem that it had not."""
    was, now = diagnose(before, plan_source), diagnose(after, plan_source)
    new = now.introduced_since(was, renamed) or captured
    if new:
        raise EditRefused([now.placed_in(was, problem) for problem in new], was.problems)
    return Edited(after, _count(now.document.spec), now.problems, step_id, index)
