"""What both dialects compile to: questions, and calls of tools."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from compozy.language.compiled.protocols import Renderable, TextTemplate


@dataclass(frozen=True, slots=True)
class AskSpec:
    """Put a question to people."""

    kind: ClassVar[str] = "ask"
    prompt: TextTemplate
    expect: Mapping[str, Any]
    """JSON Schema of the answer."""
    context: Renderable | None = None
    decisions: Sequence[str] = ("respond", "decline", "unavailable")
    responders: Mapping[str, Any] = field(default_factory=dict)
    expires_after: float | None = None
    """Seconds from opening to expiry; None where the author says nothing."""
    expires_route: str | None = None
    """The node that an unanswered question leads to."""
    when_unanswered: Literal["fail", "default"] = "fail"
    default: Renderable | None = None
    wraps: bool = True
    """Whether the result is `{answer, answered, reason}` (steps) or the payload itself (graph)."""


@dataclass(frozen=True, slots=True)
class CallSpec:
    """Call a tool by name."""

    tool: str
    input: Renderable

    @property
    def kind(self) -> str:
        """The name of the tool, for messages."""
        return self.tool
