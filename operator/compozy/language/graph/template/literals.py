"""Reading the literals of Go: numbers, characters and quoted strings.

Every reader raises `ValueError` with a message fit for the author; the lexer adds the position.
"""

from __future__ import annotations

import re
from typing import Final

MAX_INT: Final = 2**63 - 1
MIN_INT: Final = -(2**63)
MAX_NUMBER_LENGTH: Final = 100
"""Longer numbers mean nothing, and converting very long ones is slow."""

NUMBER: Final = re.compile(
    r"[+-]?(?:0[xX](?:[0-9a-fA-F_]*\.?[0-9a-fA-F_]*(?:[pP][+-]?[0-9_]+)?)"
    r"|0[oO][0-7_]*|0[bB][01_]*"
    r"|[0-9_]*\.?[0-9_]*(?:[eE][+-]?[0-9_]+)?)i?"
)
"""Takes everything that looks like a number; `read_number` decides whether it is one."""

_SIMPLE_ESCAPES: Final = {
    "a": b"\a", "b": b"\b", "f": b"\f", "n": b"\n", "r": b"\r", "t": b"\t", "v": b"\v", "\\": b"\\",
}  # fmt: skip
_NUMERIC_ESCAPE: Final = re.compile(
    r"x(?P<hex>[0-9a-fA-F]{2})|(?P<octal>[0-7]{3})|u(?P<short>[0-9a-fA-F]{4})|U(?P<long>[0-9a-fA-F]{8})"
)


def read_number(text: str) -> int | float:
    """Read an integer of 64 bits or a floating-point number."""
    if text.endswith("i"):
        raise ValueError(f"complex number {text} is not supported")
    if len(text) > MAX_NUMBER_LENGTH:
        raise ValueError("the number is too long")
    digits = text.lstrip("+-").lower()
    hexadecimal = digits.startswith("0x")
    if any(mark in digits for mark in (".p" if hexadecimal else ".e")):
        return _read_float(text, hexadecimal=hexadecimal)
    try:
        # Go still reads a leading zero as octal; Python does not.
        octal = len(digits) > 1 and digits[0] == "0" and digits[1] in "01234567_"
        number = int(text, 8 if octal else 0)
    except ValueError:
        raise ValueError(f"bad number {text}") from None
    if not MIN_INT <= number <= MAX_INT:
        raise ValueError(f"integer {text} does not fit 64 bits")
    return number


def _read_float(text: str, *, hexadecimal: bool) -> float:
    try:
        number = float.fromhex(text.replace("_", "")) if hexadecimal else float(text)
    except (ValueError, OverflowError):
        raise ValueError(f"bad number {text}") from None
    if number in (float("inf"), float("-inf")):
        raise ValueError(f"number {text} is too large")
    return number


def read_character(body: str) -> int:
    """Read what stands between the quotes of a character constant; returns its code point."""
    text, end = _read_escape(body, 1, "'") if body.startswith("\\") else (body[:1].encode(errors="replace"), 1)
    if not body or end != len(body):
        raise ValueError(f"'{body}' is not one character")
    decoded = text.decode("utf-8", errors="replace")
    # '\xff' is the number 255, although it is no character of its own.
    return text[0] if body[:2] == "\\x" or body[1:2].isdigit() else ord(decoded)


def read_string(body: str) -> str:
    """Read what stands between the quotes of a quoted string."""
    if "\\" not in body:
        return body
    pieces: list[bytes] = []
    position = 0
    while (backslash := body.find("\\", position)) >= 0:
        pieces.append(body[position:backslash].encode("utf-8", errors="surrogatepass"))
        piece, position = _read_escape(body, backslash + 1, '"')
        pieces.append(piece)
    pieces.append(body[position:].encode("utf-8", errors="surrogatepass"))
    # Bytes written as \xff need not be UTF-8 together; what is not becomes the replacement character.
    return b"".join(pieces).decode("utf-8", errors="replace")


def _read_escape(body: str, position: int, quote: str) -> tuple[bytes, int]:
    """Read the escape after a backslash; returns its bytes and where it ends."""
    letter = body[position : position + 1]
    if letter == quote:
        return letter.encode(), position + 1
    if letter in _SIMPLE_ESCAPES:
        return _SIMPLE_ESCAPES[letter], position + 1
    match = _NUMERIC_ESCAPE.match(body, position)
    if match is None:
        raise ValueError(f"unknown escape \\{letter}")
    code = int(match[match.lastgroup or 0], 8 if match.lastgroup == "octal" else 16)
    if match.lastgroup in ("hex", "octal"):
        if code > 0xFF:
            raise ValueError(f"escape \\{match[0]} is larger than a byte")
        return bytes([code]), match.end()
    if code > 0x10FFFF or 0xD800 <= code <= 0xDFFF:
        raise ValueError(f"escape \\{match[0]} is no character")
    return chr(code).encode(), match.end()
