"""Text from the server, fitted for a terminal.

Nothing that comes from the API is printed as text without passing `clean` or `block`: a prompt, a name or an
answer could otherwise move the cursor, hide what follows or pretend to be our own output.
"""

import unicodedata

from compozy.hosts.display import rows, visible

WIDEST_BLOCK = 110
"""Columns of a block of text where no terminal says how many there are."""


def clean(text: object) -> str:
    """The text on one line, with single blanks, and with what cannot be seen made visible."""
    return visible(" ".join(str(text).split()))


def block(text: object, columns: int | None, indent: str = "  ") -> list[str]:
    """The whole text as indented lines that no terminal has to break."""
    fitting = (columns or WIDEST_BLOCK) - len(indent)
    return [indent + row if row else row for row in rows(str(text).replace("\t", "    "), fitting)]


def width(text: str) -> int:
    """Columns of a text in a table.

    Letters whose width is ambiguous, such as é, count as one, as terminals outside East Asia show them.
    """
    if text.isascii():
        return len(text)
    return sum(_columns(character) for character in text)


def _columns(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def cut(text: str, columns: int) -> str:
    """The text, or as much of it as fits with an ellipsis."""
    if width(text) <= columns:
        return text
    kept, used = [], 0
    for character in text:
        used += width(character)
        if used > columns - 1:
            break
        kept.append(character)
    return "".join(kept).rstrip() + "…"


def pad(text: str, columns: int) -> str:
    """The text with blanks up to a number of columns."""
    return text + " " * max(0, columns - width(text))
