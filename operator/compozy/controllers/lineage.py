"""Which run has started which."""

from collections.abc import Iterator, Mapping
from typing import Any

from compozy.api.base import API_VERSION, ENDS_WITH_PARENT_ANNOTATION
from compozy.controllers.cache import Cache, Item, Key, key_of
from compozy.engine.results import MAX_DEPTH


def parent_key(run: Mapping[str, Any]) -> Key | None:
    """The key of the run that started this one."""
    for owner in run["metadata"].get("ownerReferences") or ():
        if owner.get("controller") and owner["kind"] == "PlanRun" and owner["apiVersion"] == API_VERSION:
            return Key(run["metadata"]["namespace"], str(owner["name"]))
    return None


def has_lost_parent(run: Mapping[str, Any]) -> bool:
    """Whether the run should have ended with its parent, which was deleted without it."""
    annotations = run["metadata"].get("annotations") or {}
    return annotations.get(ENDS_WITH_PARENT_ANNOTATION) == "true" and parent_key(run) is None


def ancestors(cache: Cache, run: Item) -> Iterator[Item]:
    """The run that started this one, and so on, as far as they are known."""
    current: Item | None = run
    for _ in range(MAX_DEPTH + 1):
        parent = parent_key(current) if current is not None else None
        current = cache.get("PlanRun", parent) if parent is not None else None
        if current is None:
            return
        yield current


def descendants(cache: Cache, run: Item) -> Iterator[Item]:
    """The runs that a run has started, those that they have started, and so on as deep as runs may go."""
    found: set[Key] = set()
    generation = [run]
    for _ in range(MAX_DEPTH):
        children = {key_of(child): child for one in generation for child in cache.children_of(one)}
        generation = [child for key, child in children.items() if key not in found]
        found.update(children)
        yield from generation


def starters(cache: Cache, run: Item) -> list[str | None]:
    """Who started the run, then who started the run that started it, and so on; None where that is not known.

    The operator starts runs for other runs only: one of its own without a parent has lost it, and with it the word
    on who began.
    """
    first = [run, *ancestors(cache, run)][-1]
    found = recorded_starters(cache, run)
    is_whole = parent_key(first) is None and first["spec"].get("startedBy") != cache.operator
    return found if is_whole else [*found, None]


def recorded_starters(cache: Cache, run: Item) -> list[str | None]:
    """The same of the runs that we know, without a word on others; None where a run does not record it."""
    return [one["spec"].get("startedBy") for one in (run, *ancestors(cache, run))]
