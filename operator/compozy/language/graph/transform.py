"""`transform` in a graph plan: an object made of values, paths and templates."""

import re
from collections.abc import Mapping
from typing import Any

from compozy.language.compiled import Renderable, TextTemplate, TransformSpec
from compozy.language.graph.fields import Fields
from compozy.language.graph.made import Made
from compozy.language.graph.shapes import TEXT, Members, Shape, Written
from compozy.language.keys import type_name

_PATH = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*", re.ASCII)


class Literal:
    """A value that is used as it stands."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def render(self, scope: Mapping[str, Any]) -> Any:  # noqa: ARG002
        """The value."""
        return self.value


class Text:
    """A template that yields text even where it is exactly one path."""

    def __init__(self, template: TextTemplate) -> None:
        self.template = template

    def render(self, scope: Mapping[str, Any]) -> Any:
        """The text in a scope. Raises RenderError."""
        return self.template.render_text(scope)


def compile_transform(values: Mapping[str, Any], fields: Fields) -> Made | None:
    """Compile the params of a transform; None where it cannot be right, with the problems recorded."""
    before = len(fields.problems)
    params = fields.keys(values.get("params"), "params", ("map",), required=("map",))
    entries = params.get("map")
    if not isinstance(entries, Mapping):
        if "map" in params:
            message = f"must be an object of {{from | template | value}}, not {type_name(entries)}"
            fields.report("params.map", "invalid_type", message)
        return None
    compiled: dict[str, Renderable] = {}
    shapes: dict[str, Shape] = {}
    for key, entry in entries.items():
        made = _entry(entry, f"params.map.{key}", fields)
        if made is not None:
            compiled[key], shapes[key] = made
    if len(fields.problems) > before:
        return None
    properties = {key: {} if shape is not TEXT else TEXT.schema for key, shape in shapes.items()}
    schema = {"type": "object", "properties": properties, "required": list(properties)}
    return Made(TransformSpec(compiled), Members(shapes), schema)


def _entry(entry: Any, key: str, fields: Fields) -> tuple[Renderable, Shape] | None:
    values = fields.keys(entry, key, ("from", "template", "value"))
    if len(values) != 1:
        fields.report(key, "transform_entry", "must have exactly one of `from`, `template` and `value`")
        return None
    match values:
        case {"value": value}:
            return Literal(value), Written(value)
        case {"template": template}:
            compiled = fields.text(template, f"{key}.template")
            return None if compiled is None else (Text(compiled), TEXT)
    return _from(values["from"], f"{key}.from", fields)


def _from(source: Any, key: str, fields: Fields) -> tuple[Renderable, Shape] | None:
    if not isinstance(source, str) or not _PATH.fullmatch(source):
        message = "must be a path such as `nodes.choose.output.environment`"
        fields.report(key, "unresolvable_path", message)
        return None
    template = fields.text("{{ ." + source + " }}", key)
    return None if template is None else (template, fields.shape_of(template))
