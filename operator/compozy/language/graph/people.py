"""Who may answer a question or decide over an action, and until when."""

from collections.abc import Mapping
from typing import Any, Final

from compozy.language.durations import seconds_of
from compozy.language.graph.fields import Fields, join

_INVALID: Final = "responder_policy_invalid"
_MOST_NAMES: Final = 100
_LONGEST_NAME: Final = 1024


def read_responders(value: Any, key: str, fields: Fields) -> dict[str, Any]:
    """The responder policy, with `agents: deny` where nothing is said. Code: `responder_policy_invalid`."""
    if value is None:
        return {"agents": "deny"}
    if not isinstance(value, Mapping):
        fields.report(key, _INVALID, "must be an object of `agents`, `initiator`, `users` and `groups`")
        return {"agents": "deny"}
    values = fields.keys(value, key, ("agents", "initiator", "users", "groups"), refusal=_INVALID)
    for name in ("agents", "initiator"):
        if values.get(name, "deny") not in ("allow", "deny"):
            fields.report(f"{key}.{name}", _INVALID, "must be `allow` or `deny`")
    for name in ("users", "groups"):
        if name in values and not _are_names(values[name]):
            message = f"must be a list of at most {_MOST_NAMES} names"
            fields.report(f"{key}.{name}", _INVALID, message)
    return {"agents": "deny", **values}


def _are_names(value: Any) -> bool:
    return (
        isinstance(value, list)
        and len(value) <= _MOST_NAMES
        and all(isinstance(name, str) and 0 < len(name) <= _LONGEST_NAME for name in value)
    )


def read_expiry(
    value: Any, key: str, fields: Fields, code: str, *, routes: bool = True
) -> tuple[float | None, str | None]:
    """Seconds until a question closes, and where its expiry leads.

    Codes: `code` for another shape, `duration_invalid`, `error_route_backward`.
    """
    if value is None:
        return None, None
    if not isinstance(value, Mapping):
        fields.report(key, code, "must be an object of `after` and `route`")
        return None, None
    known = ("after", "route") if routes else ("after",)
    if "escalate" in value:
        message = "`escalate` has no effect here: lead `route` to what shall happen when time is up"
        fields.report(f"{key}.escalate", code, message)
        value = {name: item for name, item in value.items() if name != "escalate"}
    values = fields.keys(value, key, known, refusal=code)
    after, route = values.get("after"), values.get("route")
    if after is None:
        fields.report(f"{key}.after", "duration_invalid", "`after` is required: how long, such as `72h`")
    seconds = None if after is None else seconds_of(after, join(fields.path, f"{key}.after"), fields.problems)
    return seconds, None if route is None else fields.route(route, f"{key}.route")
