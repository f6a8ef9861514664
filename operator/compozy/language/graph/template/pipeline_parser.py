"""Reading the pipelines of a Go template: calls, operands, and the variables they declare.

What Go reports while a template runs is reported here where it can be known: unknown functions and variables,
the number of arguments, arguments of something that is not a function.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Final, NoReturn

from compozy.language.errors import TemplateSyntaxError
from compozy.language.graph.template.functions import FUNCTIONS
from compozy.language.graph.template.lexer import tokenize
from compozy.language.graph.template.nodes import (
    ROOT_SLOT,
    Call,
    Chain,
    Constant,
    Declaration,
    Dot,
    Field,
    Operand,
    Pipeline,
    Variable,
)
from compozy.language.graph.template.tokens import Kind, Token

MAX_NESTING: Final = 40
"""How deep parentheses and control structures together may nest."""

_PARENTHESES: Final = "parentheses"
_STAGE_ENDS: Final = (Kind.PIPE, Kind.RIGHT, Kind.RIGHT_PAREN)


class PipelineParser:
    """The tokens of one template, the variables in scope, and the reading of pipelines."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = list(tokenize(text))
        self._index = 0
        self._nesting = 0
        self._variables: dict[str, list[int]] = {"$": [ROOT_SLOT]}
        self._declared: list[str] = []
        self.slots = 1
        self.assigned: set[int] = set()

    # Tokens ------------------------------------------------------------------------------------------------

    def take(self) -> Token:
        """Return the next token and step over it; the last one, `END`, is never stepped over."""
        token = self._tokens[self._index]
        if token.kind is not Kind.END:
            self._index += 1
        return token

    def peek_word(self) -> Token:
        """Step over spaces and return the next token."""
        while self._tokens[self._index].kind is Kind.SPACE:
            self._index += 1
        return self._tokens[self._index]

    def take_word(self) -> Token:
        """Step over spaces and the next token, and return it."""
        self.peek_word()
        return self.take()

    def fail(self, offset: int, message: str) -> NoReturn:
        """Raise the error for a place in the template."""
        raise TemplateSyntaxError(message, self._text, offset)

    def unexpected(self, token: Token, context: str) -> NoReturn:
        """Raise the error for a token that cannot stand where it does."""
        self.fail(token.offset, f"unexpected {token.text or token.kind.value} in {context}")

    @contextmanager
    def nested(self, offset: int) -> Iterator[None]:
        """Count one level of nesting, which keeps recursion bounded whatever the template says."""
        if self._nesting >= MAX_NESTING:
            self.fail(offset, f"the template nests deeper than {MAX_NESTING} levels; simplify it")
        self._nesting += 1
        yield
        self._nesting -= 1

    # Variables ---------------------------------------------------------------------------------------------

    def open_scope(self) -> int:
        """Begin a scope of variables; `close_scope` takes the result."""
        return len(self._declared)

    def close_scope(self, mark: int) -> None:
        """Forget the variables declared since the scope began."""
        while len(self._declared) > mark:
            self._variables[self._declared.pop()].pop()

    def _declare(self, target: Token) -> Declaration:
        if target.text == "$":
            self.fail(target.offset, "$ is the scope and cannot be declared; give the variable a name")
        slot = self.slots
        self.slots += 1
        self._variables.setdefault(target.text, []).append(slot)
        self._declared.append(target.text)
        return Declaration(target.text, slot)

    def _slot(self, variable: Token) -> int:
        slots = self._variables.get(variable.text)
        if not slots:
            self.fail(variable.offset, f"undefined variable {variable.text}; declare it with :=")
        return slots[-1]

    # Pipelines ---------------------------------------------------------------------------------------------

    def pipeline(self, context: str, end: Kind) -> Pipeline:
        """Read a pipeline up to and including the token that ends it."""
        start = self.peek_word()
        targets, assigns = self._targets(context)
        first = self._stage(context, piped=False)
        calls: list[Call] = []
        while (token := self.take_word()).kind is Kind.PIPE:
            stage = self._stage("the stage after |", piped=True)
            if not isinstance(stage, Call):
                self.fail(stage.offset, "a later stage of a pipeline must be a function")
            calls.append(stage)
        if token.kind is not end:
            return self.unexpected(token, context)
        if assigns:
            declarations = tuple(Declaration(target.text, self._slot(target)) for target in targets)
            self.assigned.update(declaration.slot for declaration in declarations)
        else:
            declarations = tuple(self._declare(target) for target in targets)
        return Pipeline(first, tuple(calls), declarations, assigns, start.offset)

    def _targets(self, context: str) -> tuple[list[Token], bool]:
        """Read `$x :=`, `$x =` or, for a range, `$i, $x :=`, if the pipeline begins so."""
        targets: list[Token] = []
        while self.peek_word().kind is Kind.VARIABLE:
            start = self._index
            variable = self.take()
            operator = self.peek_word()
            if operator.kind in (Kind.DECLARE, Kind.ASSIGN):
                if context == _PARENTHESES:
                    self.fail(
                        variable.offset,
                        "a variable cannot be set inside parentheses; do it in an action of its own",
                    )
                self.take()
                return [*targets, variable], operator.kind is Kind.ASSIGN
            if operator.kind is not Kind.COMMA:
                self._index = start
                break
            if context != "range" or targets:
                self.fail(operator.offset, "only range declares two variables: $index, $element := .list")
            self.take()
            targets.append(variable)
        if targets:
            self.fail(targets[0].offset, "the variables of a range are declared with :=")
        return [], False

    def _stage(self, context: str, *, piped: bool) -> Operand:
        """Read a call or a single operand, up to but not including what ends it."""
        operands: list[Operand] = []
        while (token := self.peek_word()).kind not in _STAGE_ENDS:
            operands.append(self._operand(context))
            following = self._tokens[self._index]
            if following.kind is not Kind.SPACE and following.kind not in _STAGE_ENDS:
                self.unexpected(following, "an operand; separate operands with spaces")
        if not operands:
            self.fail(token.offset, f"{context} has no value")
        first, *arguments = operands
        for argument in arguments:
            self._check_bare(argument)
        if isinstance(first, Call):
            return self._call(first, tuple(arguments), piped=piped)
        if arguments:
            self.fail(first.offset, "this is not a function and cannot take arguments")
        if isinstance(first, Constant) and first.value is None:
            self.fail(first.offset, "nil is not a command")
        return first

    def _call(self, call: Call, arguments: tuple[Operand, ...], *, piped: bool) -> Call:
        function = FUNCTIONS[call.function]
        given = len(arguments) + piped
        if not function.accepts(given):
            self.fail(call.offset, f"{call.function} cannot take {given} arguments; use {function.usage}")
        return Call(call.function, arguments, call.offset)

    def _check_bare(self, operand: Operand) -> None:
        """Check a function named without parentheses where a value stands: it is called without arguments."""
        if isinstance(operand, Call):
            self._call(operand, (), piped=False)

    def _operand(self, context: str) -> Operand:
        """Read a term and the fields that follow it without a space."""
        term = self._term(context)
        names: list[str] = []
        while (token := self._tokens[self._index]).kind is Kind.FIELD:
            if isinstance(term, Constant | Dot):
                self.fail(token.offset, f"unexpected .{token.text}: what stands before it has no fields")
            names.append(self.take().text)
        if isinstance(term, Field | Variable):
            return replace(term, names=(*term.names, *names))
        if not names:
            return term
        self._check_bare(term)
        return Chain(term, tuple(names), term.offset)

    def _term(self, context: str) -> Operand:
        token = self.take()
        offset = token.offset
        match token.kind:
            case Kind.FIELD:
                return Field((token.text,), offset)
            case Kind.VARIABLE:
                return Variable(token.text, self._slot(token), (), offset)
            case Kind.DOT:
                return Dot(offset)
            case Kind.LITERAL:
                return Constant(token.literal, token.text, offset)
            case Kind.NIL:
                return Constant(None, token.text, offset)
            case Kind.FUNCTION:
                if token.text not in FUNCTIONS:
                    available = ", ".join(sorted(FUNCTIONS))
                    self.fail(offset, f"there is no function {token.text}; available: {available}")
                return Call(token.text, (), offset)
            case Kind.LEFT_PAREN:
                with self.nested(offset):
                    return self.pipeline(_PARENTHESES, Kind.RIGHT_PAREN)
        return self.unexpected(token, context)
