"""Reading a steps template: text, `{{variables}}`, `{{#sections}}` and `{{^inverted sections}}`.

The language only moves data: comments, partials, blocks and parents are refused when the plan is loaded.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NoReturn

from compozy.language.errors import TemplateSyntaxError
from compozy.language.steps.template_nodes import (
    DataPath,
    Length,
    LoopVariable,
    Node,
    Reference,
    Section,
    Segment,
    Text,
    Variable,
)

MAX_SECTION_DEPTH = 32
"""How deep sections may nest."""

MAX_INDEX_DIGITS = 9
"""How long a list position may be written."""

_UNSUPPORTED = {
    "!": "comments",
    ">": "partials",
    "<": "parents",
    "$": "blocks",
    "&": "unescaped tags",
    "=": "delimiters",
}
_LOOP_VARIABLES = {variable.value: variable for variable in LoopVariable}


@dataclass(slots=True)
class _Frame:
    """A section whose end has not been read yet; the outermost frame is the template itself."""

    name: str = ""
    offset: int = 0
    reference: Reference = ()
    inverted: bool = False
    loops: bool = False
    """Whether this or an enclosing section may put an element in scope."""
    body: list[Node] = field(default_factory=list)


class TemplateParser:
    """Reads one template; `nodes` and `roots` hold the result."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._frames = [_Frame()]
        self._roots: set[str] = set()
        self._read()
        self.nodes: tuple[Node, ...] = tuple(self._frames[0].body)
        self.roots = frozenset(self._roots)
        """Names that must be in scope. A single key inside a section is not one: the element may hold it."""

    def _read(self) -> None:
        position = 0
        while (start := self._text.find("{{", position)) >= 0:
            self._append_text(position, start)
            end = self._text.find("}}", start + 2)
            if end < 0:
                self._fail(start, "the tag is never closed; end it with }}")
            self._read_tag(self._text[start + 2 : end].strip(), start)
            position = end + 2
        self._append_text(position, len(self._text))
        if len(self._frames) > 1:
            frame = self._frames[-1]
            self._fail(frame.offset, f"the section is never closed; end it with {{{{/{frame.name}}}}}")

    def _append_text(self, start: int, end: int) -> None:
        if end > start:
            self._frames[-1].body.append(Text(self._text[start:end]))

    def _read_tag(self, tag: str, offset: int) -> None:
        if not tag:
            self._fail(offset, "the tag is empty; name a value in it")
        if tag[0] in "#^":
            self._open(tag[1:].strip(), offset, inverted=tag[0] == "^")
        elif tag[0] == "/":
            self._close(tag[1:].strip(), offset)
        elif tag[0] in _UNSUPPORTED:
            self._fail(offset, f"{_UNSUPPORTED[tag[0]]} are not part of this language; remove {{{{{tag}}}}}")
        else:
            self._frames[-1].body.append(Variable(self._reference(tag, offset)))

    def _open(self, name: str, offset: int, *, inverted: bool) -> None:
        if len(self._frames) > MAX_SECTION_DEPTH:
            self._fail(offset, f"sections nest deeper than {MAX_SECTION_DEPTH}")
        reference = self._reference(name, offset)
        loops = self._frames[-1].loops or not inverted
        self._frames.append(_Frame(name, offset, reference, inverted, loops))

    def _close(self, name: str, offset: int) -> None:
        if len(self._frames) == 1:
            self._fail(offset, f"{{{{/{name}}}}} closes a section that was never opened")
        frame = self._frames.pop()
        if frame.name != name:
            self._fail(offset, f"{{{{/{name}}}}} closes the section opened as {frame.name}; close that one first")
        self._frames[-1].body.append(Section(frame.reference, frame.inverted, tuple(frame.body)))

    def _reference(self, name: str, offset: int) -> Reference:
        in_section = self._frames[-1].loops
        variable = _LOOP_VARIABLES.get(name)
        if variable is not None:
            if not in_section:
                self._fail(offset, f"{name} has a value only inside a section over a list")
            return variable
        path = self._path(name, offset)
        root = path[0]
        if not isinstance(root, str):
            if not in_section:
                self._fail(offset, f"the path {name} must begin with a name")
        elif len(path) > 1 or not in_section:
            self._roots.add(root)
        return path

    def _path(self, name: str, offset: int) -> DataPath:
        segments = tuple(self._segment(part, name, offset) for part in name.split("."))
        if Length.LENGTH in segments[:-1]:
            self._fail(offset, f"length must be the last segment of the path {name}")
        return segments

    def _segment(self, part: str, name: str, offset: int) -> Segment:
        if not part:
            self._fail(offset, f"the path {name or '(empty)'} has an empty segment; remove the stray dot")
        if part == Length.LENGTH.value:
            return Length.LENGTH
        if part.isascii() and part.isdigit():
            if len(part) > MAX_INDEX_DIGITS:
                self._fail(offset, f"the index {part[:MAX_INDEX_DIGITS]}… is too large")
            return int(part)
        if part[0] == "@":
            self._fail(offset, f"{part} cannot be part of a path")
        return part

    def _fail(self, offset: int, message: str) -> NoReturn:
        raise TemplateSyntaxError(message, self._text, offset)
