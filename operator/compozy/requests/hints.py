"""What can be typed for a field, said in a few words: the options, or the type with its bounds."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from compozy.requests.choices import Choice

_WORDS = {"boolean": "y/n", "string": "text"}


def options_hint(choices: Sequence[Choice]) -> str:
    """Return the options as `stable (Stable channel) | beta`."""
    return " | ".join(_option(choice) for choice in choices)


def several_hint(choices: Sequence[Choice], schema: Mapping[str, Any]) -> str:
    """Return how many of which options a list takes: `1 to 2 of a | b, with commas between`."""
    how_many = _range(schema.get("minItems") or None, schema.get("maxItems")) or "any"
    return f"{how_many} of {options_hint(choices)}, with commas between"


def type_hint(kind: str, schema: Mapping[str, Any]) -> str:
    """Return the type with what bounds it: `integer, 1 to 3`, `date`, `text, at most 20 characters`."""
    return ", ".join((_kind(kind, schema), *_bounds(kind, schema)))


def _option(choice: Choice) -> str:
    title = choice.title.strip()
    return f"{choice.text} ({title})" if title and title != choice.text else choice.text


def _kind(kind: str, schema: Mapping[str, Any]) -> str:
    of_text = schema.get("format") if kind == "string" else None
    return of_text or _WORDS.get(kind, kind)


def _bounds(kind: str, schema: Mapping[str, Any]) -> Iterator[str]:
    if kind == "string" and (within := _range(schema.get("minLength") or None, schema.get("maxLength"))):
        yield f"{within} characters"
    if kind not in ("integer", "number"):
        return
    if within := _range(schema.get("minimum"), schema.get("maximum")):
        yield within
    if "exclusiveMinimum" in schema:
        yield f"more than {schema['exclusiveMinimum']}"
    if "exclusiveMaximum" in schema:
        yield f"less than {schema['exclusiveMaximum']}"
    if "multipleOf" in schema:
        yield f"a multiple of {schema['multipleOf']}"


def _range(least: Any, most: Any) -> str:
    if least is not None and most is not None:
        return str(least) if least == most else f"{least} to {most}"
    if least is not None:
        return f"at least {least}"
    return "" if most is None else f"at most {most}"
