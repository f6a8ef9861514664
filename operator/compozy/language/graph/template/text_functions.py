"""The functions that make text: `print`, `println`, `printf`, `json`, `join`, `shellQuote`, `html`, `urlquery`.

Each writes into a buffer, which bounds what it can produce.
"""

from __future__ import annotations

import html
from collections.abc import Callable, Sequence
from urllib.parse import quote_plus

from compozy.language.budget import TextBuffer
from compozy.language.errors import TemplateCallError
from compozy.language.graph.template.formatting import write_all, write_result, write_value
from compozy.language.graph.template.printf import write_formatted
from compozy.language.keys import type_name
from compozy.language.values import Json, dump_json


def write_line(buffer: TextBuffer, arguments: Sequence[Json]) -> None:
    """Write the arguments as `println` does: spaces between all of them, and a line end."""
    write_all(buffer, arguments, line=True)


def write_printf(buffer: TextBuffer, arguments: Sequence[Json]) -> None:
    """Write a format, the first argument, with the others in its places; raises `TemplateCallError`."""
    template, *values = arguments
    if not isinstance(template, str):
        raise TemplateCallError(f"printf: the format is text, not {type_name(template)}")
    write_formatted(buffer, template, values)


def write_json(buffer: TextBuffer, arguments: Sequence[Json]) -> None:
    """Write a value as compact JSON with sorted keys; nothing is escaped for HTML."""
    buffer.write(dump_json(arguments[0]))


def write_joined(buffer: TextBuffer, arguments: Sequence[Json]) -> None:
    """Write the elements of the second argument with the first between them; text stays as it is.

    Raises `TemplateCallError` for any other type.
    """
    separator, value = arguments
    if not isinstance(separator, str):
        raise TemplateCallError(f"join: the separator is text, not {type_name(separator)}")
    if isinstance(value, str):
        buffer.write(value)
        return
    if not isinstance(value, list):
        raise TemplateCallError(f"join: joins a list, not {type_name(value)}")
    for position, element in enumerate(value):
        if position:
            buffer.write(separator)
        write_value(buffer, element)


def write_shell_word(buffer: TextBuffer, arguments: Sequence[Json]) -> None:
    """Write a value, as `print` does, so that a POSIX shell takes it as one word whatever is in it."""
    plain = buffer.branch()
    write_all(plain, arguments)
    buffer.write("'" + plain.text().replace("'", "'\"'\"'") + "'")


def escaping(escape: Callable[[str], str]) -> Callable[[TextBuffer, Sequence[Json]], None]:
    """Make the function that writes a value as an action does, passed through `escape`."""

    def write(buffer: TextBuffer, arguments: Sequence[Json]) -> None:
        plain = buffer.branch()
        write_result(plain, arguments[0])
        buffer.write(escape(plain.text()))

    return write


def escape_html(text: str) -> str:
    """Escape text for HTML with the references that Go uses."""
    return html.escape(text).replace("&quot;", "&#34;").replace("&#x27;", "&#39;")


def escape_query(text: str) -> str:
    """Escape text for the query of a URL."""
    return quote_plus(text, errors="replace")
