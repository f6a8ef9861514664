"""JSON values whose strings are templates: what both dialects do with the `params` or `input` of a node.

Only string values are templates, never object keys. What holds no template is kept as it is and shared
between all renderings.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Generic, Protocol, TypeAlias, TypeVar

from compozy.language.errors import JsonPath, LanguageError, RenderError
from compozy.language.values import MAX_DEPTH, Json, too_deep


class StringTemplate(Protocol):
    """The template of one string, in either dialect."""

    @property
    def is_static(self) -> bool:
        """Whether the string renders to the same text in every scope."""

    def render(self, scope: Mapping[str, Json], /) -> Json:
        """Return the value; raises `RenderError`."""


T = TypeVar("T", bound=StringTemplate)

_Part: TypeAlias = "_Static | _Leaf[T] | _Items[T] | _Members[T]"


class _Static:
    """A value without templates."""

    __slots__ = ("_value",)

    def __init__(self, value: Json) -> None:
        self._value = value

    def render(self, _scope: Mapping[str, Json]) -> Json:
        return self._value


class _Leaf(Generic[T]):
    """A string that is a template."""

    __slots__ = ("path", "template")

    def __init__(self, template: T, path: JsonPath) -> None:
        self.template = template
        self.path = path

    def render(self, scope: Mapping[str, Json]) -> Json:
        try:
            return self.template.render(scope)
        except RenderError as error:
            error.path = error.path or self.path
            raise


class _Items(Generic[T]):
    """A list with a template somewhere inside."""

    __slots__ = ("_parts",)

    def __init__(self, parts: list[_Part[T]]) -> None:
        self._parts = parts

    def render(self, scope: Mapping[str, Json]) -> Json:
        return [part.render(scope) for part in self._parts]


class _Members(Generic[T]):
    """An object with a template somewhere inside."""

    __slots__ = ("_parts",)

    def __init__(self, parts: dict[str, _Part[T]]) -> None:
        self._parts = parts

    def render(self, scope: Mapping[str, Json]) -> Json:
        return {key: part.render(scope) for key, part in self._parts.items()}


class ValueTree(Generic[T]):
    """A JSON value with every string in it compiled.

    Raises the dialect's `TemplateSyntaxError`, with `path` set to the string that is wrong, and `RenderError`
    with code `value_too_deep` for a value that nests deeper than `MAX_DEPTH`.
    """

    __slots__ = ("_root", "templates")

    templates: tuple[tuple[JsonPath, T], ...]
    """The strings that are not static, each with its place in the value."""

    def __init__(self, value: Json, parse: Callable[[str], T]) -> None:
        found: list[tuple[JsonPath, T]] = []
        self._root = _compile(value, (), parse, found)
        self.templates = tuple(found)

    @property
    def is_static(self) -> bool:
        """Whether the value renders the same in every scope."""
        return not self.templates

    def render(self, scope: Mapping[str, Json]) -> Json:
        """Return the value with every template rendered; raises `RenderError` with `path` set."""
        return self._root.render(scope)

    def __iter__(self) -> Iterator[tuple[JsonPath, T]]:
        return iter(self.templates)


def _compile(value: Json, path: JsonPath, parse: Callable[[str], T], found: list[tuple[JsonPath, T]]) -> _Part[T]:
    if len(path) > MAX_DEPTH:
        raise too_deep()
    before = len(found)
    part: _Part[T]
    if isinstance(value, str):
        part = _compile_string(value, path, parse, found)
    elif isinstance(value, list):
        part = _Items([_compile(item, (*path, index), parse, found) for index, item in enumerate(value)])
    elif isinstance(value, dict):
        part = _Members({key: _compile(item, (*path, key), parse, found) for key, item in value.items()})
    else:
        part = _Static(value)
    return part if len(found) > before else _Static(part.render({}))


def _compile_string(
    text: str, path: JsonPath, parse: Callable[[str], T], found: list[tuple[JsonPath, T]]
) -> _Part[T]:
    try:
        template = parse(text)
    except LanguageError as error:
        error.path = error.path or path
        raise
    if not template.is_static:
        found.append((path, template))
    return _Leaf(template, path)
