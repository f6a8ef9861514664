"""JSON text of strangers as values: whatever it is, a value that can be kept or a reason of ours."""

import json
from collections.abc import Iterable
from typing import Any

from compozy.language.shapes.bounds import MAX_DEPTH, MAX_NODES, dotted, json_faults

_LONG = 40
"""Digits of an integer that is surely too large: it is not even converted, which takes time and may fail."""


class JsonInvalid(ValueError):
    """The text is no JSON value that Kubernetes can keep. The message says where and why."""


def parse_json(text: str, max_depth: int = MAX_DEPTH, max_nodes: int = MAX_NODES) -> Any:
    """Return the JSON value that `text` is.

    NaN and infinities are not JSON, though Python reads them; a name that an object has twice would lose what
    stands there first. Raises `JsonInvalid` for what is not JSON, and
    for what `compozy.language.shapes.bounds.json_faults` finds fault with.
    """
    try:
        value = json.loads(text, parse_int=_integer, parse_constant=_no_constant, object_pairs_hook=_object)
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise JsonInvalid(f"is not JSON: {error.msg} at {place}") from None
    except RecursionError:
        raise JsonInvalid(f"is nested more than {max_depth} levels deep") from None
    for pointer, fault in json_faults(value, max_depth, max_nodes).items():
        raise JsonInvalid(f"{dotted(pointer)} {fault}" if pointer else fault)
    return value


def readable_json(value: Any) -> str:
    """Return JSON text for people: indented, or on one line where indentation would grow out of all measure."""
    levels = [value]
    depth = 0
    while levels and depth <= MAX_DEPTH:
        levels = [child for node in levels for child in _children(node)]
        depth += 1
    return json.dumps(value, indent=None if levels else 2, ensure_ascii=False)


def _children(node: Any) -> Iterable[Any]:
    return node.values() if isinstance(node, dict) else node if isinstance(node, list) else ()


def _integer(digits: str) -> int:
    return int(digits[:_LONG])


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for name, value in pairs:
        if name in made:
            raise JsonInvalid(f"has {name!r} twice in one object")
        made[name] = value
    return made


def _no_constant(name: str) -> Any:
    raise JsonInvalid(f"is not JSON: {name} is no JSON number")
