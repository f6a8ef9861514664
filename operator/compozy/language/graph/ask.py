"""`ask` in a graph plan: the lint rules of the human-requests page."""

from collections.abc import Mapping
from typing import Any, Final

from compozy.language.compiled import AskSpec
from compozy.language.graph.fields import Fields
from compozy.language.graph.made import Made
from compozy.language.graph.people import read_expiry, read_responders
from compozy.language.graph.schemas import read_schema
from compozy.language.graph.shapes import Declared
from compozy.language.graph.template import GoTemplateValue
from compozy.language.schema import field_errors

_KEYS: Final = ("prompt", "context", "expect", "responders", "expires", "when_unanswered", "default")
_INVALID: Final = "wait_shape_invalid"
"""The published code for what is wrong with the shape of anything that waits."""


def compile_ask(values: Mapping[str, Any], fields: Fields) -> Made | None:
    """Compile the params of an ask; None where it cannot be right, with the problems recorded."""
    before = len(fields.problems)
    params = fields.keys(values.get("params"), "params", _KEYS, required=("prompt",), refusal=_INVALID)
    prompt = fields.text(params["prompt"], "params.prompt") if "prompt" in params else None
    expect = _expect(params, fields)
    context = _context(params.get("context"), fields)
    after, route = read_expiry(params.get("expires"), "params.expires", fields, _INVALID)
    default = _default(params, expect, fields)
    responders = read_responders(params.get("responders"), "params.responders", fields, ("respond",))
    if len(fields.problems) > before or prompt is None or expect is None:
        return None
    spec = AskSpec(
        prompt=prompt,
        expect=expect,
        context=context,
        responders=responders,
        expires_after=after,
        expires_route=route,
        when_unanswered=params.get("when_unanswered", "fail"),
        default=default,
        wraps=False,
    )
    return Made(spec, Declared(expect))


def _expect(params: Mapping[str, Any], fields: Fields) -> Mapping[str, Any] | None:
    if "expect" not in params:
        fields.report("params.expect", "ask_expect_required", "`expect` is required: it is the output's shape")
        return None
    if not isinstance(params["expect"], Mapping) or not params["expect"]:
        fields.report("params.expect", "ask_expect_required", "must be a JSON Schema or a map of field types")
        return None
    return read_schema(params["expect"], "params.expect", fields, for_answers=True)


def _context(context: Any, fields: Fields) -> GoTemplateValue | None:
    if context is None:
        return None
    if not isinstance(context, Mapping):
        fields.report("params.context", "invalid_type", "must be an object")
        return None
    return fields.value(context, "params.context")


def _default(
    params: Mapping[str, Any], expect: Mapping[str, Any] | None, fields: Fields
) -> GoTemplateValue | None:
    when, given = params.get("when_unanswered", "fail"), "default" in params
    if when not in ("fail", "default"):
        fields.report("params.when_unanswered", "invalid_value", "must be `fail` or `default`")
    elif (when == "default") != given:
        code, message = (
            ("default_unused", "a `default` is never used without `when_unanswered: default`")
            if given
            else ("default_missing", "`when_unanswered: default` needs a `default` to fall back to")
        )
        fields.report("params.default", code, message)
    if not given:
        return None
    compiled = fields.value(params["default"], "params.default")
    if compiled is not None and compiled.is_static and expect is not None:
        for where, message in field_errors(expect, params["default"]).items():
            key = "params.default" if where == "payload" else f"params.default.{where}"
            fields.report(key, "default_invalid", f"the default does not conform to expect: {message}")
    return compiled
