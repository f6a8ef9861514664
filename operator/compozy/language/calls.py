"""Which plans a plan calls by name, and everything that it calls in turn."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from compozy.language.document import object_name
from compozy.language.steps.call import PLAN_PREFIX
from compozy.language.steps.context import MAX_PLAN_DEPTH

Bundle = dict[str, dict[str, Any]]
"""Specs of called plans by object name."""


def called_names(spec: Mapping[str, Any]) -> set[str]:
    """The object names of the plans that a spec calls directly."""
    names = (object_name(tool.removeprefix(PLAN_PREFIX)) for tool in _tools(spec.get("steps")))
    return {name for name in names if name is not None}


def bundle_of(spec: Mapping[str, Any], find: Callable[[str], dict[str, Any] | None]) -> Bundle:
    """Every plan that a spec calls, directly or through others; those that are not there are left out."""
    bundle: Bundle = {}
    waiting = [(name, 1) for name in sorted(called_names(spec))]
    while waiting:
        name, depth = waiting.pop(0)
        found = find(name) if name not in bundle and depth <= MAX_PLAN_DEPTH + 1 else None
        if found is not None:
            bundle[name] = found
            waiting += [(inner, depth + 1) for inner in sorted(called_names(found))]
    return bundle


def source_of(bundle: Mapping[str, dict[str, Any]]) -> Callable[[str], dict[str, Any] | None]:
    """Finds a plan of a bundle by the name that a call gives it."""
    return lambda name: bundle.get(object_name(name) or "")


def _tools(value: Any) -> Iterator[str]:
    """Names of called plans: `tool_name` beside `input`, wherever a step may stand."""
    stack = [value]
    while stack:
        current = stack.pop()
        if isinstance(current, list):
            stack.extend(current)
        elif isinstance(current, Mapping):
            tool = current.get("tool_name", current.get("toolName"))
            if isinstance(tool, str) and tool.startswith(PLAN_PREFIX) and "input" in current:
                yield tool
            stack.extend(current.values())
