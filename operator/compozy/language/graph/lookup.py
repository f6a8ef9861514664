"""Following a path of keys through the data of a run, and saying precisely why it leads nowhere.

As with the option `missingkey=error` of Go templates, a key that is absent is an error.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from compozy.language.errors import BadPathError, EmptyDataError, RenderError, name_keys
from compozy.language.keys import type_name
from compozy.language.values import Json


def follow(value: Json | Mapping[str, Json], names: Sequence[str], base: str = "") -> Json:
    """Return the value at a path of keys; `base` is how the value itself is written in errors.

    Raises `BadPathError` naming the available keys, or `EmptyDataError` for a step into null.
    """
    current: Json | Mapping[str, Json] = value
    for position, name in enumerate(names):
        if not isinstance(current, Mapping) or name not in current:
            raise _explain(current, names, position, base)
        current = current[name]
    return plain(current)


def plain(value: Json | Mapping[str, Json]) -> Json:
    """A value whose objects are all of the kind that JSON is written from: scopes consist of persistent maps."""
    if isinstance(value, dict) or not isinstance(value, Mapping):
        return value
    return {key: plain(member) for key, member in value.items()}


def _explain(value: Json | Mapping[str, Json], names: Sequence[str], position: int, base: str) -> RenderError:
    whole = _written(base, names)
    here = _written(base, names[:position])
    if value is None:
        return EmptyDataError(f"{whole}: {here} is null")
    if isinstance(value, Mapping):
        return BadPathError(f"{whole}: {here} has no key {names[position]}; available: {name_keys(value)}")
    hint = "; take an element of it with index" if isinstance(value, list) else ""
    return BadPathError(f"{whole}: {here} is {type_name(value)} and has no keys{hint}")


def _written(base: str, names: Sequence[str]) -> str:
    return base + "".join(f".{name}" for name in names) or "."
