"""Reads a long list of the API server element by element, so that memory follows from one element.

A list is one JSON object: some members, and among them an array. Pure: chunks of bytes in, elements out.
"""

import codecs
import json
from collections.abc import Iterable, Iterator
from typing import Any

_BLANKS = " \t\r\n"
_AFTER_A_VALUE = frozenset(",:]}" + _BLANKS)
"""What shows that a value is whole: of the number 1.5, `1.` may have arrived."""
_DECODER = json.JSONDecoder()


def elements(chunks: Iterable[bytes], array: str, others: dict[str, Any]) -> Iterator[Any]:
    """Yields the elements of the member `array` as they arrive; puts the other members into `others`.

    A member that is null is an array without elements. Raises ValueError for what is no JSON object, or ends
    before it is complete.
    """
    reader = _Reader(chunks)
    reader.expect("{")
    more = not reader.skip("}")
    while more:
        name = reader.value()
        reader.expect(":")
        if name == array and reader.skip("["):
            more_elements = not reader.skip("]")
            while more_elements:
                yield reader.value()
                more_elements = reader.goes_on("]")
        else:
            others[name] = reader.value()
        more = reader.goes_on("}")


class _Reader:
    """A text that arrives bit by bit, and a place in it."""

    def __init__(self, chunks: Iterable[bytes]) -> None:
        self._texts: Iterator[str] = codecs.iterdecode(chunks, "utf-8")
        self._text = ""
        self._at = 0

    def value(self) -> Any:
        """The JSON value here. What may go on is read again when more has arrived."""
        self._next()
        while True:
            try:
                value, end = _DECODER.raw_decode(self._text, self._at)
            except json.JSONDecodeError:
                end = len(self._text)
            if self._text[end : end + 1] in _AFTER_A_VALUE:
                self._at = end
                return value
            self._more()

    def goes_on(self, end: str) -> bool:
        """Whether a comma follows; else the end must."""
        if self.skip(","):
            return True
        self.expect(end)
        return False

    def expect(self, character: str) -> None:
        """Goes past a character that must be here."""
        if not self.skip(character):
            raise ValueError(f"not a list: {character!r} expected")

    def skip(self, character: str) -> bool:
        """Goes past a character, if it is here."""
        if self._next() != character:
            return False
        self._at += 1
        return True

    def _next(self) -> str:
        """The next character that is not blank."""
        while True:
            while self._at < len(self._text):
                if self._text[self._at] not in _BLANKS:
                    return self._text[self._at]
                self._at += 1
            self._more()

    def _more(self) -> None:
        """Takes in more text and forgets what was read."""
        text = next(self._texts, None)
        if text is None:
            raise ValueError("the list ends in the middle")
        self._text, self._at = self._text[self._at :] + text, 0
