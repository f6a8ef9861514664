"""`x-compozy-kind`: a string of an answer that names something in the workspace. The lint of the annotation.

The human-requests page: a string property may carry the annotation, in nested objects and arrays too, and an
`enum` on the same property wins over the catalog.
"""

import json
from collections.abc import Mapping
from typing import Any

from compozy.language.errors import format_path
from compozy.language.problems import Problem
from compozy.language.shapes.subschemas import walk

ENTITY_KIND = "x-compozy-kind"
"""The annotation."""

ENTITY_KINDS = ("agent", "skill", "loop", "worktree", "session", "workspace", "secret")
"""What a string can be annotated to name."""


def may_name_entities(schema: Mapping[str, Any]) -> bool:
    """Return whether a payload of this schema may name any entity: most schemas have no word on them."""
    return f'"{ENTITY_KIND}"' in json.dumps(schema)


def kind_problems(schema: Any, path: str) -> list[Problem]:
    """Return where `x-compozy-kind` is wrong anywhere in `schema`, with places below `path`.

    Code: `request_entity_kind_invalid`.
    """
    problems = []
    for pointer, part in walk(schema):
        if ENTITY_KIND in part:
            problems += _kind_problems(part, format_path((path, *pointer) if path else pointer))
    return problems


def secret_problems(schema: Any, path: str) -> list[Problem]:
    """Return which strings of an answer would be secrets, with places below `path`.

    Code: `request_secret_in_clear`. Answers are stored where others read them, so a person is to name a secret,
    never to type one.
    """
    problems = []
    for pointer, part in walk(schema):
        where = format_path((path, *pointer) if path else pointer)
        if ENTITY_KIND in part:
            continue
        if part.get("format") == "password" or part.get("writeOnly") is True:
            ask = f"ask for the name of a secret with `{ENTITY_KIND}: secret`"
            message = f"an answer is no place for what must stay hidden; {ask}"
            problems.append(Problem(where, "request_secret_in_clear", message))
    return problems


def _kind_problems(part: Any, where: str) -> list[Problem]:
    kind = part[ENTITY_KIND]
    if kind not in ENTITY_KINDS:
        message = f"must be one of {', '.join(ENTITY_KINDS)}"
        return [Problem(f"{where}.{ENTITY_KIND}", "request_entity_kind_invalid", message)]
    if part.get("type") != "string":
        message = f"needs `type: string` beside `{ENTITY_KIND}`: it is a name"
        return [Problem(f"{where}.type", "request_entity_kind_invalid", message)]
    return []
