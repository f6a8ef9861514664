"""Errors of the expression languages.

Every error carries a `code` that machines read, a `message` that says what is wrong and what to do, and,
once a caller knows it, the `path` of the value inside the document. Load-time errors stop a plan from being
accepted; `RenderError` and its children stop a node or a step of a run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

JsonPath = tuple[str | int, ...]
"""Where a value sits in a JSON document: object keys and list positions, outermost first."""

MAX_NAMED_KEYS = 12
"""How many available keys an error names; the rest are counted."""


def format_path(path: JsonPath) -> str:
    """Write a path the way fields are written in Kubernetes errors: `params.routes[0].when`."""
    text = ""
    for segment in path:
        if isinstance(segment, int):
            text += f"[{segment}]"
        else:
            text += f".{segment}" if text else segment
    return text


def name_keys(keys: Sequence[str] | Mapping[str, object]) -> str:
    """List keys for an error message: sorted, at most `MAX_NAMED_KEYS` of them."""
    names = sorted(keys)
    if not names:
        return "none"
    shown = ", ".join(names[:MAX_NAMED_KEYS])
    hidden = len(names) - MAX_NAMED_KEYS
    return f"{shown} and {hidden} more" if hidden > 0 else shown


class LanguageError(Exception):
    """Anything wrong with an expression, or with evaluating one.

    `code` is stable and machine readable, `message` is for people, `path` is the place in the surrounding
    JSON value when it is known.
    """

    default_code: ClassVar[str] = "language_error"

    def __init__(self, message: str, *, code: str | None = None, path: JsonPath | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.code = code or self.default_code
        self.path = path

    def __str__(self) -> str:
        return f"{format_path(self.path)}: {self.message}" if self.path else self.message


class PositionedError(LanguageError):
    """An error at a place in an expression's text.

    `offset` counts characters from 0; `line` and `column` count from 1. The message begins with the place.
    """

    def __init__(self, message: str, text: str, offset: int, *, code: str | None = None) -> None:
        self.offset = min(max(offset, 0), len(text))
        self.line = text.count("\n", 0, self.offset) + 1
        self.column = self.offset - (text.rfind("\n", 0, self.offset) + 1) + 1
        super().__init__(f"line {self.line}, column {self.column}: {message}", code=code)


class TemplateSyntaxError(PositionedError):
    """A template that cannot be read, found when a plan is loaded."""

    default_code = "template_syntax"


class ConditionSyntaxError(PositionedError):
    """A CEL condition that does not parse, names something undeclared, or can never be a boolean."""

    default_code = "condition_invalid"


class GateSyntaxError(LanguageError):
    """A `{value, op, to}` gate of the wrong shape, found when a plan is loaded."""

    default_code = "gate_invalid"


class RenderError(LanguageError):
    """An expression that is well formed but cannot be evaluated over the data of a run."""

    default_code = "render_failed"


class MissingStepError(RenderError):
    """The root of a path is not in scope; the message names the roots that are."""

    default_code = "missing_step"


class BadPathError(RenderError):
    """Data is there, but the path walks off it; the message names the available keys."""

    default_code = "bad_path"


class EmptyDataError(RenderError):
    """The path is plausible but the data ran out: an empty list, an index past the end, a step into null."""

    default_code = "empty_data"


class LoopVariableError(RenderError):
    """`@index`, `@first` or `@last` where no section is looping over a list."""

    default_code = "template_syntax"


class TemplateCallError(RenderError):
    """A template function was given arguments it cannot take."""

    default_code = "template_call"


class LimitError(RenderError):
    """An evaluation would cost more than one expression may."""

    default_code = "template_limit"


class GateError(RenderError):
    """A gate whose operands cannot be compared with its `op`."""

    default_code = "gate_failed"


class ConditionError(RenderError):
    """A condition that failed while it ran, or whose result is not a boolean."""

    default_code = "predicate_evaluation_failed"
