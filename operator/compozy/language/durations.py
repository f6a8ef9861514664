"""Go durations, such as `72h` or `1h30m`, as seconds."""

import re
from typing import Any

from compozy.language.problems import Problem

_DURATION = re.compile(r"([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h))+", re.ASCII)
MAX_SECONDS = 100 * 366 * 86400
"""Longest duration: a hundred years, well inside what a timestamp can hold."""


def parse_duration(text: str) -> float:
    """Seconds of a Go duration. Raises ValueError where it is none, not positive, or over a hundred years."""
    import durationpy  # heavy enough to keep out of the start of the command line

    if len(text) > 32 or not _DURATION.fullmatch(text):
        raise ValueError(f"`{text[:40]}` is not a duration; write it like `72h` or `1h30m`")
    seconds: float = durationpy.from_str(text).total_seconds()
    if not 0 < seconds <= MAX_SECONDS:
        raise ValueError("a duration must be positive and at most a hundred years")
    return seconds


def seconds_of(value: Any, path: str, problems: list[Problem]) -> float | None:
    """Seconds of a duration in a plan; a problem `duration_invalid` where it is none."""
    if not isinstance(value, str):
        problems.append(Problem(path, "duration_invalid", "a duration is text, such as `72h`"))
        return None
    try:
        return parse_duration(value)
    except (ValueError, OverflowError) as error:
        problems.append(Problem(path, "duration_invalid", str(error)))
        return None
