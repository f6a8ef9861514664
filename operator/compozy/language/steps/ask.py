"""`ask` in a steps plan: the load-time checks of the ask-steps page."""

from collections.abc import Mapping
from typing import Any

from compozy.language.annotations import kind_problems, secret_problems
from compozy.language.compiled import AskSpec
from compozy.language.schema import check_schema, field_errors, flat_object_problems
from compozy.language.steps.fields import Fields
from compozy.language.steps.template import TemplateValue

_KEYS = ("prompt", "output_schema", "when_unanswered", "default")


def compile_ask(data: Any, fields: Fields) -> AskSpec | None:
    """Compile the input of an ask; None where it cannot be right, with the problems recorded."""
    values = fields.keys(data, _KEYS, required=("prompt", "output_schema"))
    if values is None:
        return None
    before = len(fields.problems)
    prompt = fields.text(values, "prompt")
    schema = _schema(values.get("output_schema"), fields) if "output_schema" in values else None
    when_unanswered = values.get("when_unanswered", "fail")
    if when_unanswered not in ("fail", "default"):
        fields.report("when_unanswered", "invalid_value", "must be `fail` or `default`")
    default = _default(values, when_unanswered, schema, fields)
    if len(fields.problems) > before or prompt is None or schema is None:
        return None
    return AskSpec(prompt=prompt, expect=schema, when_unanswered=when_unanswered, default=default)


def _schema(schema: Any, fields: Fields) -> Mapping[str, Any] | None:
    path = fields.at("output_schema")
    if not isinstance(schema, Mapping):
        fields.report("output_schema", "invalid_type", "must be a JSON Schema object")
        return None
    problems = check_schema(schema, path) or flat_object_problems(schema, path)
    problems = problems or kind_problems(schema, path) + secret_problems(schema, path)
    fields.problems.extend(problems)
    return None if problems else {"type": "object", **schema}


def _default(
    values: Mapping[str, Any], when_unanswered: Any, schema: Mapping[str, Any] | None, fields: Fields
) -> TemplateValue | None:
    given = "default" in values
    if when_unanswered == "default" and not given:
        message = "`when_unanswered: default` needs a `default` to fall back to"
        fields.report("default", "default_missing", message)
    if when_unanswered == "fail" and given:
        message = "a `default` is never used with `when_unanswered: fail`; write `when_unanswered: default`"
        fields.report("default", "default_unused", message)
    if not given:
        return None
    compiled = fields.value(values, "default")
    if compiled is not None and compiled.is_static and schema is not None:
        # A template's type is not knowable until it resolves; without one the default is checked now.
        for where, message in field_errors(schema, values["default"]).items():
            key = "default" if where == "payload" else f"default.{where}"
            fields.report(key, "default_invalid", f"the default does not conform to output_schema: {message}")
    return compiled
