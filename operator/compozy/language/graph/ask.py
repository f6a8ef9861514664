"""`ask` in a graph plan: the lint rules of the human-requests page."""

from collections.abc import Mapping
from typing import Any

from compozy.language.annotations import annotation_problems
from compozy.language.compiled import AskSpec
from compozy.language.durations import seconds_of
from compozy.language.graph.fields import Fields
from compozy.language.graph.template import GoTemplateValue
from compozy.language.keys import read_keys
from compozy.language.schema import check_schema, field_errors, normalize_schema

_KEYS = ("prompt", "context", "expect", "responders", "expires", "when_unanswered", "default")


def compile_ask(values: Mapping[str, Any], fields: Fields) -> AskSpec | None:
    """Compile the params of an ask; None where it cannot be right, with the problems recorded."""
    before = len(fields.problems)
    path = f"{fields.path}.params"
    params = read_keys(values.get("params"), path, _KEYS, fields.problems, required=("prompt",))
    prompt = fields.text(params["prompt"], "params.prompt") if "prompt" in params else None
    expect = _expect(params, fields)
    context = _context(params.get("context"), fields)
    after, route = _expires(params.get("expires"), fields)
    default = _default(params, expect, fields)
    responders = _responders(params.get("responders"), fields)
    if len(fields.problems) > before or prompt is None or expect is None:
        return None
    return AskSpec(
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


def _expect(params: Mapping[str, Any], fields: Fields) -> Mapping[str, Any] | None:
    if "expect" not in params:
        fields.report("params.expect", "ask_expect_required", "`expect` is required: it is the output's shape")
        return None
    if not isinstance(params["expect"], Mapping) or not params["expect"]:
        fields.report("params.expect", "ask_expect_required", "must be a JSON Schema or a map of field types")
        return None
    schema = normalize_schema(params["expect"])
    path = f"{fields.path}.params.expect"
    problems = check_schema(schema, path) or annotation_problems(schema, path)
    fields.problems.extend(problems)
    return None if problems else schema


def _context(context: Any, fields: Fields) -> GoTemplateValue | None:
    if context is None:
        return None
    if not isinstance(context, Mapping):
        fields.report("params.context", "invalid_type", "must be an object")
        return None
    return fields.value(context, "params.context")


def _expires(expires: Any, fields: Fields) -> tuple[float | None, str | None]:
    if expires is None:
        return None, None
    path = f"{fields.path}.params.expires"
    values = read_keys(expires, path, ("after", "route"), fields.problems, required=("after",))
    after = seconds_of(values["after"], f"{path}.after", fields.problems) if "after" in values else None
    route = values.get("route")
    if route is not None and route not in fields.edges.out(fields.node):
        message = f"`route` must be a direct forward edge of `{fields.node}`; add the edge or name one of them"
        fields.report("params.expires.route", "error_route_backward", message)
    return after, route


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


def _responders(responders: Any, fields: Fields) -> Mapping[str, Any]:
    if responders is None:
        return {"agents": "deny"}
    values = read_keys(responders, f"{fields.path}.params.responders", ("agents",), fields.problems)
    agents = values.get("agents", "deny")
    if agents not in ("allow", "deny"):
        fields.report("params.responders.agents", "responder_policy_invalid", "must be `allow` or `deny`")
    return {"agents": agents}
