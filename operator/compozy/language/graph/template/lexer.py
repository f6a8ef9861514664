"""Cutting a Go template into tokens.

Follows the lexical rules of Go's text/template: `{{-` and `-}}` trim white space, comments stand alone in
their action, an operand must be followed by something that ends it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final, NoReturn

from compozy.language.errors import TemplateSyntaxError
from compozy.language.graph.template.literals import NUMBER, read_character, read_number, read_string
from compozy.language.graph.template.tokens import KEYWORDS, SPACES, Kind, Literal, Token

_SPACE: Final = re.compile(r"[ \t\r\n]+")
_WORD: Final = re.compile(r"\w+")
_QUOTED: Final = re.compile(r'"([^"\\\n]*(?:\\[^\n][^"\\\n]*)*)"')
_CHARACTER: Final = re.compile(r"'([^'\\\n]*(?:\\[^\n][^'\\\n]*)*)'")
_RAW: Final = re.compile(r"`([^`]*)`")
_SIGNS: Final = {
    "|": Kind.PIPE,
    "(": Kind.LEFT_PAREN,
    ")": Kind.RIGHT_PAREN,
    ",": Kind.COMMA,
    "=": Kind.ASSIGN,
}
_ENDS_OPERAND: Final = frozenset(SPACES + ".,|:)(")


def tokenize(text: str) -> Iterator[Token]:
    """Yield the tokens of a template, `END` last; raises `TemplateSyntaxError` where the text makes none."""
    return _Lexer(text).tokens()


class _Lexer:
    """Reads one template from left to right."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._position = 0

    def tokens(self) -> Iterator[Token]:
        while (start := self._text.find("{{", self._position)) >= 0:
            trims = self._text[start + 2 : start + 3] == "-" and self._text[start + 3 : start + 4] in (*SPACES,)
            chunk = self._text[self._position : start]
            if trims:
                chunk = chunk.rstrip(SPACES)
            if chunk:
                yield Token(Kind.TEXT, chunk, self._position)
            self._position = start + (4 if trims else 2)
            if self._text.startswith("/*", self._position):
                self._skip_comment(start)
            else:
                yield Token(Kind.LEFT, "{{", start)
                yield from self._action(start)
        if self._position < len(self._text):
            yield Token(Kind.TEXT, self._text[self._position :], self._position)
        yield Token(Kind.END, "", len(self._text))

    def _skip_comment(self, start: int) -> None:
        end = self._text.find("*/", self._position + 2)
        if end < 0:
            self._fail(start, "the comment is never closed; end it with */}}")
        self._position = end + 2
        space = _SPACE.match(self._text, self._position)
        closing = space.end() if space else self._position
        if not self._close(closing, trimming=space is not None):
            self._fail(start, "a comment must fill its action: }} must follow */ directly")

    def _close(self, position: int, *, trimming: bool) -> bool:
        """Step over a closing delimiter at `position`, if there is one."""
        if trimming:
            if not self._text.startswith("-}}", position):
                return False
            after = _SPACE.match(self._text, position + 3)
            self._position = after.end() if after else position + 3
            return True
        if not self._text.startswith("}}", position):
            return False
        self._position = position + 2
        return True

    def _action(self, start: int) -> Iterator[Token]:
        depth = 0
        while self._position < len(self._text):
            offset = self._position
            space = _SPACE.match(self._text, offset)
            if space is not None:
                self._position = space.end()
                closed = self._close(space.end(), trimming=True)
                if not closed:
                    yield Token(Kind.SPACE, " ", offset)
                    continue
            else:
                closed = self._close(offset, trimming=False)
            if closed:
                if depth > 0:
                    self._fail(offset, "a left parenthesis is never closed")
                yield Token(Kind.RIGHT, "}}", offset)
                return
            token = self._token(offset)
            depth += (token.kind is Kind.LEFT_PAREN) - (token.kind is Kind.RIGHT_PAREN)
            if depth < 0:
                self._fail(offset, "a right parenthesis was never opened")
            yield token
        self._fail(start, "the action is never closed; end it with }}")

    def _token(self, offset: int) -> Token:
        character = self._text[offset]
        following = self._text[offset + 1 : offset + 2]
        if character in _SIGNS:
            return self._take(_SIGNS[character], offset, offset + 1)
        if character == ":":
            if following != "=":
                self._fail(offset, "expected :=")
            return self._take(Kind.DECLARE, offset, offset + 2)
        if character in _LITERALS:
            return self._literal(*_LITERALS[character], offset)
        if character == "$":
            return self._name(Kind.VARIABLE, offset, offset + 1)
        if character == "." and not (following.isascii() and following.isdigit()):
            return self._field(offset)
        if character in "+-.0123456789":
            return self._literal(NUMBER, read_number, offset)
        if _WORD.match(character):
            return self._word(offset)
        return self._fail(offset, f"unexpected {character!r} in an action")

    def _field(self, offset: int) -> Token:
        if _WORD.match(self._text, offset + 1):
            return self._name(Kind.FIELD, offset, offset + 1)
        self._check_end(offset + 1)
        return self._take(Kind.DOT, offset, offset + 1)

    def _name(self, kind: Kind, offset: int, start: int) -> Token:
        match = _WORD.match(self._text, start)
        end = match.end() if match else start
        self._check_end(end)
        self._position = end
        return Token(kind, self._text[start if kind is Kind.FIELD else offset : end], offset)

    def _word(self, offset: int) -> Token:
        token = self._name(Kind.FUNCTION, offset, offset)
        if token.text in KEYWORDS:
            return Token(Kind.KEYWORD, token.text, offset)
        if token.text in ("true", "false"):
            return Token(Kind.LITERAL, token.text, offset, token.text == "true")
        return Token(Kind.NIL, "nil", offset) if token.text == "nil" else token

    def _literal(self, pattern: re.Pattern[str], read: Callable[[str], Literal], offset: int) -> Token:
        match = pattern.match(self._text, offset)
        if match is None:
            self._fail(offset, "the quote is never closed")
        end = match.end()
        try:
            value = read(match[pattern.groups])
            if pattern is NUMBER and _WORD.match(self._text, end):
                raise ValueError(f"bad number {match[0]}{self._text[end]}")
        except ValueError as error:
            self._fail(offset, str(error))
        self._position = end
        return Token(Kind.LITERAL, match[0], offset, value)

    def _take(self, kind: Kind, offset: int, end: int) -> Token:
        self._position = end
        return Token(kind, self._text[offset:end], offset)

    def _check_end(self, position: int) -> None:
        following = self._text[position : position + 1]
        if following and following not in _ENDS_OPERAND and not self._text.startswith("}}", position):
            self._fail(position, f"unexpected {following!r} after an operand; separate the two with a space")

    def _fail(self, offset: int, message: str) -> NoReturn:
        raise TemplateSyntaxError(message, self._text, offset)


def _read_raw(body: str) -> str:
    return body.replace("\r", "")


_LITERALS: Final[dict[str, tuple[re.Pattern[str], Callable[[str], Literal]]]] = {
    '"': (_QUOTED, read_string),
    "'": (_CHARACTER, read_character),
    "`": (_RAW, _read_raw),
}
