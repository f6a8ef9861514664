"""`transform` in a graph plan: an object made of values, paths and templates."""

import re
from collections.abc import Mapping
from typing import Any

from compozy.language.compiled import Renderable, TextTemplate, TransformSpec
from compozy.language.graph.fields import Fields
from compozy.language.keys import read_keys

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


def compile_transform(values: Mapping[str, Any], fields: Fields) -> TransformSpec | None:
    """Compile the params of a transform; None where it cannot be right, with the problems recorded."""
    before = len(fields.problems)
    path = f"{fields.path}.params"
    params = read_keys(values.get("params"), path, ("map",), fields.problems, required=("map",))
    entries = params.get("map")
    if not isinstance(entries, Mapping):
        if entries is not None:
            fields.report("params.map", "invalid_type", "must be an object of {from | template | value}")
        return None
    compiled = {key: _entry(entry, f"params.map.{key}", fields) for key, entry in entries.items()}
    if len(fields.problems) > before:
        return None
    return TransformSpec({key: entry for key, entry in compiled.items() if entry is not None})


def _entry(entry: Any, key: str, fields: Fields) -> Renderable | None:
    known = ("from", "template", "value")
    values = read_keys(entry, f"{fields.path}.{key}", known, fields.problems)
    if len(values) != 1:
        fields.report(key, "transform_entry", "must have exactly one of `from`, `template` and `value`")
        return None
    match values:
        case {"value": value}:
            return Literal(value)
        case {"template": template}:
            compiled = fields.text(template, f"{key}.template")
            return None if compiled is None else Text(compiled)
        case {"from": source}:
            return _from(source, f"{key}.from", fields)
    return None


def _from(source: Any, key: str, fields: Fields) -> Renderable | None:
    if not isinstance(source, str) or not _PATH.fullmatch(source):
        fields.report(key, "unresolvable_path", "must be a path such as `nodes.choose.output.environment`")
        return None
    return fields.text("{{ ." + source + " }}", key)
