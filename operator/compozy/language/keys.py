"""Reading mappings whose keys are known: unknown keys are refused, camelCase spellings are accepted."""

import difflib
from collections.abc import Collection, Mapping
from functools import lru_cache
from typing import Any

from compozy.language.problems import Problem


def camel(name: str) -> str:
    """The camelCase spelling of a snake_case name."""
    head, *tail = name.split("_")
    return head + "".join(part.capitalize() for part in tail)


def read_keys(
    data: Any,
    path: str,
    known: Collection[str],
    problems: list[Problem],
    required: Collection[str] = (),
) -> dict[str, Any]:
    """The values of a mapping under their snake_case names.

    Args:
        data: what the author wrote, of any type.
        path: where it stands in the plan.
        known: the allowed keys in snake_case; their camelCase spellings load too.
        problems: receives `invalid_type`, `unknown_key`, `duplicate_key` and `missing_key`.
        required: the keys that must be there.
    """
    if not isinstance(data, Mapping):
        problems.append(Problem(path, "invalid_type", f"must be an object, not {type_name(data)}"))
        return {}
    spelling = _spellings(tuple(known))
    values: dict[str, Any] = {}
    for key, value in data.items():
        name = spelling.get(key)
        inner = f"{path}.{key}" if path else str(key)
        if name is None:
            problems.append(Problem(inner, "unknown_key", _unknown(key, known)))
        elif name in values:
            # Storage sorts keys, so which of the two comes second says nothing.
            second = f"{path}.{camel(name)}" if path else camel(name)
            problems.append(Problem(second, "duplicate_key", f"`{name}` is written in both spellings"))
        else:
            values[name] = value
    for name in required:
        if name not in values:
            message = f"`{name}` is required"
            problems.append(Problem(f"{path}.{name}" if path else name, "missing_key", message))
    return values


@lru_cache(maxsize=256)
def _spellings(known: tuple[str, ...]) -> Mapping[Any, str]:
    """By every spelling of the known keys: the one in snake_case."""
    return {camel(name): name for name in known} | {name: name for name in known}


def _unknown(key: Any, known: Collection[str]) -> str:
    close = difflib.get_close_matches(str(key), list(known), n=1)
    hint = f"did you mean `{close[0]}`?" if close else f"allowed: {', '.join(sorted(known))}"
    return f"unknown key `{key}`; {hint}"


def type_name(value: Any) -> str:
    """The JSON name of a value's type, for messages."""
    match value:
        case None:
            return "null"
        case bool():
            return "a boolean"
        case int() | float():
            return "a number"
        case str():
            return "text"
        case list():
            return "a list"
        case Mapping():
            return "an object"
    return type(value).__name__
