"""Templates of the steps dialect: mustache-like, with typed splice.

`{{E0.values.0.id}}` names a value, `{{#path}}…{{/path}}` repeats or shows its body, `{{^path}}…{{/path}}`
shows it when there is nothing. A string that is exactly one variable tag keeps the JSON type of the value;
anything else is text. One pass only: rendered text is never read as a template again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from compozy.language.errors import JsonPath
from compozy.language.steps.template_nodes import DataPath, Node, Variable
from compozy.language.steps.template_parser import TemplateParser
from compozy.language.steps.template_paths import resolve
from compozy.language.steps.template_renderer import Renderer, to_text
from compozy.language.value_tree import ValueTree
from compozy.language.values import Json


@dataclass(frozen=True, slots=True)
class Template:
    """One string, read and ready to render any number of times."""

    source: str
    _nodes: tuple[Node, ...]
    _roots: frozenset[str]
    _exact: DataPath | None
    """The path, when the string is exactly one variable tag."""
    is_static: bool
    """Whether there is no tag in the string."""

    def roots(self) -> frozenset[str]:
        """Return the names that must be in scope; what a section's elements may hold is not among them."""
        return self._roots

    def render(self, scope: Mapping[str, Json]) -> Json:
        """Return the value, of any JSON type when the string is exactly one variable tag, else text.

        Raises `RenderError`: `missing_step`, `bad_path`, `empty_data`, `template_syntax`, `template_limit`.
        """
        if self._exact is not None:
            return resolve(scope, self._exact)
        return self.render_text(scope)

    def render_text(self, scope: Mapping[str, Json]) -> str:
        """Return the text, whatever the string is; raises `RenderError` as `render` does."""
        if self.is_static:
            return self.source
        if self._exact is not None:
            return to_text(resolve(scope, self._exact))
        return Renderer(scope).render(self._nodes)


class TemplateValue(ValueTree[Template]):
    """A JSON value with templates in its strings."""

    __slots__ = ()

    def roots(self) -> Mapping[str, tuple[JsonPath, ...]]:
        """Return every name that must be in scope with the places in the value that use it."""
        places: dict[str, list[JsonPath]] = {}
        for path, template in self.templates:
            for root in template.roots():
                places.setdefault(root, []).append(path)
        return {root: tuple(paths) for root, paths in places.items()}


def parse(text: str) -> Template:
    """Read one string; raises `TemplateSyntaxError`."""
    parser = TemplateParser(text)
    exact = None
    if len(parser.nodes) == 1 and isinstance(parser.nodes[0], Variable):
        reference = parser.nodes[0].reference
        exact = reference if isinstance(reference, tuple) else None
    return Template(text, parser.nodes, parser.roots, exact, is_static="{{" not in text)


def compile_value(value: Json) -> TemplateValue:
    """Read every string value in a JSON value; raises `TemplateSyntaxError` with `path` set."""
    return TemplateValue(value, parse)
