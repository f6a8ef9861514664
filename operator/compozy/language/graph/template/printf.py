"""The `printf` function: Go's format verbs over JSON values.

Where Go would print an error into the text, such as `%!d(string=x)`, `printf` fails: a text like that must
never reach a person or a tool. JSON does not tell 3 from 3.0, so both suit the verbs of either.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from compozy.language.budget import TextBuffer
from compozy.language.errors import TemplateCallError
from compozy.language.graph.template.formatting import float_text, write_value
from compozy.language.keys import type_name
from compozy.language.values import Json, dump_json

MAX_WIDTH: Final = 1000
"""The largest width or precision."""

_DIRECTIVE: Final = re.compile(
    r"%(?P<flags>[-+# 0]*)(?P<width>\*|[0-9]+)?(?P<dot>\.(?P<precision>\*|[0-9]*))?(?P<verb>.?)", re.DOTALL
)
_BASES: Final = {"b": "0b", "o": "0", "x": "0x", "X": "0X"}
"""The verbs of other bases with the prefix that the flag `#` adds."""


class _Arguments:
    """Hands out the arguments of one `printf` in order."""

    def __init__(self, values: Sequence[Json]) -> None:
        self._values = values
        self._taken = 0

    def take(self, directive: str) -> Json:
        if self._taken == len(self._values):
            raise TemplateCallError(f"printf: there is no argument for {directive}")
        self._taken += 1
        return self._values[self._taken - 1]

    def take_size(self, text: str, directive: str) -> int:
        """Read a width or precision: digits, or `*` for the next argument."""
        size = self.take(directive) if text == "*" else int(text[:6] or "0")
        if not isinstance(size, int) or isinstance(size, bool) or abs(size) > MAX_WIDTH:
            raise TemplateCallError(f"printf: {directive} needs a whole number up to {MAX_WIDTH} as its size")
        return size

    def check_all_taken(self) -> None:
        left = len(self._values) - self._taken
        if left:
            raise TemplateCallError(f"printf: {left} arguments more than the format has places for")


def write_formatted(buffer: TextBuffer, template: str, values: Sequence[Json]) -> None:
    """Write `template` with its directives replaced.

    Raises `TemplateCallError` for an unknown verb, a value that does not suit its verb, and too few or too
    many arguments; `LimitError` for a text too long.
    """
    arguments = _Arguments(values)
    position = 0
    for match in _DIRECTIVE.finditer(template):
        buffer.write(template[position : match.start()])
        _write_directive(buffer, match, arguments)
        position = match.end()
    buffer.write(template[position:])
    arguments.check_all_taken()


def _write_directive(buffer: TextBuffer, match: re.Match[str], arguments: _Arguments) -> None:
    directive, verb, flags = match[0], match["verb"], match["flags"]
    width = arguments.take_size(match["width"], directive) if match["width"] else 0
    precision = arguments.take_size(match["precision"], directive) if match["dot"] else None
    if verb == "%":
        buffer.write("%")
        return
    if width < 0:
        flags += "-"
    value = arguments.take(directive)
    text = _format(value, verb, flags, precision, buffer) if verb else None
    if text is None:
        raise TemplateCallError(f"printf: {directive} does not suit {type_name(value)}")
    buffer.write(_pad(text, abs(width), flags, numeric=isinstance(value, int | float)))


def _format(value: Json, verb: str, flags: str, precision: int | None, buffer: TextBuffer) -> str | None:
    """Return the text of one value, unpadded; None when the verb does not suit it."""
    if isinstance(value, bool):
        return ("true" if value else "false") if verb in "tv" else None
    if isinstance(value, int | float):
        return _format_number(value, verb, flags, precision)
    if isinstance(value, str):
        return _format_string(value, verb, flags, precision)
    if verb != "v" and (verb != "s" or value is None):
        return None
    nested = buffer.branch()
    write_value(nested, value)
    return nested.text()


def _format_number(value: int | float, verb: str, flags: str, precision: int | None) -> str | None:
    digits = _integer_digits(value, verb, flags)
    if digits is None:
        digits = _float_digits(value, verb, precision)
    if digits is None or verb in "cU":
        return digits
    if value < 0:
        return f"-{digits}"
    return f"+{digits}" if "+" in flags else f" {digits}" if " " in flags else digits


def _integer_digits(value: int | float, verb: str, flags: str) -> str | None:
    """Return the digits of a whole number without its sign; None for other numbers and verbs."""
    if isinstance(value, float):
        if not value.is_integer():
            return None
        value = int(value)
    if verb == "d" or (verb == "v" and abs(value) < 10**21):
        return str(abs(value))
    if verb in _BASES:
        return (_BASES[verb] if "#" in flags else "") + format(abs(value), verb)
    if verb == "c" and 0 <= value <= 0x10FFFF and not 0xD800 <= value <= 0xDFFF:
        return chr(value)
    return f"U+{value:04X}" if verb == "U" and value >= 0 else None


def _float_digits(value: int | float, verb: str, precision: int | None) -> str | None:
    if verb not in "eEfFgGv":
        return None
    try:
        magnitude = abs(float(value))
    except OverflowError:
        return None
    if verb in "gv" and precision is None:
        return float_text(magnitude)
    return format(magnitude, f".{6 if precision is None else precision}{'g' if verb == 'v' else verb}")


def _format_string(value: str, verb: str, flags: str, precision: int | None) -> str | None:
    if verb in "xX":
        encoded = value.encode("utf-8", errors="replace")
        digits = encoded.hex(" ") if " " in flags else encoded.hex()
        return digits.upper() if verb == "X" else digits
    if precision is not None:
        value = value[: max(precision, 0)]
    if verb == "q" or (verb == "v" and "#" in flags):
        return dump_json(value)
    return value if verb in "sv" else None


def _pad(text: str, width: int, flags: str, *, numeric: bool) -> str:
    if "-" in flags:
        return text.ljust(width)
    if "0" in flags and numeric:
        return text.zfill(width)
    return text.rjust(width)
