"""Reading the control structure of a Go template: text, actions, `if`, `with`, `range` and what ends them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, NoReturn

from compozy.language.graph.template.nodes import Action, Branch, Choice, Field, Jump, Node, Pipeline, Range, Text
from compozy.language.graph.template.pipeline_parser import PipelineParser
from compozy.language.graph.template.tokens import Kind, Token

_ENDS: Final = ("end", "else")
_UNSUPPORTED: Final = {
    "define": "templates cannot be defined here",
    "block": "templates cannot be defined here",
    "template": "other templates cannot be included",
}

_ONE_PATH: Final = re.compile(r"\{\{ ?((?:\.[A-Za-z_][A-Za-z0-9_]*)+) ?\}\}", re.ASCII)
"""The most common template by far, in its usual spelling: read at once."""


@dataclass(frozen=True, slots=True)
class ParsedTemplate:
    """A template as the parser leaves it."""

    nodes: tuple[Node, ...]
    slots: int
    """How many variables there are, `$` included."""
    assigned: frozenset[int]
    """The slots of variables that are set again after their declaration."""


def parse_nodes(text: str) -> ParsedTemplate:
    """Read a template; raises `TemplateSyntaxError`."""
    if "{{" not in text:
        return ParsedTemplate((Text(text),) if text else (), 1, frozenset())
    path = _ONE_PATH.fullmatch(text)
    if path is not None:
        field = Field(tuple(path[1][1:].split(".")), path.start(1))
        return ParsedTemplate((Action(Pipeline(field, (), (), False, field.offset)),), 1, frozenset())
    return read_nodes(text)


def read_nodes(text: str) -> ParsedTemplate:
    """Read a template of any form; raises `TemplateSyntaxError`."""
    parser = _Parser(text)
    nodes = parser.template()
    return ParsedTemplate(nodes, parser.slots, frozenset(parser.assigned))


class _Parser(PipelineParser):
    """Reads one template by recursive descent; nesting is bounded, chains of `else if` are not nesting."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self._ranges = 0
        """How many `range` bodies surround the current position."""

    def template(self) -> tuple[Node, ...]:
        nodes, end = self._list()
        if end is not None:
            self.fail(end.offset, f"{{{{{end.text}}}}} without an if, with or range before it")
        return nodes

    def _list(self) -> tuple[tuple[Node, ...], Token | None]:
        """Read nodes up to `end`, `else` or the end of the template; that keyword is consumed and returned."""
        nodes: list[Node] = []
        scope = self.open_scope()
        end: Token | None = None
        while (token := self.take()).kind is not Kind.END:
            if token.kind is Kind.TEXT:
                nodes.append(Text(token.text))
                continue
            keyword = self.peek_word()
            if keyword.kind is not Kind.KEYWORD:
                nodes.append(Action(self.pipeline("an action", Kind.RIGHT)))
                continue
            self.take()
            if keyword.text in _ENDS:
                end = keyword
                break
            nodes.append(self._control(keyword))
        self.close_scope(scope)
        return tuple(nodes), end

    def _control(self, keyword: Token) -> Node:
        if keyword.text in _UNSUPPORTED:
            self.fail(keyword.offset, f"{keyword.text} is not supported: {_UNSUPPORTED[keyword.text]}")
        if keyword.text in ("break", "continue"):
            if self._ranges == 0:
                self.fail(keyword.offset, f"{keyword.text} outside of a range")
            self._close_action(keyword)
            return Jump(again=keyword.text == "continue")
        with self.nested(keyword.offset):
            return self._range(keyword) if keyword.text == "range" else self._choice(keyword)

    def _choice(self, opening: Token) -> Choice:
        scope = self.open_scope()
        branches: list[Branch] = []
        otherwise: tuple[Node, ...] = ()
        while True:
            condition = self.pipeline(opening.text, Kind.RIGHT)
            body, end = self._list()
            branches.append(Branch(condition, body))
            if self._is_else(end, opening):
                following = self.peek_word()
                if following.kind is Kind.KEYWORD and following.text == opening.text:
                    self.take()
                    continue
                otherwise = self._otherwise(opening)
            break
        self.close_scope(scope)
        return Choice(tuple(branches), otherwise, sets_dot=opening.text == "with")

    def _range(self, opening: Token) -> Range:
        scope = self.open_scope()
        source: Pipeline = self.pipeline("range", Kind.RIGHT)
        self._ranges += 1
        body, end = self._list()
        self._ranges -= 1
        otherwise = self._otherwise(opening) if self._is_else(end, opening) else ()
        self.close_scope(scope)
        return Range(source, body, otherwise)

    def _is_else(self, end: Token | None, opening: Token) -> bool:
        """Tell whether a body ended with `else`; an `end` is closed here."""
        if end is None:
            self._unclosed(opening)
        if end.text == "else":
            return True
        self._close_action(end)
        return False

    def _otherwise(self, opening: Token) -> tuple[Node, ...]:
        self._close_action(opening)
        nodes, end = self._list()
        if end is None:
            self._unclosed(opening)
        if end.text == "else":
            self.fail(end.offset, f"a second else of the same {opening.text}; expected end")
        self._close_action(end)
        return nodes

    def _unclosed(self, opening: Token) -> NoReturn:
        self.fail(opening.offset, f"the {opening.text} is never ended; add {{{{end}}}}")

    def _close_action(self, keyword: Token) -> None:
        token = self.take_word()
        if token.kind is not Kind.RIGHT:
            self.unexpected(token, keyword.text)
