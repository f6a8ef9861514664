"""`wait` in a graph plan: let time pass."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from compozy.language.compiled import WaitSpec
from compozy.language.durations import seconds_of
from compozy.language.graph.fields import Fields, join
from compozy.language.graph.made import Made
from compozy.language.graph.shapes import TEXT, Members

OUTPUT: Final = Members({"until": TEXT})
_INVALID: Final = "wait_shape_invalid"


def compile_wait(values: Mapping[str, Any], fields: Fields) -> Made | None:
    """Compile the params of a wait; None where it cannot be right, with the problems recorded."""
    before = len(fields.problems)
    given = values.get("params")
    if not isinstance(given, Mapping):
        fields.report("params", _INVALID, "must have exactly one of `for` and `until`")
        return None
    if "event" in given:
        message = "a wait for an event is not supported; let a person answer with an `ask`, or wait `for` a time"
        fields.report("params.event", "wait_event_unsupported", message)
    params = fields.keys(given, "params", ("for", "until", "event"), refusal=_INVALID)
    if ("for" in params) == ("until" in params) and "event" not in params:
        fields.report("params", _INVALID, "must have exactly one of `for` and `until`")
    duration = fields.text(params["for"], "params.for") if "for" in params else None
    until = fields.text(params["until"], "params.until") if "until" in params else None
    if duration is not None and duration.is_static:
        seconds_of(duration.source.strip(), join(fields.path, "params.for"), fields.problems)
    if until is not None and until.is_static and not _is_moment(until.source.strip()):
        message = "must be a moment of RFC 3339, such as `2030-01-31T09:00:00Z`"
        fields.report("params.until", "duration_invalid", message)
    return None if len(fields.problems) > before else Made(WaitSpec(duration, until), OUTPUT)


def _is_moment(text: str) -> bool:
    try:
        return "T" in text and datetime.fromisoformat(text) is not None
    except ValueError:
        return False
