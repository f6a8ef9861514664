"""What every node of a graph may say beside its kind: time, attempts, where a failure leads, reviews."""

from collections.abc import Mapping
from typing import Any, Final

from compozy.language.compiled import NO_POLICY, Policy, Retry
from compozy.language.durations import seconds_of
from compozy.language.graph.fields import Fields, join
from compozy.language.graph.numbers import whole_number
from compozy.language.graph.review import read_review

ENVELOPE: Final = (
    *("id", "class", "kind", "timeout", "deadline", "retry", "on_error", "produces"),
    *("review", "on_parent_close"),
)
"""Keys of every node. The last two belong to some kinds only and have problems of their own elsewhere."""

MAX_ATTEMPTS: Final = 100
_USUAL: Final = Retry()
_POLICY: Final = ("timeout", "deadline", "retry", "on_error", "produces", "review")


def read_policy(
    values: Mapping[str, Any], fields: Fields, produces: Mapping[str, Any] | None, schema: Mapping[str, Any] | None
) -> Policy:
    """Read the envelope of a node.

    Args:
        values: the node.
        fields: where it stands.
        produces: the declared shape of its output.
        schema: the shape of an output that a person puts in its place.
    """
    if values.keys().isdisjoint(_POLICY):
        return NO_POLICY
    timeout, deadline = _seconds(values, "timeout", fields), _seconds(values, "deadline", fields)
    if timeout is not None and deadline is not None and timeout > deadline:
        message = "one attempt may not take longer than all together: `timeout` is at most `deadline`"
        fields.report("timeout", "timeout_exceeds_deadline", message)
    route, allow_fail = _on_error(values.get("on_error"), fields)
    review = values.get("review")
    return Policy(
        timeout=timeout,
        deadline=deadline,
        retry=_retry(values.get("retry"), fields),
        error_route=route,
        allow_fail=allow_fail,
        produces=produces,
        review=None if review is None else read_review(review, fields, produces or schema),
    )


def _seconds(values: Mapping[str, Any], key: str, fields: Fields, below: str = "") -> float | None:
    value = values.get(key)
    path = join(join(fields.path, below), key)
    return None if value is None else seconds_of(value, path, fields.problems)


def _retry(value: Any, fields: Fields) -> Retry | None:
    if value is None:
        return None
    values = fields.keys(value, "retry", ("max_attempts", "backoff", "non_retryable"))
    attempts = values.get("max_attempts", _USUAL.max_attempts)
    attempts = whole_number(attempts, "retry.max_attempts", fields, 0, MAX_ATTEMPTS)
    pauses = fields.keys(values.get("backoff", {}), "retry.backoff", ("base", "max"))
    base, most = (
        _seconds(pauses, "base", fields, "retry.backoff"),
        _seconds(pauses, "max", fields, "retry.backoff"),
    )
    if base is not None and most is not None and base > most:
        fields.report("retry.backoff.base", "retry_invalid", "the first pause is longer than the longest")
    codes = values.get("non_retryable", [])
    if not isinstance(codes, list) or not all(isinstance(code, str) and code for code in codes):
        fields.report("retry.non_retryable", "invalid_type", "must be a list of failure codes")
        codes = []
    base = base or min(_USUAL.base, most or _USUAL.max)
    return Retry(max(attempts, 1), base, max(most or _USUAL.max, base), tuple(codes))


def _on_error(value: Any, fields: Fields) -> tuple[str | None, bool]:
    if value is None:
        return None, False
    before = len(fields.problems)
    values = fields.keys(value, "on_error", ("route", "allow_fail"))
    allow_fail = values.get("allow_fail", False)
    if not isinstance(allow_fail, bool):
        fields.report("on_error.allow_fail", "invalid_type", "must be true or false")
        allow_fail = False
    if "route" not in values:
        if "allow_fail" not in values and len(fields.problems) == before:
            message = "say `route`, a node that failures lead to, or `allow_fail: true`"
            fields.report("on_error", "missing_key", message)
        return None, allow_fail
    if allow_fail:
        message = "a failure either leads along `route` or is let pass by `allow_fail`; write one of them"
        fields.report("on_error", "error_route_conflict", message)
    return fields.route(values["route"], "on_error.route"), allow_fail
