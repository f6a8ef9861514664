"""Typed text as a value of the field's type: `3` is a number for an integer field, text for a string one."""

import json
import re
from collections.abc import Sequence
from typing import Any

from compozy.language.json_text import JsonInvalid, parse_json
from compozy.language.shapes.bounds import INT64_MAX, INT64_MIN, json_faults
from compozy.requests.choices import Choice
from compozy.requests.forms import LIST_TYPE, FormField
from compozy.requests.hints import options_hint

_TRUE = frozenset(("y", "yes", "true", "t", "1"))
_FALSE = frozenset(("n", "no", "false", "f", "0"))
_INTEGER = re.compile(r"[+-]?[0-9]{1,40}")
_NUMBER = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?")
_MAX_NUMBER = 400
_ASCII_LOWER = {upper: upper + 32 for upper in range(ord("A"), ord("Z") + 1)}


class CoercionError(ValueError):
    """The text is no value of the field. The message says what is."""


def coerce(field: FormField, text: str) -> Any:
    """Return what `text`, trimmed, means for the field. Raises `CoercionError`."""
    return _COERCIONS[field.type](field, text.strip())


def typed(field: FormField, value: Any) -> str:
    """Return what a person could type for a value of the field, as they are shown its default."""
    if field.type == LIST_TYPE and isinstance(value, list):
        texts = [Choice(item).text for item in value]
        if texts and not any("," in text for text in texts):
            return ", ".join(texts)
    return value if isinstance(value, str) and value else json.dumps(value, ensure_ascii=False)


def _string(_field: FormField, text: str) -> str:
    return text


def _boolean(_field: FormField, text: str) -> bool:
    word = _lower(text)
    if word in _TRUE or word in _FALSE:
        return word in _TRUE
    raise CoercionError("must be y or n")


def _integer(_field: FormField, text: str) -> int:
    if _INTEGER.fullmatch(text) and INT64_MIN <= int(text) <= INT64_MAX:
        return int(text)
    raise CoercionError("must be an integer")


def _number(field: FormField, text: str) -> int | float:
    if _INTEGER.fullmatch(text) and INT64_MIN <= int(text) <= INT64_MAX:
        return _integer(field, text)
    if len(text) <= _MAX_NUMBER and _NUMBER.fullmatch(text) and not json_faults(float(text)):
        return float(text)
    raise CoercionError("must be a number")


def _enum(field: FormField, text: str) -> Any:
    """The declared spelling, and the declared type: `3` chosen from `[1, 2, 3]` is a number."""
    chosen = _chosen(field.choices, text)
    if chosen is None:
        raise CoercionError(f"must be one of {field.hint}")
    return chosen.value


def _list(field: FormField, text: str) -> list[Any]:
    """Options with commas between, or a list as JSON. An option may have commas itself."""
    if text.startswith("[") and _chosen(field.choices, text) is None:
        return _items(field, text)
    pieces, found = text.split(","), []
    most = max(choice.text.count(",") + choice.title.count(",") for choice in field.choices) + 1
    while pieces:
        for end in range(min(most, len(pieces)), 0, -1):
            chosen = _chosen(field.choices, ",".join(pieces[:end]).strip())
            if chosen is not None:
                break
        else:
            raise CoercionError(f"must be some of {options_hint(field.choices)}, with commas between")
        found.append(chosen.value)
        pieces = pieces[end:]
    return found


def _items(field: FormField, text: str) -> list[Any]:
    items: list[Any] = _json(field, text)
    return items


def _chosen(choices: Sequence[Choice], text: str) -> Choice | None:
    """The choice that the text means; None where it means none. Raises `CoercionError` for one of several."""
    exact = [choice for choice in choices if choice.text == text]
    chosen = exact[:1] or [choice for choice in choices if _is_nearly(choice, text)]
    if len(chosen) > 1:
        raise CoercionError(f"could be any of {' | '.join(choice.text for choice in chosen)}")
    return chosen[0] if chosen else None


def _is_nearly(choice: Choice, text: str) -> bool:
    word = _lower(text)
    if isinstance(choice.value, bool):
        return word in (_TRUE if choice.value else _FALSE)
    return word in (_lower(choice.text), _lower(choice.title.strip() or choice.text))


def _json(_field: FormField, text: str) -> Any:
    try:
        return parse_json(text)
    except JsonInvalid as error:
        raise CoercionError(str(error)) from None


def _lower(text: str) -> str:
    """ASCII letters only: other alphabets have letters whose case depends on the language."""
    return text.translate(_ASCII_LOWER)


_COERCIONS = {
    "boolean": _boolean,
    "enum": _enum,
    "integer": _integer,
    "json": _json,
    LIST_TYPE: _list,
    "number": _number,
    "string": _string,
}
