"""The normal form of a plan file: snake_case keys, stable indentation, everything else as it was.

The ask-steps page: camelCase spellings load, and any command that rewrites the file normalizes them. Only the
grammar's own keys are; what stands in schemas, defaults and data belongs to the author.
"""

import json
from collections.abc import Iterator
from typing import Any

from compozy.language.authoring.emit import json_text
from compozy.language.authoring.layout import lay_out
from compozy.language.authoring.places import known_mappings
from compozy.language.authoring.source import Node, Source, Splice, quoted_like, spliced
from compozy.language.keys import camel, type_name
from compozy.language.problems import PlanInvalid, Problem
from compozy.language.yaml_text import load


def format_text(text: str) -> str:
    """The text in normal form; formatting twice changes nothing more. A JSON document stays JSON.

    Raises:
        PlanInvalid: the text is not YAML, or no plan at all, or (code `format_unsafe`) its meaning would change.
    """
    text = text.removeprefix("\ufeff").replace("\r\n", "\n")
    before = load(text)
    if not isinstance(before.value, dict):
        message = f"a plan is an object with `steps` or `graph`, not {type_name(before.value)}"
        raise PlanInvalid([Problem("", "invalid_type", message, 1, 1)])
    require_plan_kind(before.value, before.positions)
    for after in _normal_forms(text):
        if same_but_for_spelling(before.value, _value(after)):
            return after
    message = "cannot be formatted without changing what it says; write it without unusual YAML"
    raise PlanInvalid([Problem("", "format_unsafe", message, 1, 1)])


def _normal_forms(text: str) -> Iterator[str]:
    """The normal form; then the same with all empty lines at the end, where a block scalar counts them."""
    spelled = normal_spelling(text)
    if is_json(spelled):
        yield as_json(load(spelled).value)
    else:
        laid_out = lay_out(spelled).lstrip("\n")
        yield laid_out.rstrip("\n") + "\n"
        yield laid_out


def normal_spelling(text: str) -> str:
    """The text with the grammar's own keys in their normal spelling."""
    splices = {}
    for known in known_mappings(Source(text).root):
        for _, _, key, _ in known.fields():
            name = known.normal(key.scalar or "")
            raw = text[key.start : key.end]
            if name != key.scalar and not _has_key(known.node, name) and raw.strip("'\"") == key.scalar:
                splices[key.start] = Splice(key.start, key.end, quoted_like(raw, name))
    return spliced(text, list(splices.values()))


def _has_key(node: Node, name: str) -> bool:
    return any(key.scalar == name for key, _ in node.pairs or ())


def require_plan_kind(value: dict[str, Any], positions: dict[str, tuple[int, int]]) -> None:
    """Raises PlanInvalid for a resource of another kind: its keys are not ours to touch."""
    if "apiVersion" in value and "kind" in value and value["kind"] != "Plan":
        line, column = positions.get("kind", (1, 1))
        problem = Problem("kind", "wrong_kind", f"must be Plan, not {value['kind']}", line, column)
        raise PlanInvalid([problem])


def is_json(text: str) -> bool:
    """Whether a document is JSON, which YAML contains."""
    if not text.lstrip().startswith("{"):
        return False
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def as_json(value: Any) -> str:
    """A JSON document in normal form."""
    return json_text(value) + "\n"


def same_but_for_spelling(one: Any, other: Any) -> bool:
    """Whether two documents say the same, down to the order of keys, if spellings of a key count as one."""
    if isinstance(one, dict) and isinstance(other, dict):
        return len(one) == len(other) and all(
            camel(key) == camel(other_key) and same_but_for_spelling(value, other_value)
            for (key, value), (other_key, other_value) in zip(one.items(), other.items(), strict=True)
        )
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same_but_for_spelling, one, other))
    return type(one) is type(other) and bool(one == other)


def _value(text: str) -> Any:
    try:
        return load(text).value
    except PlanInvalid:
        return None
