"""`review`: a person decides over an action before it runs. The lint rules of the human-requests page."""

from collections.abc import Mapping
from typing import Any, Final

from compozy.language.annotations import secret_problems
from compozy.language.compiled import ReviewSpec
from compozy.language.graph.fields import Fields
from compozy.language.graph.people import read_expiry, read_responders

DECISIONS: Final = ("approve", "edit", "reject", "respond")
"""What a person may be offered."""

_INVALID: Final = "review_shape_invalid"
_KEYS: Final = ("decisions", "when", "prompt", "responders", "on_reject", "expires")


def read_review(value: Any, fields: Fields, schema: Mapping[str, Any] | None) -> ReviewSpec | None:
    """Compile a review; None where it cannot be right, with the problems recorded.

    Args:
        value: what the author wrote.
        fields: the action.
        schema: the declared shape of the action's output, which a `respond` is held to.
    """
    before = len(fields.problems)
    if not isinstance(value, Mapping):
        fields.report("review", _INVALID, "must be an object")
        return None
    values = fields.keys(value, "review", _KEYS, refusal=_INVALID)
    decisions = _decisions(values, fields)
    if "respond" in decisions:
        _check_response(schema, fields)
    when, prompt = values.get("when"), values.get("prompt")
    condition = None if when is None else fields.condition(when, "review.when")
    template = None if prompt is None else fields.text(prompt, "review.prompt")
    after, expires_route = read_expiry(values.get("expires"), "review.expires", fields, _INVALID)
    spec = ReviewSpec(
        when=condition,
        when_source=when if isinstance(when, str) else "",
        prompt=template,
        decisions=decisions,
        responders=read_responders(values.get("responders"), "review.responders", fields, decisions),
        reject_route=_reject_route(values.get("on_reject"), decisions, fields),
        expires_after=after,
        expires_route=expires_route,
        respond_schema=schema if "respond" in decisions else None,
    )
    return None if len(fields.problems) > before else spec


def _decisions(values: Mapping[str, Any], fields: Fields) -> tuple[str, ...]:
    given = values.get("decisions", ["approve", "reject"])
    if not isinstance(given, list) or not given:
        fields.report("review.decisions", _INVALID, f"must be a list of {', '.join(DECISIONS)}")
        return ()
    decisions: list[str] = []
    for index, decision in enumerate(given):
        if decision not in DECISIONS:
            fields.report(f"review.decisions[{index}]", _INVALID, f"must be one of {', '.join(DECISIONS)}")
        elif decision in decisions:
            fields.report(f"review.decisions[{index}]", _INVALID, f"`{decision}` is there twice")
        else:
            decisions.append(decision)
    return tuple(decisions)


def _check_response(schema: Mapping[str, Any] | None, fields: Fields) -> None:
    if schema is None:
        message = "`respond` needs a declared output: write `produces`"
        fields.report("review.decisions", "review_respond_schema_required", message)
    for problem in secret_problems(schema, ""):
        message = f"`respond` is held to the declared output, where `{problem.path}` {problem.message}"
        fields.report("review.decisions", problem.code, message)


def _reject_route(value: Any, decisions: tuple[str, ...], fields: Fields) -> str | None:
    if value is None:
        return None
    if not isinstance(value, Mapping) or "route" not in value:
        fields.report("review.on_reject", _INVALID, "must be an object with `route`")
        return None
    values = fields.keys(value, "review.on_reject", ("route",), refusal=_INVALID)
    if "reject" not in decisions:
        fields.report("review.on_reject", _INVALID, "nobody can reject: add `reject` to the decisions")
    return fields.route(values.get("route"), "review.on_reject.route")
