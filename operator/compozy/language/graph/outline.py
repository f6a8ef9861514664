"""The nodes of a graph as their author wrote them, by id, before anything is known of their kinds."""

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeGuard

from compozy.language.keys import type_name
from compozy.language.problems import Problem

MAX_NESTING: Final = 8
"""How deep fan-outs, and how deep sub-loops, may stand inside one another."""

_ID: Final = re.compile(r"[a-z][a-z0-9_]{0,62}", re.ASCII)
ID_RULE: Final = "a lower-case letter, then up to 62 of lower-case letters, digits and `_`"


@dataclass(frozen=True, slots=True)
class Outline:
    """One node as it stands in the plan."""

    id: str
    path: str
    data: Mapping[str, Any]

    @property
    def kind(self) -> str:
        """Its kind; empty where none is written."""
        kind = self.data.get("kind")
        return kind if isinstance(kind, str) else ""


def is_id(value: Any) -> TypeGuard[str]:
    """Whether a value can be the id of a node."""
    return isinstance(value, str) and _ID.fullmatch(value) is not None


def read_outlines(nodes: Any, path: str, taken: Collection[str], problems: list[Problem]) -> dict[str, Outline]:
    """Read a list of nodes by id. `taken` are the ids of the graphs around this one.

    Codes: `invalid_type`, `node_id_invalid`, `duplicate_node_id`.
    """
    if not isinstance(nodes, list) or not nodes:
        if nodes is not None:
            problems.append(Problem(path, "invalid_type", "must be a list with at least one node"))
        return {}
    found: dict[str, Outline] = {}
    for index, data in enumerate(nodes):
        where = f"{path}[{index}]"
        if not isinstance(data, Mapping):
            problems.append(Problem(where, "invalid_type", f"must be an object, not {type_name(data)}"))
            continue
        node_id = data.get("id")
        if not is_id(node_id):
            problems.append(Problem(f"{where}.id", "node_id_invalid", f"a node needs an `id`: {ID_RULE}"))
        elif node_id in found or node_id in taken:
            message = f"the id `{node_id}` is used twice; ids are unique, also against the graphs around a body"
            problems.append(Problem(f"{where}.id", "duplicate_node_id", message))
        else:
            found[node_id] = Outline(node_id, where, data)
    return found


def names_bound(nodes: Any, depth: int = 0) -> Iterator[str]:
    """Every further name that a fan-out anywhere in these nodes gives to `item` or `index`."""
    for data in nodes if isinstance(nodes, list) and depth <= MAX_NESTING else ():
        if not isinstance(data, Mapping):
            continue
        if data.get("kind") == "fan-out":
            names = (data.get(key) for key in ("bind_as", "bindAs", "index_as", "indexAs"))
            yield from (name for name in names if is_id(name))
        elif isinstance(data.get("body"), Mapping):
            yield from names_bound(data["body"].get("nodes"), depth + 1)
