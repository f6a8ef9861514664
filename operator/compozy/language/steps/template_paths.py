"""Walking a path through the data of a run, and saying precisely why it does not lead anywhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from compozy.language.errors import BadPathError, EmptyDataError, MissingStepError, RenderError, name_keys
from compozy.language.keys import type_name
from compozy.language.steps.template_nodes import DataPath, Length, Segment
from compozy.language.values import Json


def walk(start: Json, segments: Sequence[Segment]) -> tuple[Json, int | None]:
    """Follow `segments` from a value.

    Returns the value reached and None; or, where a segment leads nowhere, the value it was tried on and its
    position. Never raises: sections try many paths that may be absent.
    """
    value = start
    for position, segment in enumerate(segments):
        if isinstance(segment, str):
            if not isinstance(value, dict) or segment not in value:
                return value, position
            value = value[segment]
        elif isinstance(segment, int):
            if not isinstance(value, list) or segment >= len(value):
                return value, position
            value = value[segment]
        elif isinstance(value, list | str):
            value = len(value)
        else:
            return value, position
    return value, None


def resolve(scope: Mapping[str, Json], path: DataPath) -> Json:
    """Return the value at a path whose first segment is a root of the scope.

    Raises `MissingStepError`, `BadPathError` or `EmptyDataError`.
    """
    root = path[0]
    if not isinstance(root, str) or root not in scope:
        raise MissingStepError(f"{write_path((root,))} is not in scope; available: {name_keys(scope)}")
    value, failed_at = walk(scope[root], path[1:])
    if failed_at is not None:
        raise explain(path, failed_at + 1, value)
    return value


def explain(path: DataPath, failed_at: int, value: Json) -> RenderError:
    """Build the error for the segment `path[failed_at]` that could not be taken from `value`."""
    segment = path[failed_at]
    here = write_path(path[:failed_at])
    whole = write_path(path)
    if isinstance(segment, Length):
        return BadPathError(f"{whole}: length is of lists and text; {here} is {type_name(value)}")
    if value is None:
        return EmptyDataError(f"{whole}: {here} is null")
    if isinstance(segment, str):
        if isinstance(value, dict):
            return BadPathError(f"{whole}: {here} has no key {segment}; available: {name_keys(value)}")
        return BadPathError(f"{whole}: {here} is {type_name(value)} and has no keys")
    if not isinstance(value, list):
        return BadPathError(f"{whole}: {here} is {type_name(value)}, not a list")
    if not value:
        return EmptyDataError(f"{whole}: {here} is an empty list")
    return EmptyDataError(f"{whole}: {here} has {len(value)} elements, so there is no index {segment}")


def write_path(path: DataPath) -> str:
    """Write a path as it stands in a template."""
    return ".".join(part.value if isinstance(part, Length) else str(part) for part in path)
