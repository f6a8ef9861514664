"""Who may answer a question or decide over an action, and until when."""

from collections.abc import Collection, Mapping
from typing import Any, Final

from compozy.api.limits import MAX_APPROVALS
from compozy.language.durations import seconds_of
from compozy.language.graph.fields import Fields, join
from compozy.language.responders import unsatisfiable

_INVALID: Final = "responder_policy_invalid"
_MOST_NAMES: Final = 100
_LONGEST_NAME: Final = 1024


_KEYS: Final = ("agents", "initiator", "users", "groups", "approvals")
_ALIKE: Final = {"approve", "reject"}
"""The decisions that several people can make together: none of them brings anything of its own."""


def read_responders(value: Any, key: str, fields: Fields, decisions: Collection[str]) -> dict[str, Any]:
    """The responder policy, with `agents: deny` where nothing is said. Code: `responder_policy_invalid`."""
    if value is None:
        return {"agents": "deny"}
    if not isinstance(value, Mapping):
        fields.report(key, _INVALID, f"must be an object of {', '.join(f'`{name}`' for name in _KEYS)}")
        return {"agents": "deny"}
    before = len(fields.problems)
    values = fields.keys(value, key, _KEYS, refusal=_INVALID)
    for name in ("agents", "initiator"):
        if values.get(name, "deny") not in ("allow", "deny"):
            fields.report(f"{key}.{name}", _INVALID, "must be `allow` or `deny`")
    for name in ("users", "groups"):
        if name in values and not _are_names(values[name]):
            message = f"must be a list of at most {_MOST_NAMES} names"
            fields.report(f"{key}.{name}", _INVALID, message)
    if "approvals" in values:
        _check_approvals(values["approvals"], f"{key}.approvals", fields, decisions)
    nobody = unsatisfiable(values) if len(fields.problems) == before else None
    if nobody is not None:
        fields.report(f"{key}.{nobody.field}", _INVALID, nobody.message)
    return {"agents": "deny", **values}


def _check_approvals(value: Any, key: str, fields: Fields, decisions: Collection[str]) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= MAX_APPROVALS:
        fields.report(key, _INVALID, f"must be an integer from 1 to {MAX_APPROVALS}")
    elif not set(decisions) <= _ALIKE:
        told = ", ".join(decisions)
        message = f"several people can only approve or reject together, and here the decisions are {told}"
        fields.report(key, _INVALID, message)


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
