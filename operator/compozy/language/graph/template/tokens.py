"""The tokens of a Go template."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Final


class Kind(Enum):
    """What a token is; the value is how an error names it."""

    TEXT = "text"
    LEFT = "{{"
    RIGHT = "}}"
    SPACE = "space"
    KEYWORD = "keyword"
    FUNCTION = "function"
    FIELD = "field"
    VARIABLE = "variable"
    DOT = "dot"
    NIL = "nil"
    LITERAL = "literal"
    PIPE = "|"
    DECLARE = ":="
    ASSIGN = "="
    LEFT_PAREN = "("
    RIGHT_PAREN = ")"
    COMMA = ","
    END = "end of the template"


Literal = bool | int | float | str


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of a template.

    `text` is as written (a field without its dot, a variable with its `$`), `offset` is where it begins, and
    `literal` is the value of a `LITERAL`.
    """

    kind: Kind
    text: str
    offset: int
    literal: Literal = ""


KEYWORDS: Final = frozenset(
    {"block", "break", "continue", "define", "else", "end", "if", "range", "template", "with"}
)

SPACES: Final = " \t\r\n"
"""The only white space that the language knows."""
