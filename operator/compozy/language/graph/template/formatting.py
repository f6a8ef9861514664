"""Writing JSON values as text the way Go's fmt package prints them.

Whole numbers print without exponent, `true` and `false` in small letters, lists as `[a b]`, objects as
`map[k:v]` in key order. A null that is the result of an action prints `<no value>`; inside a list or an
object, and through `print` and `printf`, it prints `<nil>`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from compozy.language.budget import TextBuffer
from compozy.language.values import MAX_DEPTH, Json, too_deep

NO_VALUE: Final = "<no value>"
NIL: Final = "<nil>"

_PLAIN_FROM_EXPONENT: Final = -4
_PLAIN_BELOW_EXPONENT: Final = 21


def write_result(buffer: TextBuffer, value: Json) -> None:
    """Write the result of an action; raises `RenderError` for a value too deep or a text too long."""
    if value is None:
        buffer.write(NO_VALUE)
    else:
        write_value(buffer, value)


def write_value(buffer: TextBuffer, value: Json, depth: int = 0) -> None:
    """Write a value as the verb `%v` does; raises `RenderError` as `write_result` does."""
    if depth > MAX_DEPTH:
        raise too_deep()
    if isinstance(value, list):
        buffer.write("[")
        for position, element in enumerate(value):
            if position:
                buffer.write(" ")
            write_value(buffer, element, depth + 1)
        buffer.write("]")
    elif isinstance(value, dict):
        buffer.write("map[")
        for position, key in enumerate(sorted(value)):
            buffer.write(f" {key}:" if position else f"{key}:")
            write_value(buffer, value[key], depth + 1)
        buffer.write("]")
    else:
        buffer.write(scalar_text(value))


def scalar_text(value: bool | int | float | str | None) -> str:
    """Return the text of a value that is neither a list nor an object."""
    if value is None:
        return NIL
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return float_text(value)
    return str(value)


def float_text(value: float) -> str:
    """Write a float with the fewest digits that read back as the same number.

    Up to 10^21 there is no exponent, as in JSON; Go itself would print 1e+06 for a million.
    """
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "+Inf" if value > 0 else "-Inf"
    mantissa, exponent_text = f"{value!r}e0".split("e")[:2]
    sign = "-" if mantissa.startswith("-") else ""
    whole, _, fraction = mantissa.lstrip("-").partition(".")
    digits = (whole + fraction).lstrip("0")
    exponent = int(exponent_text) + len(whole) - 1
    if whole == "0":
        exponent -= len(fraction) - len(fraction.lstrip("0")) + 1
    digits = digits.rstrip("0") or "0"
    if digits == "0":
        return f"{sign}0"
    if not _PLAIN_FROM_EXPONENT <= exponent < _PLAIN_BELOW_EXPONENT:
        point = "." if len(digits) > 1 else ""
        return f"{sign}{digits[0]}{point}{digits[1:]}e{exponent:+03d}"
    if exponent < 0:
        return f"{sign}0.{'0' * (-exponent - 1)}{digits}"
    digits = digits.ljust(exponent + 1, "0")
    point = "." if len(digits) > exponent + 1 else ""
    return f"{sign}{digits[: exponent + 1]}{point}{digits[exponent + 1 :]}"


def write_all(buffer: TextBuffer, values: Sequence[Json], *, line: bool = False) -> None:
    """Write values as `print` does, or with `line` as `println` does.

    `print` puts a space between two values when neither is text; `println` always does, and ends the line.
    """
    for position, value in enumerate(values):
        before = values[position - 1] if position else ""
        if position and (line or not (isinstance(value, str) or isinstance(before, str))):
            buffer.write(" ")
        write_value(buffer, value)
    if line:
        buffer.write("\n")
