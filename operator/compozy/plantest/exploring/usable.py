"""What a rendered value must be like where it stands: code and message of why it cannot be used, or None."""

from collections.abc import Callable, Mapping
from typing import Any

from compozy.engine.codes import UNRENDERABLE
from compozy.engine.times import parse_timestamp
from compozy.language.durations import parse_duration
from compozy.language.keys import type_name
from compozy.language.problems import faults_line
from compozy.language.schema import field_errors

STATUSES = ("success", "error")
"""How an exit can end its plan."""

Why = tuple[str, str] | None


def not_blank(text: Any) -> Why:
    """A question needs words."""
    return None if text.strip() else ("prompt_blank", "the prompt rendered to nothing; a question needs words")


def is_list(value: Any) -> Why:
    """What steps iterate over."""
    if isinstance(value, list):
        return None
    return "over_not_a_list", f"`over` must render to a list, not {type_name(value)}"


def is_collection(value: Any) -> Why:
    """What a fan-out opens lanes for."""
    if isinstance(value, list):
        return None
    return "collection_not_a_list", f"`collection` must be a list, not {type_name(value)}"


def is_object(value: Any) -> Why:
    """The inputs of a run that a node starts."""
    if isinstance(value, Mapping):
        return None
    return UNRENDERABLE, f"`inputs` must be an object, not {type_name(value)}"


def is_status(text: Any) -> Why:
    """How an exit ends its plan."""
    if text in STATUSES:
        return None
    return "exit_status_invalid", f"`status` must be `success` or `error`, not `{text[:40]}`"


def is_duration(text: Any) -> Why:
    """How long a node waits."""
    return _read(parse_duration, text)


def is_moment(text: Any) -> Why:
    """Until when a node waits."""
    return _read(parse_timestamp, text)


def _read(parse: Callable[[str], Any], text: Any) -> Why:
    try:
        parse(text.strip())
    except (ValueError, OverflowError) as error:
        return "duration_invalid", f"cannot tell until when to wait: {error}"
    return None


def conforms_to(schema: Mapping[str, Any]) -> Callable[[Any], Why]:
    """A default, which must be an answer that could have been given."""

    def fits(answer: Any) -> Why:
        faults = field_errors(schema, answer)
        return ("default_invalid", f"the default does not conform: {faults_line(faults)}") if faults else None

    return fits
