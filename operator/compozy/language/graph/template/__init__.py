"""Templates of the graph dialect: Go's text/template with `missingkey=error`.

All of the language but `define`, `template` and `block`. A string that is exactly one `{{ .a.b.c }}` keeps
the JSON type of the value; anything else is text. One pass only: rendered text is never read as a template
again.

Where we differ from Go: numbers compare and print by value, whether or not they have a fraction; `printf`
fails where Go prints an error into the text; unknown variables, wrong numbers of arguments and arguments of
something that is no function are found when the template is read.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from compozy.language.errors import JsonPath
from compozy.language.graph.lookup import follow
from compozy.language.graph.reference import Reference
from compozy.language.graph.template.evaluator import Evaluator
from compozy.language.graph.template.nodes import Action, Field, Node, Text
from compozy.language.graph.template.parser import ParsedTemplate, parse_nodes
from compozy.language.graph.template.references import find_references, prints_only
from compozy.language.value_tree import ValueTree
from compozy.language.values import Json

__all__ = ["GoTemplate", "GoTemplateValue", "Reference", "compile_value", "parse"]


@dataclass(frozen=True, slots=True)
class GoTemplate:
    """One string, read and ready to render any number of times."""

    source: str
    exact_path: tuple[str, ...] | None
    """The path, when the string is exactly one `{{ .a.b.c }}`."""
    is_static: bool
    """Whether the string holds nothing but text and comments."""
    _parsed: ParsedTemplate
    _references: tuple[Reference, ...]

    def references(self) -> tuple[Reference, ...]:
        """Return every path that is known to be read from the scope, with its place in the string."""
        return self._references

    def paths(self) -> tuple[tuple[str, ...], ...]:
        """Return the paths of `references`, each once."""
        return tuple(dict.fromkeys(reference.path for reference in self._references))

    @property
    def quotes_for_shell(self) -> bool:
        """Whether everything that is printed is a word of a shell, by `shellQuote`, whatever it holds."""
        return prints_only("shellQuote", self._parsed.nodes)

    def render(self, scope: Mapping[str, Json]) -> Json:
        """Return the value, of any JSON type when the string is exactly one path, else text.

        Raises `RenderError`: `bad_path`, `empty_data`, `template_call`, `template_limit`, `value_too_deep`.
        """
        if self.exact_path is not None:
            return follow(scope, self.exact_path)
        return self.render_text(scope)

    def render_text(self, scope: Mapping[str, Json]) -> str:
        """Return the text, whatever the string is; raises `RenderError` as `render` does."""
        return Evaluator(scope, self._parsed.slots).render(self._parsed.nodes)


class GoTemplateValue(ValueTree[GoTemplate]):
    """A JSON value with templates in its strings."""

    __slots__ = ()

    def references(self) -> tuple[tuple[JsonPath, Reference], ...]:
        """Return every path known to be read, with the string in the value that reads it."""
        return tuple((path, reference) for path, template in self.templates for reference in template.references())

    def paths(self) -> tuple[tuple[str, ...], ...]:
        """Return the paths of `references`, each once."""
        return tuple(dict.fromkeys(reference.path for _, reference in self.references()))


def parse(text: str) -> GoTemplate:
    """Read one string; raises `TemplateSyntaxError`."""
    parsed = parse_nodes(text)
    return GoTemplate(
        source=text,
        exact_path=_exact_path(text, parsed.nodes),
        is_static=all(isinstance(node, Text) for node in parsed.nodes),
        _parsed=parsed,
        _references=find_references(parsed.nodes, parsed.assigned),
    )


def compile_value(value: Json) -> GoTemplateValue:
    """Read every string value in a JSON value; raises `TemplateSyntaxError` with `path` set."""
    return GoTemplateValue(value, parse)


def _exact_path(text: str, nodes: tuple[Node, ...]) -> tuple[str, ...] | None:
    one_tag = text.startswith("{{") and text.endswith("}}") and text.count("{{") == 1
    if not one_tag or len(nodes) != 1:
        return None
    node = nodes[0]
    if not isinstance(node, Action) or node.pipeline.calls or node.pipeline.declarations:
        return None
    operand = node.pipeline.first
    return operand.names if isinstance(operand, Field) else None
