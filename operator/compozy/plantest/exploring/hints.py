"""What a plan compares with: the constants in its gates and conditions.

Answers are generated from schemas alone otherwise, and no schema says that a plan does something else above 7.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from compozy.plantest.exploring.values import Hints

MAX_HINTS = 24
"""The most constants of each kind."""

_CONDITIONS = ("when", "condition", "filter", "stop_when", "expr")
_CONSTANT = re.compile(r"""'([^'\\]*)'|"([^"\\]*)"|(?<![\w.])(-?\d+(?:\.\d+)?)(?![\w.])""")


def hints_of(spec: Any) -> Hints:
    """The constants of a plan's spec, in the order in which they stand there."""
    texts: dict[str, None] = {}
    numbers: dict[int | float, None] = {}
    for value in _constants(spec):
        if isinstance(value, str) and "{{" not in value:
            texts.setdefault(value)
        elif isinstance(value, int | float) and not isinstance(value, bool):
            numbers.setdefault(value)
    return Hints(tuple(texts)[:MAX_HINTS], tuple(numbers)[:MAX_HINTS])


def _constants(spec: Any) -> Iterator[Any]:
    if isinstance(spec, list):
        for item in spec:
            yield from _constants(item)
    elif isinstance(spec, Mapping):
        if "op" in spec and "value" in spec:
            yield from _scalars(spec.get("to"))
            yield from _scalars(spec["value"])
        for key, value in spec.items():
            if key in _CONDITIONS and isinstance(value, str):
                yield from _in_condition(value)
            else:
                yield from _constants(value)


def _scalars(value: Any) -> Iterator[Any]:
    if isinstance(value, list):
        for item in value:
            yield from _scalars(item)
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _scalars(item)
    else:
        yield value


def _in_condition(text: str) -> Iterator[Any]:
    for found in _CONSTANT.finditer(text):
        if found[3] is None:
            yield found[1] if found[1] is not None else found[2]
        else:
            yield float(found[3]) if "." in found[3] else int(found[3])
