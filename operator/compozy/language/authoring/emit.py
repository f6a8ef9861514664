"""New values as YAML text: in blocks where they are large, in brackets where they fit on a line."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

import yaml

from compozy.language.authoring.layout import LEVEL

WIDTH: Final = 80
"""Longest line that a list or mapping of simple values is written on."""

_PLAIN = re.compile(r"[A-Za-z_](?:[\w ./()@%+=;-]*[\w./()%+=;])?|(?:[0-9]+[hms])+", re.ASCII)
_SENTENCE = re.compile(r"[A-Za-z_][\w ./()@%+=;,?!'-]*[\w./()%+=;?!]", re.ASCII)
"""What needs no quotes outside of brackets."""
_NOT_TEXT = frozenset({"true", "false", "yes", "no", "on", "off", "y", "n", "null"})
"""Words that some reader of YAML takes for something else than text."""
_UNPRINTABLE = re.compile("[^\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]")


def entry_lines(key: str, value: Any, column: int) -> list[str]:
    """The lines of `key: value` in a block mapping whose keys stand in `column`; the first is indented too."""
    inline, below = block(value, column)
    return [f"{' ' * column}{text_scalar(key)}:{' ' + inline if inline else ''}", *below]


def item_lines(value: Any, column: int) -> list[str]:
    """The lines of an element of a block list whose dashes stand in `column`; the first is indented too."""
    inline, below = item_block(value, column)
    return [f"{' ' * column}-{' ' + inline if inline else ''}", *below]


def item_block(value: Any, column: int) -> tuple[str, list[str]]:
    """What stands beside the dash in `column`, and the lines below it. A mapping is never one line."""
    if not isinstance(value, Mapping) or not value:
        return block(value, column)
    lines = [line for key, item in value.items() for line in entry_lines(str(key), item, column + LEVEL)]
    return lines[0].lstrip(), lines[1:]


def block(value: Any, column: int) -> tuple[str, list[str]]:
    """What stands beside the key or dash in `column`, and the lines below it."""
    inner = " " * (column + LEVEL)
    if isinstance(value, str) and _is_literal(value):
        header = "|" if value.endswith("\n") else "|-"
        return header, [inner + line if line else "" for line in value.rstrip("\n").split("\n")]
    if isinstance(value, str):
        return text_scalar(value, in_flow=False), []
    if not isinstance(value, Mapping | list) or _fits(value, column):
        return flow(value), []
    if isinstance(value, Mapping):
        pairs = value.items()
        return "", [line for key, item in pairs for line in entry_lines(str(key), item, column + LEVEL)]
    return "", [line for item in value for line in item_lines(item, column + LEVEL)]


def flow(value: Any) -> str:
    """A value on one line."""
    if isinstance(value, Mapping):
        pairs = ", ".join(f"{text_scalar(str(key))}: {flow(item)}" for key, item in value.items())
        return f"{{ {pairs} }}" if pairs else "{}"
    if isinstance(value, list):
        return f"[{', '.join(map(flow, value))}]"
    if isinstance(value, str):
        return text_scalar(value)
    # PyYAML's numbers: a float has a point, without which YAML 1.1 reads text.
    return yaml.safe_dump(value, width=float("inf")).removesuffix("\n...\n").strip()


def _fits(value: Mapping[str, Any] | Sequence[Any], column: int) -> bool:
    inner = value.values() if isinstance(value, Mapping) else value
    simple = not any((isinstance(item, Mapping | list) and item) or _is_multiline(item) for item in inner)
    return simple and column + len(flow(value)) <= WIDTH


def _is_multiline(value: Any) -> bool:
    return isinstance(value, str) and "\n" in value


def _is_literal(text: str) -> bool:
    """Whether text can stand in a block as it is: several lines, and nothing that would be lost."""
    lines = text.removesuffix("\n").split("\n")
    return (
        "\n" in text
        and bool(lines[0])
        and not text.startswith(" ")
        and not text.endswith("\n\n")
        and not any(line != line.rstrip() or _UNPRINTABLE.search(line) for line in lines)
    )


def text_scalar(text: str, *, in_flow: bool = True) -> str:
    """Text as plain as every reader of YAML takes it for text, else in double quotes."""
    plain = _PLAIN.fullmatch(text) or (not in_flow and _SENTENCE.fullmatch(text))
    if plain and text.lower() not in _NOT_TEXT and "  " not in text:
        return text
    return _quoted(text)


def json_text(value: Any, column: int = 0) -> str:
    """Indented JSON that YAML reads in the same way: numbers have a point where they need one."""
    inner, outer = "\n" + " " * (column + LEVEL), "\n" + " " * column
    if isinstance(value, Mapping) and value:
        items = [f"{_quoted(str(key))}: {json_text(item, column + LEVEL)}" for key, item in value.items()]
        return "{" + inner + f",{inner}".join(items) + outer + "}"
    if isinstance(value, list) and value:
        items = [json_text(item, column + LEVEL) for item in value]
        return "[" + inner + f",{inner}".join(items) + outer + "]"
    return _quoted(value) if isinstance(value, str) else flow(value)


def _quoted(text: str) -> str:
    """Text in double quotes, for JSON and for YAML: what YAML does not take for printable is escaped."""
    quoted = json.dumps(text, ensure_ascii=False)
    return _UNPRINTABLE.sub(lambda found: f"\\u{ord(found.group()):04x}", quoted)
